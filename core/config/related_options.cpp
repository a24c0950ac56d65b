#include "core/config/related_options.h"

#include <algorithm>

namespace stagewright::config {

const std::vector<std::vector<std::string_view>> &judgedTogether()
{
    static const std::vector<std::vector<std::string_view>> groups = {
        {"grad_checkpoint", "model.grad_ckpt_settings", "grad_ckpt_buffer_size", "grad_ckpt_buffer_overflow"},
        {"model.grad_ckpt_settings", "model.depth", "model.depth_single_blocks"},
        {"model.hidden_size", "model.num_heads", "model.axes_dim"},
        {"model.in_channels", "ae.type", "model.patch_size", "patch_size"},
        {"bucket_config", "ae.type", "ae_spatial_compression", "is_causal_vae", "model.patch_size", "grad_ckpt_buffer_size"},
        {"ckpt_every", "keep_n_latest", "keep_every", "async_io", "outputs", "max_train_steps"},
        {"warmup_steps", "use_cosine_scheduler", "update_warmup_steps", "max_train_steps", "optim.lr"},
        {"condition_config", "model.cond_embed", "cached_video"},
        {"plugin", "plugin_config.sp_size", "plugin_config.tp_size", "plugin_config.pp_size", "model.num_heads"},
        {"num_workers", "prefetch_factor", "pin_memory_cache_pre_alloc_numels"},
        {"ema_decay", "lora_config"},
        {"cached_video", "dataset.cached_video", "dataset.type"},
        {"cached_text", "dataset.cached_text", "dataset.type"},
        {"encoding_cache", "dataset.type", "condition_config"},
        {"load", "start_epoch", "start_step", "model.from_pretrained"},
        {"dataset.data_path", "dataset.memory_efficient"},
        {"dtype", "grad_ckpt_buffer_size", "pin_memory_cache_pre_alloc_numels", "save_master_weights"},
        {"model.vec_in_dim", "clip.from_pretrained"},
        {"model.context_in_dim", "t5.from_pretrained"},
    };
    return groups;
}

std::vector<const Option *> relatedOptions(const Option &option)
{
    const auto together = [&](const Option &other) {
        return std::any_of(judgedTogether().begin(), judgedTogether().end(), [&](const auto &group) {
            const auto has = [&](std::string_view path) { return std::find(group.begin(), group.end(), path) != group.end(); };
            return has(option.path) && has(other.path);
        });
    };
    const auto decides = [](const Option &one, const Option &about) {
        return about.onlyWith.path == one.path || one.writesThroughTo == about.path
            || std::any_of(about.variants.begin(), about.variants.end(), [&](const VariantDefault &variant) { return variant.path == one.path; });
    };
    std::vector<const Option *> strong, weak;
    for (const Option &other : allOptions()) {
        if (&other == &option || other.type == OptionType::Dict)
            continue;
        if (together(other) || decides(other, option))
            strong.push_back(&other);
        else if (decides(option, other) && other.keyClass == KeyClass::Read)
            weak.push_back(&other);
    }
    strong.insert(strong.end(), weak.begin(), weak.end());
    if (strong.size() > kMostRelated)
        strong.resize(kMostRelated);
    return strong;
}

} // namespace stagewright::config
