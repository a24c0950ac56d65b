// Weights out of a checkpoint, as one safetensors file or as shards with an index. No Torch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/relayout.h"

namespace stagewright::ckptfile {

enum class ExportSource { Model, Ema, Master };

struct ExportOptions {
    ExportSource source = ExportSource::Model;
    double shardMebibytes = 0;               // 0: one file; else a folder of shards cut at this size, with an index
    // Rotary orders: what the file shall have, and what the checkpoint has where its own config does not say.
    std::optional<RopeOrder> rope, storedRope;
    std::optional<bool> fused;               // projections of the file; nothing: as they are
    bool halfPrecision = false;              // fp32 tensors are rounded to bf16 (nearest, ties to even)
    std::function<bool(std::int64_t done, std::int64_t total)> progress;     // bytes; false cancels
};

// out: a .safetensors file (must be new), or a folder for shards (made; must be empty or new); neither inside the checkpoint. Every byte of a checkpoint with a manifest is
// compared with it first (Error, Checkpoint). Written beside it first, then renamed. Names without prefix. An ema.pt whose pieces are
// whole gets the model's shapes. Error (Usage): another rotary order is asked for and nothing says which one the checkpoint is in.
// Returns the files written.
Result<std::vector<std::filesystem::path>> exportWeights(const std::filesystem::path &checkpoint, const std::filesystem::path &out,
                                                         const ExportOptions &options = {});

} // namespace stagewright::ckptfile
