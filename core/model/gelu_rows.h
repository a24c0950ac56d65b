// GELU (tanh form) between slices of wider tensors; below autograd. Each argument is a view [.., n] whose rows lie at one stride.
#pragma once

#include "core/torchpch/torch.h"

namespace stagewright::model {

void geluInto(const torch::Tensor &out, const torch::Tensor &u);
// du = dOut * gelu'(u), and out = gelu(u) once more, in one pass.
void geluBackwardInto(const torch::Tensor &du, const torch::Tensor &out, const torch::Tensor &dOut, const torch::Tensor &u);

} // namespace stagewright::model
