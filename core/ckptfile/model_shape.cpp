#include "core/ckptfile/model_shape.h"

#include <algorithm>
#include <charconv>

namespace stagewright::ckptfile {

namespace {

// N of "PREFIX.N.…" plus one, or 0.
std::int64_t blocksUpTo(std::string_view name, std::string_view prefix)
{
    if (!name.starts_with(prefix))
        return 0;
    std::int64_t number = 0;
    const auto parsed = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    return parsed.ec == std::errc() && number >= 0 && number < 100'000 ? number + 1 : 0;
}

} // namespace

std::optional<ModelShape> modelShapeOf(const std::vector<StoredTensor> &weights)
{
    ModelShape shape;
    bool found = false;
    for (const StoredTensor &tensor : weights) {
        const std::string_view name = withoutPrefixes(tensor.name);
        const auto extent = [&](std::size_t at) { return at < tensor.shape.size() ? tensor.shape[at] : 0; };
        shape.depth = std::max(shape.depth, blocksUpTo(name, "double_blocks."));
        shape.depthSingleBlocks = std::max(shape.depthSingleBlocks, blocksUpTo(name, "single_blocks."));
        if (name == "img_in.weight") {
            found = true;
            shape.hiddenSize = extent(0);
            shape.inChannels = extent(1);
        }
        if (name == "vector_in.in_layer.weight")
            shape.vecInDim = extent(1);
        if (name == "txt_in.weight")
            shape.contextInDim = extent(1);
        if (name == "double_blocks.0.img_mlp.0.weight")
            shape.mlpWidth = extent(0);
        shape.fusedQkv = shape.fusedQkv || name == "double_blocks.0.img_attn.qkv.weight" || name == "single_blocks.0.linear1.weight";
        shape.qkvBias = shape.qkvBias || name == "double_blocks.0.img_attn.qkv.bias" || name == "double_blocks.0.img_attn.q_proj.bias";
        shape.guidanceEmbed = shape.guidanceEmbed || name.starts_with("guidance_in.");
        shape.condEmbed = shape.condEmbed || name.starts_with("cond_in.");
    }
    return found ? std::optional(shape) : std::nullopt;
}

} // namespace stagewright::ckptfile
