// The MMDiT written plainly in Torch's operators, one line a formula: what the model's own operators are checked against, and the pace that
// a program which calls the same operators one by one has at best.
#pragma once

#include <torch/nn/functional/linear.h>
#include <torch/ordered_dict.h>

#include "core/torchpch/torch.h"

#include "core/model/mmdit.h"

namespace stagewright::reference {

// The same parameters, used without the model's forward.
torch::Tensor forward(const model::Mmdit &mmdit, const model::MmditInput &input);

model::MmditConfig tinyConfig();
model::MmditInput randomInput(const model::MmditConfig &config, std::int64_t batch, std::int64_t image, std::int64_t text, const torch::TensorOptions &options = {});

} // namespace stagewright::reference
