#include "core/model/mmdit_config.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace stagewright::model {

static Error wrong(std::string path, std::string message)
{
    Error error(ExitCode::Usage, "config.model", std::move(message));
    error.problem.path = std::move(path);
    return error;
}

Status validate(const MmditConfig &c)
{
    const std::pair<const char *, std::int64_t> sizes[] = {{"in_channels", c.inChannels}, {"vec_in_dim", c.vecInDim}, {"context_in_dim", c.contextInDim}, {"hidden_size", c.hiddenSize},
                                                           {"num_heads", c.numHeads}, {"patch_size", c.patchSize}};
    constexpr std::int64_t kLargest = std::int64_t(1) << 24;
    for (const auto &[name, size] : sizes) {
        if (size < 1 || size > kLargest)
            return wrong(fmt::format("model.{}", name), fmt::format("model.{} must be 1 to {}, not {}", name, kLargest, size));
    }
    if (c.depth < 0 || c.depthSingleBlocks < 0 || c.blocks() > 10000)
        return wrong("model.depth", fmt::format("model.depth ({}) and model.depth_single_blocks ({}) cannot be negative, nor more than 10000 together", c.depth, c.depthSingleBlocks));
    if (c.hiddenSize % c.numHeads != 0) {
        return wrong("model.num_heads", fmt::format("model.hidden_size {} cannot be divided among model.num_heads {}: choose a number of heads that divides it", c.hiddenSize, c.numHeads));
    }
    if (!(c.mlpRatio > 0) || c.mlpRatio > 1000 || c.mlpHidden() < 1)
        return wrong("model.mlp_ratio", fmt::format("model.mlp_ratio {} leaves no width for the feed-forward layers, or too much", c.mlpRatio));
    if (!(c.theta > 0) || !std::isfinite(c.theta))
        return wrong("model.theta", fmt::format("model.theta must be a number above 0, not {}", c.theta));
    if (c.axesDim.size() != 3)
        return wrong("model.axes_dim", fmt::format("model.axes_dim has {} numbers, but tokens have the three axes time, height, width", c.axesDim.size()));
    for (const std::int64_t dim : c.axesDim) {
        if (dim < 2 || dim % 2 != 0)
            return wrong("model.axes_dim", fmt::format("model.axes_dim must be even numbers from 2 on, since rotary embedding turns pairs; {} is not", dim));
    }
    const std::int64_t sum = std::accumulate(c.axesDim.begin(), c.axesDim.end(), std::int64_t(0));
    if (sum != c.headDim()) {
        return wrong("model.axes_dim", fmt::format("model.axes_dim adds up to {}, but a head has hidden_size / num_heads = {} / {} = {} entries", sum, c.hiddenSize, c.numHeads, c.headDim()));
    }
    return Done{};
}

std::int64_t parameterCount(const MmditConfig &c)
{
    const std::int64_t h = c.hiddenSize, m = c.mlpHidden(), d = c.headDim(), q = c.qkvBias ? 1 : 0;
    const auto embedder = [h](std::int64_t in) { return in * h + h + h * h + h; };
    std::int64_t count = c.inChannels * h + h + embedder(256) + embedder(c.vecInDim) + c.contextInDim * h + h;
    if (c.guidanceEmbed)
        count += embedder(256);
    if (c.condEmbed)
        count += c.condChannels() * h + h;
    const std::int64_t stream = (6 * h * h + 6 * h) + 3 * (h * h + q * h) + 2 * d + (h * h + h) + (h * m + m) + (m * h + h);
    const std::int64_t single = (3 * h * h + 3 * h) + (3 * h * h + 3 * h) + (h * m + m) + 2 * d + ((h + m) * h + h);
    count += 2 * c.depth * stream + c.depthSingleBlocks * single;
    return count + (h * c.inChannels + c.inChannels) + (2 * h * h + 2 * h);
}

} // namespace stagewright::model
