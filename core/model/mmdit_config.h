// The sizes and switches of the MMDiT, as a stage's `model` declares them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/result.h"
#include "core/config/stage.h"
#include "core/memory/checkpointing.h"

namespace stagewright::model {

struct MmditConfig {
    std::int64_t inChannels = 64;              // of a packed token: latent channels * patch * patch
    std::int64_t vecInDim = 768;
    std::int64_t contextInDim = 4096;
    std::int64_t hiddenSize = 3072;
    double mlpRatio = 4.0;
    std::int64_t numHeads = 24;
    std::int64_t depth = 19;                   // double blocks
    std::int64_t depthSingleBlocks = 38;
    std::vector<std::int64_t> axesDim{16, 56, 56};     // of a head, for the axes t, y, x
    double theta = 10000;
    bool qkvBias = true;                       // of double blocks
    bool guidanceEmbed = false;
    bool condEmbed = false;
    bool fusedQkv = true;
    bool useLigerRope = false;
    std::int64_t patchSize = 2;

    std::int64_t headDim() const { return hiddenSize / numHeads; }
    std::int64_t mlpHidden() const { return static_cast<std::int64_t>(static_cast<double>(hiddenSize) * mlpRatio); }
    std::int64_t condChannels() const { return inChannels + patchSize * patchSize; }
    std::int64_t blocks() const { return depth + depthSingleBlocks; }
    bool operator==(const MmditConfig &) const = default;
};

// Error (Usage): sizes that no model can have (a head size that heads do not divide, axes that do not add up to it, …).
Status validate(const MmditConfig &config);

// From the stage's `model` section; its numbers are validated.
Result<MmditConfig> mmditConfig(const config::Stage &stage);

// Which blocks the stage checkpoints (grad_checkpoint, model.grad_ckpt_settings), for the model that it declares.
Result<memory::ResolvedDepth> checkpointDepth(const config::Stage &stage);

// Number of parameters, without building anything.
std::int64_t parameterCount(const MmditConfig &config);

} // namespace stagewright::model
