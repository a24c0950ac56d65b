#include "core/config/model_size.h"

#include "core/config/findings.h"
#include "core/config/overrides.h"

namespace stagewright::config {

namespace {
// Far above every real model, and low enough that no sum below leaves 63 bits (largest: some 7e17 bytes of checkpoint).
constexpr std::int64_t kMostHidden = 100'000, kMostInputs = 1'000'000, kMostBlocks = 10'000, kMostPatch = 1'000;
constexpr double kMostRatio = 100;
} // namespace

std::optional<std::int64_t> parameterCount(const Stage &stage)
{
    const Facts facts(stage);
    const auto size = [&](const char *key, std::int64_t least, std::int64_t most) -> std::optional<std::int64_t> {
        const auto value = facts.integer(key);
        return value && *value >= least && *value <= most ? value : std::nullopt;
    };
    const auto hidden = size("model.hidden_size", 1, kMostHidden), heads = size("model.num_heads", 1, kMostHidden),
               channels = size("model.in_channels", 0, kMostInputs), pooled = size("model.vec_in_dim", 0, kMostInputs),
               context = size("model.context_in_dim", 0, kMostInputs), doubles = size("model.depth", 0, kMostBlocks),
               singles = size("model.depth_single_blocks", 0, kMostBlocks);
    const auto patch = facts.integer("model.patch_size") ? size("model.patch_size", 1, kMostPatch) : std::optional<std::int64_t>(2);
    const auto ratio = facts.number("model.mlp_ratio");
    if (!hidden || !heads || !channels || !pooled || !context || !doubles || !singles || !patch || !ratio || !(*ratio > 0 && *ratio <= kMostRatio))
        return std::nullopt;

    const std::int64_t h = *hidden, D = h / *heads, M = static_cast<std::int64_t>(static_cast<double>(h) * *ratio);
    const std::int64_t p = *patch, q = facts.isOn("model.qkv_bias") ? 1 : 0;
    const auto linear = [](std::int64_t in, std::int64_t out) { return in * out + out; };
    const auto embedder = [&](std::int64_t in) { return linear(in, h) + linear(h, h); };
    constexpr std::int64_t kTimeEmbedding = 256;

    std::int64_t total = linear(*channels, h) + embedder(kTimeEmbedding) + embedder(*pooled) + linear(*context, h);
    if (facts.isOn("model.guidance_embed"))
        total += embedder(kTimeEmbedding);
    if (facts.isOn("model.cond_embed"))
        total += linear(*channels + p * p, h);
    const std::int64_t stream = linear(h, 6 * h) + 3 * (h * h + q * h) + 2 * D + linear(h, h) + linear(h, M) + linear(M, h);
    const std::int64_t single = linear(h, 3 * h) + linear(h, 3 * h) + linear(h, M) + 2 * D + linear(h + M, h);
    const std::int64_t final = linear(h, *channels) + linear(h, 2 * h);
    return total + 2 * *doubles * stream + *singles * single + final;
}

std::optional<std::int64_t> checkpointBytes(const Stage &stage)
{
    const auto parameters = parameterCount(stage);
    const auto dtype = Facts(stage).string("dtype");
    if (!parameters || !dtype)
        return std::nullopt;
    constexpr std::int64_t kFloat = 4;
    const int element = bytesPerElement(*dtype);
    std::int64_t each = element + 2 * kFloat;
    if (element < kFloat)
        each += kFloat;
    if (stage.isSet("ema_decay"))
        each += kFloat;
    return *parameters * each;
}

} // namespace stagewright::config
