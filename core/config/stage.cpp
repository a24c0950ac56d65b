#include "core/config/stage.h"

#include <cassert>

#include <nlohmann/json.hpp>

#include "core/config/bucket_table.h"
#include "core/config/document.h"
#include "core/config/overrides.h"
#include "core/config/walk.h"

namespace stagewright::config {

namespace {

Stage stageOf(LoadedConfig loaded, const std::filesystem::path &file)
{
    Stage stage;
    stage.m_values = std::move(loaded.values);
    stage.m_file = file;
    stage.m_baseChain = std::move(loaded.baseChain);
    stage.m_problems = std::move(loaded.problems);
    stage.m_helperNames = std::move(loaded.helperNames);
    normaliseBuckets(stage.m_values);
    return stage;
}

Result<Stage> withOverrides(Result<LoadedConfig> loaded, const std::filesystem::path &file, const std::vector<Override> &overrides)
{
    if (!loaded)
        return loaded.error();
    Stage stage = stageOf(std::move(*loaded), file);
    const Problems found = applyOverrides(stage, overrides);
    stage.m_problems.insert(stage.m_problems.end(), found.begin(), found.end());
    return stage;
}

nlohmann::json toJson(const Origin &origin)
{
    nlohmann::json json{{"kind", originKindName(origin.kind)}};
    if (origin.file)
        json["file"] = *origin.file;
    if (origin.line > 0)
        json["line"] = origin.line;
    return json;
}

} // namespace

const Value &defaultOf(const Stage &stage, const Option &option)
{
    for (const VariantDefault &variant : option.variants) {
        const Value &selector = stage.at(variant.path);
        if (selector.type() == Type::String && selector.string() == variant.value)
            return variant.fallback;
    }
    return option.fallback;
}

const Value &Stage::at(std::string_view path) const
{
    const Option *option = findOption(path);
    assert(option && "an option that nobody declared was asked for");
    if (const Value *value = lookUp(m_values, path))
        return *value;
    static const Value none;
    return option ? defaultOf(*this, *option) : none;
}

bool Stage::isSet(std::string_view path) const
{
    const Value *value = lookUp(m_values, path);
    return value && !value->isNone();
}

Result<Stage> loadStage(const std::filesystem::path &file, const std::vector<Override> &overrides)
{
    return withOverrides(loadDocument(file), file, overrides);
}

Result<Stage> stageFromText(const std::string &text, const std::filesystem::path &file, const std::vector<Override> &overrides)
{
    return withOverrides(loadDocumentText(text, file), file, overrides);
}

Result<Stage> stageFromYaml(const std::string &yaml, const std::filesystem::path &file)
{
    return withOverrides(loadDocumentText(yaml, file, Format::Yaml), file, {});
}

nlohmann::json originsJson(const Stage &stage)
{
    nlohmann::json origins = nlohmann::json::object();
    for (const Option &option : allOptions())
        origins[std::string(option.path)] = toJson(Origin());
    forEachLeaf(stage.values(), [&](const std::string &path, const Value &value) { origins[path] = toJson(value.origin); });
    for (const Option &option : allOptions()) {        // a section counts as set where the file writes it
        if (const Value *value = lookUp(stage.values(), option.path))
            origins[std::string(option.path)] = toJson(value->origin);
    }
    return origins;
}

} // namespace stagewright::config
