// The two places where a block's modulation meets its tokens.
#pragma once

#include "core/torchpch/torch.h"

namespace stagewright::model {

// (1 + scale) * norm(x) + shift over the last dimension, norm without parameters and with eps 1e-6; shift and scale [B, h] (views of a
// modulation vector) hold for all tokens of a sample. x [B, L, h], contiguous; tokens before `first` are left out: [B, L - first, h]. Saves
// x, and two numbers a token.
torch::Tensor modulatedNorm(const torch::Tensor &x, const torch::Tensor &shift, const torch::Tensor &scale, std::int64_t first = 0);

// x + gate * v; gate [B, h]. Saves v.
torch::Tensor gatedResidual(const torch::Tensor &x, const torch::Tensor &gate, const torch::Tensor &v);

} // namespace stagewright::model
