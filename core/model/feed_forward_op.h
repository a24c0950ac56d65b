// The feed-forward part of a double block: W2 gelu(W1 x).
#pragma once

#include "core/torchpch/torch.h"

#include "core/model/linear_op.h"

namespace stagewright::model {

// x [B, L, h] -> [B, L, h]. Saves x and W1 x; gelu is computed again in backward together with its derivative.
torch::Tensor feedForward(const torch::Tensor &x, const LinearWeights &in, const LinearWeights &out);

} // namespace stagewright::model
