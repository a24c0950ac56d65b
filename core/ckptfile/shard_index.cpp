#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/ckptfile/stored_tensor.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

namespace {

Error badIndex(const fs::path &file, const std::string &what)
{
    return Error(ExitCode::Checkpoint, "checkpoint.bad-index", file.string() + ": " + what, file.string());
}

} // namespace

Result<ShardIndex> readShardIndex(const fs::path &folder)
{
    std::vector<fs::path> found;
    std::error_code failed;
    for (auto entry = fs::directory_iterator(folder, failed); !failed && entry != fs::directory_iterator(); entry.increment(failed)) {
        if (globMatches("*.index.*json", entry->path().filename().string()))
            found.push_back(entry->path());
    }
    if (failed)
        return ioError("read the folder", folder, failed.value());
    std::sort(found.begin(), found.end());
    if (found.empty())
        return Error(ExitCode::Checkpoint, "checkpoint.missing-index", folder.string() + " has no index file (*.index.json); its shards cannot be put together", folder.string());
    if (found.size() > 1)
        return Error(ExitCode::Checkpoint, "checkpoint.two-indexes", folder.string() + " has two index files, " + found[0].filename().string() + " and "
                         + found[1].filename().string() + ": a synchronous and an asynchronous save were mixed; move one of them and its shards away", folder.string());
    ShardIndex index;
    index.file = found[0];
    auto text = readFile(index.file, 256 << 20);
    if (!text)
        return text.error();
    const auto json = nlohmann::ordered_json::parse(*text, nullptr, false);
    if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
        return badIndex(index.file, json.is_discarded() ? "this is not valid JSON; it was cut short or edited" : "it has no \"weight_map\"");
    std::set<std::string> shards;
    for (const auto &[name, shard] : json["weight_map"].items()) {
        if (!shard.is_string())
            return badIndex(index.file, "the entry of \"" + name + "\" is not the name of a file");
        const std::string file = shard.get<std::string>();
        if (file.empty() || file.find('/') != std::string::npos || file == "." || file == "..")
            return badIndex(index.file, "the entry of \"" + name + "\" is \"" + file + "\", which is not a file of this folder");
        index.weightMap.emplace_back(name, file);
        if (shards.insert(file).second)
            index.shards.push_back(file);
    }
    if (const auto metadata = json.find("metadata"); metadata != json.end() && metadata->is_object()) {
        if (metadata->contains("param_groups") && (*metadata)["param_groups"].is_string())
            index.paramGroups = (*metadata)["param_groups"].get<std::string>();
        if (metadata->contains("total_size") && (*metadata)["total_size"].is_number())
            index.totalMebibytes = (*metadata)["total_size"].get<double>();
    }
    if (index.paramGroups.find('/') != std::string::npos)
        return badIndex(index.file, "\"param_groups\" is \"" + index.paramGroups + "\", which is not a file of this folder");
    return index;
}

} // namespace stagewright::ckptfile
