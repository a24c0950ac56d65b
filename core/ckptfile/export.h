// Weights out of a checkpoint, as one safetensors file or as shards with an index. No Torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stagewright::ckptfile {

enum class ExportSource { Model, Ema, Master };

struct ExportOptions {
    ExportSource source = ExportSource::Model;
    double shardMebibytes = 0;               // 0: one file; else a folder of shards cut at this size, with an index
    bool halfPrecision = false;              // fp32 tensors are rounded to bf16 (nearest, ties to even)
    std::function<bool(std::int64_t done, std::int64_t total)> progress;     // bytes; false cancels
};

// out: a .safetensors file, or a folder for shards (made; must be empty or new). Written beside it first, then renamed. Names without prefix.
// Returns the files written.
Result<std::vector<std::filesystem::path>> exportWeights(const std::filesystem::path &checkpoint, const std::filesystem::path &out,
                                                         const ExportOptions &options = {});

} // namespace stagewright::ckptfile
