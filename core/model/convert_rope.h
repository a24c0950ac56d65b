// Between the two parameter layouts that a checkpoint can have: standard and liger rotary order, fused and separate qkv. Nothing in a
// checkpoint says which rotary order it is in.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/model/mmdit_config.h"

namespace stagewright::model {

using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

// Old index of each entry of a head when going from standard to liger: 0, 2, …, D-2, 1, 3, …, D-1.
std::vector<std::int64_t> standardToLigerPermutation(std::int64_t headDim);

// The same model's parameters (names as Mmdit's, any order) in the layout of `to`, in the order of Mmdit(to).named_parameters(); rows are
// moved, never computed with. Error (Checkpoint): the configs differ in more than fusedQkv and useLigerRope, a name is missing, a shape differs.
Result<NamedTensors> convertLayout(const NamedTensors &parameters, const MmditConfig &from, const MmditConfig &to);

} // namespace stagewright::model
