// JSON text, appended to a string: a step is written a million times in a run, and a tree of values for each would cost more than the rest.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace stagewright::events {

class JsonOut
{
public:
    explicit JsonOut(std::string &out) : m_out(out) {}

    void open(char bracket) { m_out += bracket; m_first = true; }
    void close(char bracket) { m_out += bracket; m_first = false; }
    void separate() { if (!m_first) m_out += ','; m_first = false; }
    // Names are ours and plain ASCII: nothing to escape.
    void name(std::string_view name) { separate(); m_out += '"'; m_out += name; m_out += "\":"; }

    void null() { m_out += "null"; }
    void boolean(bool value) { m_out += value ? "true" : "false"; }
    void integer(std::int64_t value) { chars(value); }
    void unsignedInteger(std::uint64_t value) { chars(value); }
    void number(double value)                   // the shortest text that reads back to the same double; JSON has no NaN and no infinity
    {
        if (std::isfinite(value))
            chars(value);
        else
            null();
    }
    void text(std::string_view value);          // bytes that are not UTF-8 become U+FFFD: one bad file name must not spoil the line

private:
    void chars(auto value)
    {
        char buffer[32];
        m_out.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    }

    std::string &m_out;
    bool m_first = true;
};

} // namespace stagewright::events
