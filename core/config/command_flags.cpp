#include "core/config/command_flags.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/paths.h"
#include "core/config/document.h"

namespace stagewright::config {

std::string FlagReader::nextFlag()
{
    std::string token = next();
    const auto equals = token.find('=');
    m_hasInline = equals != std::string::npos;
    m_inline = m_hasInline ? token.substr(equals + 1) : std::string();
    m_typed = token.substr(0, equals);
    std::string name = m_typed.substr(m_typed.find_first_not_of('-') == std::string::npos ? m_typed.size() : m_typed.find_first_not_of('-'));
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

std::string FlagReader::value()
{
    if (m_hasInline) {
        m_hasInline = false;
        return m_inline;
    }
    return hasValue() ? next() : std::string();
}

void CommandSink::set(const std::string &flag, const std::string &path, const std::string &text, const std::string &remark)
{
    alsoSet(path, text);
    note(flag, path + " = " + text + (remark.empty() ? "" : " (" + remark + ")"), true);
}

void CommandSink::alsoSet(const std::string &path, const std::string &text)
{
    auto &overrides = m_result.overrides;
    std::erase_if(overrides, [&](const Override &override) { return override.path == path; });
    overrides.push_back({path, text, OriginKind::Override});
}

bool CommandSink::has(const std::string &path) const
{
    return std::any_of(m_result.overrides.begin(), m_result.overrides.end(), [&](const Override &override) { return override.path == path; });
}

Result<nlohmann::json> readConfigFile(const std::string &path, const std::filesystem::path &folder)
{
    const std::filesystem::path file = expandUser(path).is_absolute() ? expandUser(path) : folder / expandUser(path);
    constexpr std::int64_t kLargest = 1 << 20;
    const auto text = readFile(file, kLargest);
    if (!text)
        return text.error();
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (!json.is_discarded())
        return json;
    const auto yaml = loadDocumentText(*text, file, Format::Yaml);
    if (!yaml)
        return yaml.error();
    return toJson(Value::dict(yaml->values));
}

} // namespace stagewright::config
