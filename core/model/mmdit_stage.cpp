// The model that a stage declares.
#include <optional>

#include <fmt/format.h>

#include "core/model/mmdit_config.h"

namespace stagewright::model {

static Error notSet(std::string path, std::string message)
{
    Error error(ExitCode::Usage, "config.model", std::move(message));
    error.problem.path = std::move(path);
    return error;
}

Result<MmditConfig> mmditConfig(const config::Stage &stage)
{
    if (!stage.isSet("model"))
        return notSet("model", "the stage has no model section, so there is nothing to train");
    for (const char *path : {"model.in_channels", "model.vec_in_dim", "model.context_in_dim", "model.hidden_size", "model.mlp_ratio", "model.num_heads", "model.depth",
                             "model.depth_single_blocks", "model.axes_dim", "model.theta", "model.qkv_bias", "model.guidance_embed"}) {
        if (stage.at(path).isNone())
            return notSet(path, fmt::format("{} is not set, and there is no model without it", path));
    }
    MmditConfig c;
    c.inChannels = stage.integer("model.in_channels");
    c.vecInDim = stage.integer("model.vec_in_dim");
    c.contextInDim = stage.integer("model.context_in_dim");
    c.hiddenSize = stage.integer("model.hidden_size");
    c.mlpRatio = stage.number("model.mlp_ratio");
    c.numHeads = stage.integer("model.num_heads");
    c.depth = stage.integer("model.depth");
    c.depthSingleBlocks = stage.integer("model.depth_single_blocks");
    c.axesDim.clear();
    for (const config::Value &dim : stage.at("model.axes_dim").items())
        c.axesDim.push_back(dim.integer());
    c.theta = stage.number("model.theta");
    c.qkvBias = stage.boolean("model.qkv_bias");
    c.guidanceEmbed = stage.boolean("model.guidance_embed");
    c.condEmbed = stage.boolean("model.cond_embed");
    c.fusedQkv = stage.boolean("model.fused_qkv");
    c.useLigerRope = stage.boolean("model.use_liger_rope");
    c.patchSize = stage.integer("model.patch_size");
    if (Status status = validate(c); !status)
        return status.error();
    return c;
}

Result<memory::ResolvedDepth> checkpointDepth(const config::Stage &stage)
{
    std::optional<std::vector<std::int64_t>> settings;
    const config::Value &value = stage.at("model.grad_ckpt_settings");
    if (value.isSequence()) {
        settings.emplace();
        for (const config::Value &count : value.items())
            settings->push_back(count.integer());
    } else if (!value.isNone()) {
        settings = {value.integer()};
    }
    return memory::resolveCheckpointDepth(stage.boolean("grad_checkpoint"), settings, static_cast<int>(stage.integer("model.depth")),
                                          static_cast<int>(stage.integer("model.depth_single_blocks")));
}

} // namespace stagewright::model
