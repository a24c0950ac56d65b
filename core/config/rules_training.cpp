#include "core/config/rules.h"

namespace stagewright::config {

namespace {

void checkSchedule(const Stage &stage, const Facts &facts, Findings &findings)
{
    const bool warmup = stage.isSet("warmup_steps");
    if (facts.isOn("use_cosine_scheduler") && !warmup)
        findings.error("config.cosine-without-warmup", "use_cosine_scheduler", "use_cosine_scheduler needs warmup_steps (0 for none)")
            .fix = setTo(stage, "Set warmup_steps to 0", "warmup_steps", Value(0));
    else if (facts.isOn("update_warmup_steps") && !warmup)
        findings.warning("config.schedule-without-warmup", "update_warmup_steps", "update_warmup_steps needs warmup_steps; the original stops at a resume without it")
            .fix = setTo(stage, "Set warmup_steps to 0", "warmup_steps", Value(0));
    if (stage.isSet("initial_lr") && facts.integer("warmup_steps").value_or(0) == 0)
        findings.hint("config.unused-value", "initial_lr", "initial_lr has no effect without warmup_steps");
    const auto last = facts.integer("max_train_steps"), warm = facts.integer("warmup_steps");
    if (last && warm && *last > 0 && *warm >= *last)
        findings.warning("config.warmup-too-long", "warmup_steps", "warmup_steps " + std::to_string(*warm) + " is not over when training ends at step " + std::to_string(*last)
                + ", so the learning rate never reaches its value");
}

void checkOptimizer(const Stage &stage, const Facts &facts, Findings &findings)
{
    const Value &betas = stage.at("optim.betas");
    if (betas.isSequence()) {
        bool valid = betas.items().size() == 2;
        for (const Value &beta : betas.items())
            valid = valid && (!beta.isNumber() || (beta.number() >= 0 && beta.number() < 1));
        if (!valid)
            findings.error("config.betas", "optim.betas", "optim.betas must be two numbers from 0 to below 1, not " + toPython(betas))
                .fix = setTo(stage, "Set to (0.9, 0.999)", "optim.betas", findOption("optim.betas")->fallback);
    }
    if (facts.dict("optim") && facts.number("optim.lr") == 0.0)
        findings.warning("config.no-learning", "optim.lr", "optim.lr is 0, so no weight ever changes");
    if (facts.dict("optim") && !lookUp(stage.values(), "optim.lr") && !stage.isSet("lr"))
        findings.hint("config.default-used", "optim.lr", "optim.lr is not set, so 0.001 is used, 20 to 100 times what Open-Sora's stages use");
    if (stage.isSet("lora_config") && stage.isSet("ema_decay"))
        findings.warning("config.ema-with-lora", "ema_decay", "ema_decay has no effect while an adapter is trained (lora_config)");
    if (facts.number("ema_decay") == 1.0)
        findings.warning("config.ema-frozen", "ema_decay", "with ema_decay 1 the average never leaves its start");
}

void checkResume(const Stage &stage, const Facts &facts, Findings &findings)
{
    const bool loads = stage.isSet("load");
    for (const char *path : {"start_step", "start_epoch"}) {
        if (!loads && facts.integer(path).value_or(0) > 0)
            findings.warning("config.start-without-load", path, std::string(path) + " without load only skips data: training starts from the beginning otherwise");
    }
    if (loads && stage.isSet("model.from_pretrained"))
        findings.hint("config.two-weight-sources", "load", "both load and model.from_pretrained are set; the checkpoint's weights are what is used");
}

void checkSaving(const Facts &facts, Findings &findings)
{
    const std::int64_t every = facts.integer("ckpt_every").value_or(0), keep = facts.integer("keep_every").value_or(0), last = facts.integer("max_train_steps").value_or(0);
    if (every > 0 && keep > 0 && keep % every != 0)
        findings.warning("config.keep-every", "keep_every", "keep_every " + std::to_string(keep) + " is no multiple of ckpt_every " + std::to_string(every)
                + ", so few or no checkpoints are kept for good");
    if (every > 0 && last > 0 && every > last)
        findings.hint("config.save-after-end", "ckpt_every", "ckpt_every " + std::to_string(every) + " is beyond max_train_steps " + std::to_string(last)
                + ": the only checkpoint is the one at the end");
}

} // namespace

void checkTraining(const Stage &stage, Findings &findings)
{
    const Facts facts(stage);
    checkSchedule(stage, facts, findings);
    checkOptimizer(stage, facts, findings);
    checkResume(stage, facts, findings);
    checkSaving(facts, findings);
}

} // namespace stagewright::config
