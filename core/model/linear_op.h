// Linear layers on the last dimension, several of the same input at once.
#pragma once

#include <vector>

#include "core/torchpch/torch.h"

namespace stagewright::model {

struct LinearWeights {
    torch::Tensor weight;      // [out, in]
    torch::Tensor bias;        // [out], or undefined
};

// x [.., in] -> [.., out]. Saves x.
torch::Tensor linear(const torch::Tensor &x, const LinearWeights &weights);

// One x, several layers: x is saved once, and its gradient is summed inside the matrix products.
std::vector<torch::Tensor> linears(const torch::Tensor &x, const std::vector<LinearWeights> &layers);

// The pieces that other operators with a linear layer inside share; below autograd. x, dy: [rows, features].
torch::Tensor linearForward(const torch::Tensor &x, const LinearWeights &weights);
torch::Tensor weightGradient(const torch::Tensor &dy, const torch::Tensor &x);     // dy^T x
torch::Tensor biasGradient(const torch::Tensor &dy);

} // namespace stagewright::model
