#include "core/model/attention_kernel.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <tuple>

#include <ATen/Parallel.h>

#include "core/memory/device.h"
#include "core/memory/host_peak.h"

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

// What the CPU's operator works with backward, a thread: scores of as many queries and keys as it takes at a time, in float32 and, for shorter numbers, in
// those too. Source: ATen's FlashAttentionKernel.cpp.
struct CpuTiles {
    std::int64_t queries = 0, keys = 0, dim = 0;
    bool isShort = false;
    CpuTiles(const Tensor &q, const Tensor &k) : dim(q.size(3)), isShort(q.element_size() < 4)
    {
        const std::int64_t most = q.size(2) >= 768 ? 256 : q.size(2) >= 192 ? 64 : 32;
        queries = std::min(most, q.size(2));
        keys = std::min<std::int64_t>(512, k.size(2));
    }
    std::int64_t backwardBytes() const { return 4 * (2 * queries * keys + queries) + (isShort ? 4 * queries * keys : 0); }
};

// The matrix library makes copies of its own, as the processor's instructions for the type want them: no source tells how many, so the operator is watched on
// a head or two, and what it took is remembered by type, queries, keys, head size and number of threads.
using WatchedShape = std::tuple<torch::Dtype, std::int64_t, std::int64_t, std::int64_t, int>;
constexpr std::int64_t kTilesRepeat = 768;             // with more queries, the tiles are these

template <class Found>
static Found remembered(std::map<WatchedShape, Found> &known, const WatchedShape &shape, const std::function<Found()> &watch)
{
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const auto found = known.find(shape);
    return found != known.end() ? found->second : known.emplace(shape, watch()).first->second;
}

static Tensor someTokens(std::int64_t heads, std::int64_t tokens, std::int64_t dim, torch::Dtype dtype)
{
    return at::zeros({1, tokens, heads, dim}, torch::TensorOptions(dtype)).transpose(1, 2);
}

struct ForwardWorkspace { std::int64_t perHead = 0, once = 0; };       // bytes; once: for all threads

static ForwardWorkspace watchForward(torch::Dtype dtype, std::int64_t queries, std::int64_t keys, std::int64_t dim)
{
    const auto taken = [&](std::int64_t heads) {
        const Tensor q = someTokens(heads, queries, dim, dtype), k = someTokens(heads, keys, dim, dtype), v = someTokens(heads, keys, dim, dtype);
        const std::int64_t results = heads * queries * (dim * q.element_size() + 4);
        return memory::hostPeakDuring([&] { at::_scaled_dot_product_flash_attention_for_cpu(q, k, v); }) - results;
    };
    const std::int64_t one = taken(1), two = taken(2);
    return {two - one, std::max<std::int64_t>(0, 2 * one - two)};
}

static void cpuForwardWorkspace(const Tensor &q, const Tensor &k)
{
    static std::map<WatchedShape, ForwardWorkspace> known;
    const std::int64_t queries = std::min(q.size(2), kTilesRepeat), keys = k.size(2), dim = q.size(3);
    const auto dtype = q.scalar_type();
    const auto bytes = remembered<ForwardWorkspace>(known, {dtype, queries, keys, dim, at::get_num_threads()}, [&] { return watchForward(dtype, queries, keys, dim); });
    at::empty({q.size(0) * q.size(1) * bytes.perHead + bytes.once}, q.options().dtype(torch::kUInt8));
}

static std::int64_t watchBackward(torch::Dtype dtype, std::int64_t queries, std::int64_t keys, std::int64_t dim)
{
    const Tensor q = someTokens(1, queries, dim, dtype), k = someTokens(1, keys, dim, dtype), v = someTokens(1, keys, dim, dtype), given = someTokens(1, queries, dim, dtype);
    const auto forward = at::_scaled_dot_product_flash_attention_for_cpu(q, k, v);
    const Tensor &out = std::get<0>(forward), &logSumExp = std::get<1>(forward);
    const std::int64_t peak = memory::hostPeakDuring([&] { at::_scaled_dot_product_flash_attention_for_cpu_backward(given, q, k, v, out, logSumExp, 0.0, false); });
    const std::int64_t gradients = (queries + 2 * keys) * dim * q.element_size();
    return std::max<std::int64_t>(0, peak - gradients - at::get_num_threads() * CpuTiles(q, k).backwardBytes());
}

static void cpuBackwardWorkspace(const Tensor &q, const Tensor &k)
{
    static std::map<WatchedShape, std::int64_t> known;
    const std::int64_t threads = at::get_num_threads(), busy = std::min(threads, q.size(0) * q.size(1));
    const std::int64_t queries = std::min(q.size(2), kTilesRepeat), keys = std::min(k.size(2), kTilesRepeat), dim = q.size(3);
    const auto dtype = q.scalar_type();
    const auto copies = remembered<std::int64_t>(known, {dtype, queries, keys, dim, at::get_num_threads()}, [&] { return watchBackward(dtype, queries, keys, dim); });
    at::empty({threads * CpuTiles(q, k).backwardBytes() + busy * copies}, q.options().dtype(torch::kUInt8));
}

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
        cpuForwardWorkspace(q, k);
    if (kernel == AttentionKernel::Math)
        at::empty({q.size(0), q.size(1), q.size(2), k.size(2)}, q.options());
    return result;
}

static AttentionGradients backwardOnMeta(const Tensor &dOut, const Tensor &q, const Tensor &k, const Tensor &v, AttentionKernel kernel)
{
    if (kernel == AttentionKernel::FlashCuda)          // its accumulator for dq, head size padded
        at::empty({q.size(0), q.size(1), (q.size(2) + 127) / 128 * 128, (q.size(3) + 31) / 32 * 32}, q.options().dtype(torch::kFloat32));
    if (kernel == AttentionKernel::Math)
        at::empty({2, q.size(0), q.size(1), q.size(2), k.size(2)}, q.options());
    AttentionGradients gradients{tokensFirst(q), tokensFirst(k), tokensFirst(v)};
    if (kernel == AttentionKernel::FlashCpu) {         // while the gradients are there; columns of a wider tensor are copied first
        const Tensor given = dOut.transpose(1, 2).is_contiguous() ? dOut : tokensFirst(dOut);
        cpuBackwardWorkspace(q, k);
    }
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
        return backwardOnMeta(dOut, q, k, v, kernel);
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
