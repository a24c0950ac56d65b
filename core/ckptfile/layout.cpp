#include "core/ckptfile/layout.h"

#include <charconv>
#include <cstdio>

#include "core/ckptfile/python_text.h"

namespace stagewright::ckptfile {

std::string checkpointFolderName(std::int64_t epoch, std::int64_t step)
{
    return "epoch" + std::to_string(epoch) + "-global_step" + std::to_string(step);
}

namespace {

// Digits at the front, without sign; moves past them.
std::optional<std::int64_t> takeNumber(std::string_view &text)
{
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || text.empty() || text.front() == '-')
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()));
    return value;
}

} // namespace

std::optional<CheckpointName> parseCheckpointFolderName(std::string_view name)
{
    constexpr std::string_view epochWord = "epoch", stepWord = "-global_step";
    if (!name.starts_with(epochWord))
        return std::nullopt;
    name.remove_prefix(epochWord.size());
    const auto epoch = takeNumber(name);
    if (!epoch || !name.starts_with(stepWord))
        return std::nullopt;
    name.remove_prefix(stepWord.size());
    const auto step = takeNumber(name);
    if (!step || !name.empty())
        return std::nullopt;
    return CheckpointName{*epoch, *step};
}

std::string shardName(std::string_view stem, std::size_t number)
{
    char digits[24];
    std::snprintf(digits, sizeof digits, "-%05zu", number);
    return std::string(stem) + digits + ".safetensors";
}

double mebibytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1024 / 1024; }

std::vector<std::size_t> cutShards(const std::vector<std::int64_t> &bytes, double limitMebibytes)
{
    std::vector<std::size_t> shards;
    shards.reserve(bytes.size());
    std::size_t shard = 0;
    double current = 0;
    for (const std::int64_t size : bytes) {
        if (current + mebibytes(size) > limitMebibytes && current > 0) {
            ++shard;
            current = 0;
        }
        current += mebibytes(size);
        shards.push_back(shard);
    }
    return shards;
}

std::string indexJson(const std::vector<std::pair<std::string, std::string>> &weightMap, double totalMebibytes, std::string_view paramGroups)
{
    std::string json = "{\n  \"metadata\": {\n";
    if (!paramGroups.empty())
        json += "    \"param_groups\": " + pythonJsonString(paramGroups) + ",\n";
    json += "    \"total_size\": " + pythonFloat(totalMebibytes) + "\n  },\n  \"weight_map\": {";
    const char *separator = "\n";
    for (const auto &[name, file] : weightMap) {
        json += separator + ("    " + pythonJsonString(name)) + ": " + pythonJsonString(file);
        separator = ",\n";
    }
    return json + (weightMap.empty() ? "}\n}\n" : "\n  }\n}\n");
}

} // namespace stagewright::ckptfile
