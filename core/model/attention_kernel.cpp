#include "core/model/attention_kernel.h"

#include <algorithm>
#include <cmath>

#include <ATen/Parallel.h>

#include "core/memory/device.h"

namespace stagewright::model {

using torch::Tensor;

AttentionKernel attentionKernel(torch::DeviceType device, torch::Dtype dtype, std::int64_t headDim)
{
    const bool half = dtype == torch::kBFloat16 || dtype == torch::kFloat16;
    if (device == torch::kCPU)
        return AttentionKernel::FlashCpu;
    if (device != torch::kCUDA || headDim % (half ? 8 : 4) != 0 || (!half && dtype != torch::kFloat32))
        return AttentionKernel::Math;
    return half && headDim <= 256 ? AttentionKernel::FlashCuda : AttentionKernel::EfficientCuda;
}

const char *attentionKernelName(AttentionKernel kernel)
{
    switch (kernel) {
    case AttentionKernel::FlashCpu: return "flash (CPU)";
    case AttentionKernel::FlashCuda: return "flash";
    case AttentionKernel::EfficientCuda: return "memory efficient";
    case AttentionKernel::Math: return "plain softmax";
    }
    return "";
}

static AttentionKernel kernelOf(const Tensor &q) { return attentionKernel(memory::operatorDevice(q), q.scalar_type(), q.size(3)); }

// --- Shapes only: what each operator allocates, for planning on meta ---

static Tensor tokensFirst(const Tensor &q) { return at::empty({q.size(0), q.size(2), q.size(1), q.size(3)}, q.options()).transpose(1, 2); }

// What the CPU's operator works with, a thread: scores of as many queries and keys as it takes at a time, in float32 and, for shorter numbers, in those too.
// Source: ATen's FlashAttentionKernel.cpp. For bf16 the matrix library makes copies of its own: a bound that was measured.
struct CpuTiles {
    std::int64_t queries = 0, keys = 0, dim = 0;
    bool isShort = false, isBf16 = false;
    CpuTiles(const Tensor &q, const Tensor &k) : dim(q.size(3)), isShort(q.element_size() < 4), isBf16(q.scalar_type() == torch::kBFloat16)
    {
        const std::int64_t most = q.size(2) >= 768 ? 256 : q.size(2) >= 192 ? 64 : 32;
        queries = std::min(most, q.size(2));
        keys = std::min<std::int64_t>(512, k.size(2));
    }
    std::int64_t forwardBytes() const { return 4 * (queries * keys + 2 * queries + queries * dim) + (isShort ? 2 * queries * keys : 0); }
    std::int64_t backwardBytes() const
    {
        constexpr std::int64_t kLibrary = 20 << 10;
        const std::int64_t scores = queries * keys;
        return 4 * (2 * scores + queries) + (isShort ? 4 * scores : 0) + (isBf16 ? 4 * keys * dim + 5 * scores / 2 + kLibrary : 0);
    }
};

static Tensor cpuWorkspace(const Tensor &like, std::int64_t bytesOfThread) { return at::empty({at::get_num_threads(), bytesOfThread}, like.options().dtype(torch::kUInt8)); }

static AttentionResult forwardOnMeta(const Tensor &q, const Tensor &k, AttentionKernel kernel)
{
    const at::TensorOptions fp32 = q.options().dtype(torch::kFloat32);
    AttentionResult result;
    result.out = tokensFirst(q);
    if (kernel == AttentionKernel::FlashCpu)
        result.logSumExp = at::empty({q.size(0), q.size(2), q.size(1)}, fp32).transpose(1, 2);
    else
        result.logSumExp = at::empty({q.size(0), q.size(1), kernel == AttentionKernel::EfficientCuda ? (q.size(2) + 31) / 32 * 32 : q.size(2)}, fp32);
    if (kernel == AttentionKernel::FlashCpu)
        cpuWorkspace(q, CpuTiles(q, k).forwardBytes());
    if (kernel == AttentionKernel::Math)
        at::empty({q.size(0), q.size(1), q.size(2), k.size(2)}, q.options());
    return result;
}

static AttentionGradients backwardOnMeta(const Tensor &q, const Tensor &k, const Tensor &v, AttentionKernel kernel)
{
    if (kernel == AttentionKernel::FlashCuda)          // its accumulator for dq, head size padded
        at::empty({q.size(0), q.size(1), (q.size(2) + 127) / 128 * 128, (q.size(3) + 31) / 32 * 32}, q.options().dtype(torch::kFloat32));
    if (kernel == AttentionKernel::Math)
        at::empty({2, q.size(0), q.size(1), q.size(2), k.size(2)}, q.options());
    AttentionGradients gradients{tokensFirst(q), tokensFirst(k), tokensFirst(v)};
    if (kernel == AttentionKernel::FlashCpu)           // while the gradients are there
        cpuWorkspace(q, CpuTiles(q, k).backwardBytes());
    return gradients;
}

// --- Plain softmax: probabilities are made again in backward ---

static Tensor probabilities(const Tensor &q, const Tensor &k)
{
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(3)));
    return at::softmax(at::matmul(q, k.transpose(2, 3)) * scale, -1);
}

static AttentionGradients mathBackward(const Tensor &dOut, const Tensor &q, const Tensor &k, const Tensor &v)
{
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(3)));
    const Tensor p = probabilities(q, k);
    const Tensor dp = at::matmul(dOut, v.transpose(2, 3));
    const Tensor ds = p * (dp - (dp * p).sum(-1, true)) * scale;
    return {at::matmul(ds, k), at::matmul(ds.transpose(2, 3), q), at::matmul(p.transpose(2, 3), dOut)};
}

// --- Dispatch ---

AttentionResult attentionForward(const Tensor &q, const Tensor &k, const Tensor &v)
{
    const AttentionKernel kernel = kernelOf(q);
    if (q.is_meta())
        return forwardOnMeta(q, k, kernel);
    AttentionResult result;
    switch (kernel) {
    case AttentionKernel::FlashCpu:
        std::tie(result.out, result.logSumExp) = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v);
        break;
    case AttentionKernel::FlashCuda: {
        auto [out, logSumExp, cumQuery, cumKey, maxQuery, maxKey, seed, offset, debug] = at::_scaled_dot_product_flash_attention(q, k, v, 0.0, false, false);
        result = {out, logSumExp, {cumQuery, cumKey, seed, offset}, maxQuery.expect_int(), maxKey.expect_int()};
        break;
    }
    case AttentionKernel::EfficientCuda: {
        auto [out, logSumExp, seed, offset] = at::_scaled_dot_product_efficient_attention(q, k, v, std::nullopt, true);
        result = {out, logSumExp, {seed, offset}};
        break;
    }
    case AttentionKernel::Math:
        result.out = at::matmul(probabilities(q, k), v);
        break;
    }
    return result;
}

AttentionGradients attentionBackward(const Tensor &dOut, const Tensor &q, const Tensor &k, const Tensor &v, const AttentionResult &forward)
{
    const AttentionKernel kernel = kernelOf(q);
    if (q.is_meta())
        return backwardOnMeta(q, k, v, kernel);
    AttentionGradients gradients;
    switch (kernel) {
    case AttentionKernel::FlashCpu:
        std::tie(gradients.q, gradients.k, gradients.v) =
            at::_scaled_dot_product_flash_attention_for_cpu_backward(dOut, q, k, v, forward.out, forward.logSumExp, 0.0, false);
        break;
    case AttentionKernel::FlashCuda:
        std::tie(gradients.q, gradients.k, gradients.v) =
            at::_scaled_dot_product_flash_attention_backward(dOut, q, k, v, forward.out, forward.logSumExp, forward.extra[0], forward.extra[1], forward.maxQuery, forward.maxKey, 0.0,
                                                             false, forward.extra[2], forward.extra[3]);
        break;
    case AttentionKernel::EfficientCuda: {
        auto [dq, dk, dv, dBias] = at::_scaled_dot_product_efficient_attention_backward(dOut, q, k, v, Tensor(), forward.out, forward.logSumExp, forward.extra[0], forward.extra[1], 0.0,
                                                                                       {true, true, true, false});
        gradients = {dq, dk, dv};
        break;
    }
    case AttentionKernel::Math:
        gradients = mathBackward(dOut, q, k, v);
        break;
    }
    return gradients;
}

} // namespace stagewright::model
