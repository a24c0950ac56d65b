#include "core/train/settings.h"

#include "core/base/units.h"

namespace stagewright::train {

namespace {

Error usage(const config::Value &value, std::string code, std::string message)
{
    return Error(ExitCode::Usage, std::move(code), std::move(message), value.origin.fileName(), value.origin.line);
}

std::optional<torch::Dtype> dtypeByName(const std::string &name)
{
    if (name == "fp32" || name == "float32")
        return torch::kFloat32;
    if (name == "bf16" || name == "bfloat16")
        return torch::kBFloat16;
    if (name == "fp16" || name == "float16" || name == "half")
        return torch::kFloat16;
    return {};
}

// Features that stages may name and that this version cannot train with.
Status refuseUnbuilt(const config::Stage &stage, int worldSize)
{
    const auto notYet = [&](std::string_view path, const std::string &what) {
        return usage(stage.at(path), "run.not-built-yet", std::string(path) + ": " + what + " cannot be trained with yet; check, show, plan and buckets accept the stage");
    };
    if (worldSize > 1) {
        return Error(ExitCode::Usage, "run.not-built-yet", "training with " + std::to_string(worldSize) + " processes is not built yet: start one (WORLD_SIZE 1), "
                     "and use accumulation_steps for the same batch size");
    }
    if (stage.isSet("lora_config"))
        return notYet("lora_config", "LoRA");
    if (stage.boolean("cached_video") && stage.isSet("condition_config"))
        return notYet("cached_video", "latents from files together with condition_config (what is given must be encoded alone)");
    return Done{};
}

std::optional<double> optionalNumber(const config::Stage &stage, std::string_view path)
{
    return stage.isSet(path) ? std::optional(stage.number(path)) : std::nullopt;
}

std::optional<std::int64_t> optionalInteger(const config::Stage &stage, std::string_view path)
{
    return stage.isSet(path) ? std::optional(stage.integer(path)) : std::nullopt;
}

AdamSettings adamSettings(const config::Stage &stage)
{
    AdamSettings adam;
    const auto &betas = stage.at("optim.betas").items();
    adam.betas = {betas[0].number(), betas[1].number()};
    adam.eps = stage.number("optim.eps");
    adam.weightDecay = stage.number("optim.weight_decay");
    adam.biasCorrection = stage.boolean("optim.bias_correction");
    adam.decoupled = stage.boolean("optim.adamw_mode");
    return adam;
}

ScalerSettings scalerSettings(const config::Stage &stage)
{
    ScalerSettings scaler;
    scaler.initialScale = stage.number("plugin_config.initial_scale");
    scaler.minScale = stage.number("plugin_config.min_scale");
    scaler.maxScale = stage.number("plugin_config.max_scale");
    scaler.growthFactor = stage.number("plugin_config.growth_factor");
    scaler.backoffFactor = stage.number("plugin_config.backoff_factor");
    scaler.growthInterval = stage.integer("plugin_config.growth_interval");
    scaler.hysteresis = stage.integer("plugin_config.hysteresis");
    return scaler;
}

} // namespace

Result<Settings> readSettings(const config::Stage &stage, int worldSize)
{
    if (const auto built = refuseUnbuilt(stage, worldSize); !built)
        return built.error();
    Settings settings;
    settings.compat = stage.string("compat") == "opensora" ? Compat::OpenSora : Compat::None;
    settings.dtypeName = stage.string("dtype");
    const auto dtype = dtypeByName(settings.dtypeName);
    if (!dtype)
        return usage(stage.at("dtype"), "config.choice", "dtype '" + settings.dtypeName + "' cannot be trained in: use bf16, fp16 or fp32");
    settings.dtype = *dtype;
    settings.seed = std::uint64_t(stage.integer("seed"));
    settings.epochs = stage.integer("epochs");
    settings.maxSteps = stage.integer("max_train_steps");
    settings.accumulation = stage.integer("accumulation_steps");
    settings.gradClip = stage.number("grad_clip");
    settings.onNonFinite = stage.string("on_nonfinite") == "stop" ? OnNonFinite::Stop : OnNonFinite::Skip;

    settings.sigmaMin = stage.number("sigma_min");
    settings.guidance = stage.number("guidance");
    settings.patch = stage.integer("patch_size");
    settings.causal = stage.boolean("is_causal_vae");
    if (stage.isSet("condition_config")) {
        auto table = conditionTable(stage.at("condition_config").dict());
        if (!table)
            return table.error();
        settings.conditions = std::move(*table);
    }
    if (stage.isSet("dropout_ratio"))
        settings.dropout = TextDropout{stage.number("dropout_ratio.t5"), stage.number("dropout_ratio.clip")};
    settings.skipReferenceLoss = stage.boolean("no_i2v_ref_loss");

    settings.lr = stage.number("optim.lr");
    settings.adam = adamSettings(stage);
    settings.warmupSteps = optionalInteger(stage, "warmup_steps");
    settings.cosine = stage.boolean("use_cosine_scheduler");
    if (settings.cosine && !settings.warmupSteps)
        return usage(stage.at("use_cosine_scheduler"), "config.cosine-warmup", "use_cosine_scheduler needs warmup_steps: set it, 0 for a decay from the first step on");
    settings.initialLr = optionalNumber(stage, "initial_lr");
    settings.updateWarmup = stage.boolean("update_warmup_steps");
    settings.scaler = scalerSettings(stage);
    settings.emaDecay = optionalNumber(stage, "ema_decay");

    settings.ckptEvery = stage.integer("ckpt_every");
    settings.stopOnSaveError = stage.string("on_save_error") == "stop";
    settings.loadMasterWeights = stage.boolean("load_master_weights");
    settings.startEpoch = optionalInteger(stage, "start_epoch");
    settings.startStep = optionalInteger(stage, "start_step");

    settings.offloadElements = stage.integer("grad_ckpt_buffer_size");
    settings.overflow = stage.string("grad_ckpt_buffer_overflow") == "error" ? memory::OverflowPolicy::Error : memory::OverflowPolicy::Keep;
    if (const auto limit = optionalNumber(stage, "memory_limit"))
        settings.memoryLimitBytes = std::int64_t(*limit * kGiB);

    if (stage.boolean("model.cond_embed") && settings.conditions.empty()) {
        return usage(stage.at("model.cond_embed"), "config.condition", "model.cond_embed asks for image conditions, but condition_config is not set: give it weights "
                     "({\"t2v\": 1} conditions on nothing), or turn cond_embed off");
    }
    return settings;
}

} // namespace stagewright::train
