#include "core/runlog/config_files.h"

#include <cinttypes>
#include <cstdio>

#include <nlohmann/json.hpp>
#include <xxhash.h>

#include "core/base/paths.h"

namespace stagewright::runlog {

namespace {

// As Python's json.dump does it: keys in their order, integer keys as text, tuples as lists.
nlohmann::ordered_json asTheOriginal(const config::Value &value)
{
    if (value.isDict()) {
        auto object = nlohmann::ordered_json::object();
        for (const auto &[key, item] : value.dict())
            object[key.text()] = asTheOriginal(item);
        return object;
    }
    if (value.isSequence()) {
        auto array = nlohmann::ordered_json::array();
        for (const config::Value &item : value.items())
            array.push_back(asTheOriginal(item));
        return array;
    }
    return config::toJson(value);
}

} // namespace

ConfigFiles configFilesOf(const config::Stage &stage)
{
    ConfigFiles files;
    files.yaml = config::toYaml(stage.values());
    files.originsJson = config::originsJson(stage).dump(2) + "\n";
    files.originalText = asTheOriginal(config::Value::dict(stage.values())).dump(4, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
    return files;
}

std::string configHash(const std::string &yaml)
{
    char text[17];
    std::snprintf(text, sizeof text, "%016" PRIx64, static_cast<std::uint64_t>(XXH3_64bits(yaml.data(), yaml.size())));
    return text;
}

Result<std::filesystem::path> createRunFolderFor(const config::Stage &stage, double wallSeconds)
{
    const std::string name = stage.isSet("exp_name") ? stage.string("exp_name")
                                                     : defaultRunName(stage.file().empty() ? "stage" : stage.file(), wallSeconds);
    return createRunFolder(expandUser(stage.string("outputs")), name);
}

} // namespace stagewright::runlog
