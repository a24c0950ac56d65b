// Names and cuts of the folder that Open-Sora 2.0 writes (asynchronous form), and where ours lies beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/saved_config.h"

namespace stagewright::ckptfile {

inline constexpr double kShardMebibytes = 4096;                  // the original's size_per_shard
inline constexpr std::string_view kTemporaryPrefix = ".tmp-";
inline constexpr std::string_view kOwnFolder = "stagewright";    // ours, inside the checkpoint
inline constexpr std::string_view kManifestFile = "stagewright/manifest.json";
inline constexpr std::string_view kVerifiedFile = "stagewright/verified.json";
inline constexpr std::string_view kStateFile = "stagewright/state.json";
inline constexpr std::string_view kExtraTensorsFile = "stagewright/state.safetensors";
inline constexpr std::string_view kConfigFile = config::kSavedConfigFile;
inline constexpr std::string_view kRunningStatesFile = "running_states.json";
inline constexpr std::string_view kEmaFile = "ema.safetensors";
inline constexpr std::string_view kMasterFile = "master.safetensors";
inline constexpr std::string_view kSchedulerFile = "lr_scheduler";
inline constexpr std::string_view kSamplerFile = "sampler";
inline constexpr std::string_view kModelFolder = "model";
inline constexpr std::string_view kOptimizerFolder = "optimizer";
inline constexpr std::string_view kEvalFolder = "eval";          // results of an evaluation, by others: never removed
inline constexpr std::string_view kLoraFolder = "lora";
inline constexpr std::string_view kFlatEmaFile = "ema.pt";
inline constexpr std::string_view kWriterLogFile = "async_file_io.log";   // the original's writer: a line for each file that is finished
inline constexpr std::string_view kModelIndex = "model.safetensors.index.json";
inline constexpr std::string_view kOptimizerIndex = "optimizer.safetensors.index.json";
inline constexpr std::string_view kGroupFile = "pytorch_optim_group.bin";

struct CheckpointName { std::int64_t epoch = 0, step = 0; };
std::string checkpointFolderName(std::int64_t epoch, std::int64_t step);                 // epoch{E}-global_step{S}
std::optional<CheckpointName> parseCheckpointFolderName(std::string_view name);          // the whole name, nothing before or after
std::string shardName(std::string_view stem, std::size_t number);                        // "model", 1 -> model-00001.safetensors; the first is 1

// Walks sizes in order and starts a new shard where current + next > limit and the current one is not empty (floating MiB, as the
// original adds them). Returns for each item its shard, from 0.
std::vector<std::size_t> cutShards(const std::vector<std::int64_t> &bytes, double limitMebibytes);
double mebibytes(std::int64_t bytes);                                                    // numel * itemsize / 1024 / 1024

// {"metadata": {…, "total_size": MiB}, "weight_map": {…}} with indent 2 and a newline at the end; byte for byte the original's.
// paramGroups: file named in the metadata of an optimizer's index; empty for a model's.
std::string indexJson(const std::vector<std::pair<std::string, std::string>> &weightMap, double totalMebibytes, std::string_view paramGroups = {});

} // namespace stagewright::ckptfile
