// What the names and shapes of an MMDiT's tensors say about the config that made it (Open-Sora 2.0's state-dict names).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/ckptfile/stored_tensor.h"

namespace stagewright::ckptfile {

struct ModelShape {
    std::int64_t depth = 0, depthSingleBlocks = 0;
    std::int64_t hiddenSize = 0, inChannels = 0, vecInDim = 0, contextInDim = 0, mlpWidth = 0;
    bool fusedQkv = false, guidanceEmbed = false, condEmbed = false, qkvBias = false;
};

// Nothing where img_in.weight is missing: another kind of model.
std::optional<ModelShape> modelShapeOf(const std::vector<StoredTensor> &weights);

} // namespace stagewright::ckptfile
