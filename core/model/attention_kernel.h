// Exact softmax attention by the device's fused operator, forward and backward, below autograd.
#pragma once

#include <vector>

#include "core/torchpch/torch.h"

namespace stagewright::model {

enum class AttentionKernel {
    FlashCpu,          // the CPU's fused operator, any dtype and head size
    FlashCuda,         // bf16 and fp16, head sizes that are multiples of 8 up to 256
    EfficientCuda,     // what flash does not take
    Math,              // devices without a fused operator
};

// Which one a device takes for a dtype and head size.
AttentionKernel attentionKernel(torch::DeviceType device, torch::Dtype dtype, std::int64_t headDim);
const char *attentionKernelName(AttentionKernel kernel);

struct AttentionResult {
    torch::Tensor out;                     // [B, H, L, D], laid out as [B, L, H, D] where the operator does so
    torch::Tensor logSumExp;               // fp32
    std::vector<torch::Tensor> extra;      // what the operator wants back in backward
    std::int64_t maxQuery = 0, maxKey = 0;
};

// q, k, v [B, H, L, D] with any strides but the last's 1; no mask, scale 1/sqrt(D).
AttentionResult attentionForward(const torch::Tensor &q, const torch::Tensor &k, const torch::Tensor &v);

struct AttentionGradients { torch::Tensor q, k, v; };     // [B, H, L, D], last stride 1
AttentionGradients attentionBackward(const torch::Tensor &dOut, const torch::Tensor &q, const torch::Tensor &k, const torch::Tensor &v, const AttentionResult &forward);

} // namespace stagewright::model
