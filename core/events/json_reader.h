// Reads any struct that declares its fields once with fields(struct, visit) from a JSON object. Everything is checked: the text may come from a newer
// program, a torn disk or somebody's editor. Absent and unknown fields are no fault.
#pragma once

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/events/field_concepts.h"

namespace stagewright::events {

// Reads the fields of one object. The first thing that is wrong is kept and the rest left as it is.
class FieldReader
{
public:
    explicit FieldReader(const nlohmann::json &object) : m_object(&object) {}
    const std::string &wrong() const { return m_wrong; }

    template <class T>
    void operator()(const char *name, T &value)
    {
        if (!m_wrong.empty())
            return;
        const auto found = m_object->find(name);
        if (found != m_object->end() && !read(*found, value))
            m_wrong = std::string("\"") + name + "\" is not " + m_wanted;
    }

private:
    bool expect(bool right, const char *wanted)
    {
        if (!right)
            m_wanted = wanted;
        return right;
    }

    bool read(const nlohmann::json &from, bool &to)
    {
        if (!expect(from.is_boolean(), "true or false"))
            return false;
        to = from.get<bool>();
        return true;
    }
    bool read(const nlohmann::json &from, std::int64_t &to)
    {
        const bool tooLarge = from.is_number_unsigned() && from.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
        if (!expect(from.is_number_integer() && !tooLarge, "a whole number"))
            return false;
        to = from.get<std::int64_t>();
        return true;
    }
    bool read(const nlohmann::json &from, std::uint64_t &to)
    {
        if (!expect(from.is_number_unsigned(), "a whole number from 0 on"))
            return false;
        to = from.get<std::uint64_t>();
        return true;
    }
    bool read(const nlohmann::json &from, int &to)
    {
        std::int64_t wide = 0;
        if (!read(from, wide) || !expect(wide >= std::numeric_limits<int>::min() && wide <= std::numeric_limits<int>::max(), "a whole number"))
            return false;
        to = static_cast<int>(wide);
        return true;
    }
    bool read(const nlohmann::json &from, double &to)
    {
        if (!expect(from.is_number() || from.is_null(), "a number or null"))
            return false;
        to = from.is_null() ? std::numeric_limits<double>::quiet_NaN() : from.get<double>();
        return true;
    }
    bool read(const nlohmann::json &from, std::string &to)
    {
        if (!expect(from.is_string(), "a text"))
            return false;
        to = from.get_ref<const std::string &>();
        return true;
    }
    bool read(const nlohmann::json &from, Severity &to)
    {
        for (const Severity severity : {Severity::Error, Severity::Warning, Severity::Hint}) {
            if (from == severityName(severity)) {
                to = severity;
                return true;
            }
        }
        return expect(false, "error, warning or hint");
    }
    template <class T>
    bool read(const nlohmann::json &from, std::optional<T> &to)
    {
        if (from.is_null()) {
            to.reset();
            return true;
        }
        return read(from, to.emplace());
    }
    template <Nested T>
    bool read(const nlohmann::json &from, T &to)
    {
        if (!expect(from.is_object(), "an object"))
            return false;
        FieldReader inner(from);
        fields(to, inner);
        if (inner.m_wrong.empty())
            return true;
        m_inner = "an object as it should be (" + inner.m_wrong + ")";
        return expect(false, m_inner.c_str());
    }
    template <class T>
    bool read(const nlohmann::json &from, std::vector<T> &to)
    {
        if (!expect(from.is_array(), "a list"))
            return false;
        to.resize(from.size());
        for (std::size_t at = 0; at < to.size(); ++at) {
            if (!read(from[at], to[at]))
                return false;
        }
        return true;
    }

    // Names that this program does not know are a newer program's.
    template <class T, std::size_t N>
    bool readNamed(const nlohmann::json &from, std::array<T, N> &to, const std::array<std::string_view, N> &names)
    {
        if (!expect(from.is_object(), "an object"))
            return false;
        for (std::size_t at = 0; at < N; ++at) {
            const auto found = from.find(std::string(names[at]));
            if (found != from.end() && !read(*found, to[at]))
                return false;
        }
        return true;
    }
    bool read(const nlohmann::json &from, KindBytes &to) { return readNamed(from, to, kMemoryKindNames); }
    bool read(const nlohmann::json &from, HostBytes &to) { return readNamed(from, to, kHostKindNames); }
    bool read(const nlohmann::json &from, std::array<double, kPhaseNames.size()> &to) { return readNamed(from, to, kPhaseNames); }

    bool read(const nlohmann::json &from, std::vector<KindBytes> &to)
    {
        if (!expect(from.is_object(), "an object"))
            return false;
        for (std::size_t kind = 0; kind < kMemoryKindNames.size(); ++kind) {
            const auto found = from.find(std::string(kMemoryKindNames[kind]));
            std::vector<std::int64_t> column;
            if (found == from.end())
                continue;
            if (!read(*found, column))
                return false;
            to.resize(std::max(to.size(), column.size()));
            for (std::size_t at = 0; at < column.size(); ++at)
                to[at][kind] = column[at];
        }
        return true;
    }

    const nlohmann::json *m_object;
    std::string m_wrong;
    std::string m_inner;
    const char *m_wanted = "";
};

// Nothing where all is well, else what is wrong: "\"pid\" is not a whole number".
template <Nested T>
std::optional<std::string> fromJsonObject(std::string_view text, T &value)
{
    const nlohmann::json object = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
    if (!object.is_object())
        return object.is_discarded() ? "it is not JSON" : "it is not a JSON object";
    FieldReader read(object);
    fields(value, read);
    if (read.wrong().empty())
        return std::nullopt;
    return read.wrong();
}

} // namespace stagewright::events
