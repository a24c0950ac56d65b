// Where rules report: each finding gets the place of the value that it is about.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/config/stage.h"

namespace stagewright::config {

class Findings
{
public:
    explicit Findings(const Stage &stage) : m_stage(stage) {}

    Problem &error(const char *code, const std::string &path, std::string message) { return add(Severity::Error, code, path, std::move(message)); }
    Problem &warning(const char *code, const std::string &path, std::string message) { return add(Severity::Warning, code, path, std::move(message)); }
    Problem &hint(const char *code, const std::string &path, std::string message) { return add(Severity::Hint, code, path, std::move(message)); }
    // The same at the place of a value that is known.
    Problem &at(const Value &value, Severity severity, const char *code, const std::string &path, std::string message);

    // A rule that can find something in every one of ten thousand rows stops after this many and says how many more there are.
    static constexpr int kMostOfOneKind = 40;
    Problems finish();
    bool has(std::string_view code, std::string_view path) const;

private:
    Problem &add(Severity severity, const char *code, const std::string &path, std::string message);

    const Stage &m_stage;
    Problems m_problems;
    Problem m_dropped;                     // what a reference to a problem beyond the limit refers to
    std::map<std::string, int> m_counts;
};

// A fix of one value: `to` as Python spells it; nothing removes the key.
Fix setTo(const Stage &stage, std::string title, const std::string &path, const Value &to);
Fix removeOf(const Stage &stage, std::string title, const std::string &path);

// Values for rules: nothing where the value is absent, None, of another type or outside the option's hard range (which another rule
// reports). The hard ranges are what keeps the arithmetic of rules within 63 bits.
class Facts
{
public:
    explicit Facts(const Stage &stage) : m_stage(stage) {}
    std::optional<std::int64_t> integer(std::string_view path) const;
    std::optional<double> number(std::string_view path) const;
    std::optional<bool> boolean(std::string_view path) const;
    std::optional<std::string> string(std::string_view path) const;
    bool isOn(std::string_view path) const { return boolean(path).value_or(false); }
    bool is(std::string_view path, std::string_view text) const;
    const Dict *dict(std::string_view path) const;         // what is set there, null where that is no dict

private:
    const Stage &m_stage;
};

} // namespace stagewright::config
