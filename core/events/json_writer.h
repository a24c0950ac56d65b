// Writes any struct that declares its fields once with fields(struct, visit) as a JSON object. Records, leases, run.json and messages use it.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/events/field_concepts.h"
#include "core/events/json_out.h"

namespace stagewright::events {

class FieldWriter
{
public:
    explicit FieldWriter(JsonOut &json) : m_json(json) {}

    template <class T>
    void operator()(const char *name, const T &value)
    {
        if (isLeftOut(value))
            return;
        m_json.name(name);
        write(value);
    }

private:
    template <class T>
    static bool isLeftOut(const T &) { return false; }
    template <class T>
    static bool isLeftOut(const std::optional<T> &value) { return !value; }

    void write(bool value) { m_json.boolean(value); }
    void write(int value) { m_json.integer(value); }
    void write(std::int64_t value) { m_json.integer(value); }
    void write(std::uint64_t value) { m_json.unsignedInteger(value); }
    void write(double value) { m_json.number(value); }
    void write(const std::string &value) { m_json.text(value); }
    void write(Severity value) { m_json.text(severityName(value)); }
    template <class T>
    void write(const std::optional<T> &value) { write(*value); }

    template <Nested T>
    void write(const T &value)
    {
        m_json.open('{');
        fields(value, *this);
        m_json.close('}');
    }

    template <class T>
    void write(const std::vector<T> &values)
    {
        m_json.open('[');
        for (const T &value : values) {
            m_json.separate();
            write(value);
        }
        m_json.close(']');
    }

    // By name, zeros left out.
    template <class T, std::size_t N>
    void writeNamed(const std::array<T, N> &values, const std::array<std::string_view, N> &names)
    {
        m_json.open('{');
        for (std::size_t at = 0; at < N; ++at) {
            if (values[at] != 0)
                (*this)(names[at].data(), values[at]);
        }
        m_json.close('}');
    }
    void write(const KindBytes &values) { writeNamed(values, kMemoryKindNames); }
    void write(const HostBytes &values) { writeNamed(values, kHostKindNames); }
    void write(const std::array<double, kPhaseNames.size()> &values) { writeNamed(values, kPhaseNames); }

    // A column for each kind that ever holds a byte.
    void write(const std::vector<KindBytes> &rows)
    {
        m_json.open('{');
        for (std::size_t kind = 0; kind < kMemoryKindNames.size(); ++kind) {
            const auto holds = [kind](const KindBytes &row) { return row[kind] != 0; };
            if (std::find_if(rows.begin(), rows.end(), holds) == rows.end())
                continue;
            m_json.name(kMemoryKindNames[kind]);
            m_json.open('[');
            for (const KindBytes &row : rows) {
                m_json.separate();
                m_json.integer(row[kind]);
            }
            m_json.close(']');
        }
        m_json.close('}');
    }

    JsonOut &m_json;
};

// The fields of value as one JSON object, on one line.
template <Nested T>
std::string toJsonObject(const T &value)
{
    std::string text;
    JsonOut json(text);
    FieldWriter write(json);
    json.open('{');
    fields(value, write);
    json.close('}');
    return text;
}

} // namespace stagewright::events
