// Rotary position tables in both conventions of Open-Sora 2.0.
#pragma once

#include "core/torchpch/torch.h"

#include "core/model/mmdit_config.h"

namespace stagewright::model {

// cos and sin [B or 1, L, D/2] fp32. The standard convention computes angles in fp64 and rotates the pairs (2p, 2p+1); liger's computes
// in fp32, reads the positions of the first sample only, and rotates (p, p + D/2).
struct RopeTable {
    torch::Tensor cos, sin;
    bool liger = false;
};

// ids [B, L, axes], any floating dtype. Not differentiable.
RopeTable ropeTable(const MmditConfig &config, const torch::Tensor &ids);

} // namespace stagewright::model
