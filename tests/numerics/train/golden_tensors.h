// The tensors of a golden .safetensors file, by name, and how far two tensors are from each other.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/torchpch/torch.h"

namespace stagewright::test {

using TensorMap = std::map<std::string, torch::Tensor>;

TensorMap readTensors(const std::filesystem::path &file);        // aborts the test program with a sentence when it cannot be read

// ||a-b|| / ||b|| in float64; ||a|| where b is zero.
double relativeL2(const torch::Tensor &a, const torch::Tensor &b);
// max |a-b| / max(1, |b|).
double largestError(const torch::Tensor &a, const torch::Tensor &b);

} // namespace stagewright::test
