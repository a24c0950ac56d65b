// What a path holds, and whether it is whole: checkpoint, run folder, safetensors file, torch.save file, folder of shards. No Torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"

namespace stagewright::ckptfile {

enum class PathKind { Checkpoint, Run, Safetensors, TorchArchive, ShardFolder, Lora, Unknown };
const char *kindName(PathKind kind);         // "checkpoint", "run", "safetensors", "torch-archive", "shards", "lora", "unknown"

// Complete: whole by all that can be seen without reading every byte. Verified: and it was read back. Foreign: written by another program,
// whole as far as can be seen. Truncated: a file is shorter than its header or the manifest says. Incomplete: a file is missing.
enum class Badge { Verified, Complete, Unverified, Foreign, Incomplete, Truncated, Damaged };
const char *badgeName(Badge badge);

enum class FileState { Good, Missing, Truncated, TooLong, Damaged, Foreign };    // Damaged: header or hash wrong; Foreign: not in the manifest or index
const char *stateName(FileState state);

struct InspectedFile {
    std::string path;                        // relative to the inspected folder
    std::int64_t bytes = 0;                  // on disk
    FileState state = FileState::Good;
    std::string sentence;                    // what is wrong and what to do, empty where Good
    std::int64_t tensors = 0;
};

struct Inspection {
    std::filesystem::path path;
    PathKind kind = PathKind::Unknown;
    Badge badge = Badge::Incomplete;
    bool complete = false, verified = false;
    bool ours = false;                       // has a manifest
    std::vector<InspectedFile> files;
    std::int64_t tensors = 0, bytes = 0;
    std::optional<std::int64_t> step, epoch; // updates; absent where the path does not say
    std::vector<std::filesystem::path> checkpoints;      // of a run folder, newest first
    Problems problems;                       // everything wrong or remarkable, errors first
};

struct InspectOptions {
    bool readEverything = false;             // hash against the manifest; look for NaN and Inf in weights
    bool remember = true;                    // after a full check without findings write verified.json (where the folder is writable)
    std::function<bool(std::int64_t done, std::int64_t total, const std::string &file)> progress;    // bytes; false cancels
};

// Error: the path does not exist or cannot be read at all, or the check was cancelled (code checkpoint.cancelled). Any thread.
Result<Inspection> inspect(const std::filesystem::path &path, const InspectOptions &options = {});
nlohmann::json toJson(const Inspection &inspection);     // the command line's object without "command"

} // namespace stagewright::ckptfile
