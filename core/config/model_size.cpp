#include "core/config/model_size.h"

#include "core/config/findings.h"
#include "core/config/overrides.h"

namespace stagewright::config {

std::optional<std::int64_t> parameterCount(const Stage &stage)
{
    const Facts facts(stage);
    const auto hidden = facts.integer("model.hidden_size"), heads = facts.integer("model.num_heads"), channels = facts.integer("model.in_channels"),
               pooled = facts.integer("model.vec_in_dim"), context = facts.integer("model.context_in_dim"), doubles = facts.integer("model.depth"),
               singles = facts.integer("model.depth_single_blocks"), patch = facts.integer("model.patch_size");
    const auto ratio = facts.number("model.mlp_ratio");
    if (!hidden || !heads || !channels || !pooled || !context || !doubles || !singles || !patch || !ratio)
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
