#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include <nlohmann/json.hpp>

#include "core/base/units.h"
#include "core/config/command_flags.h"

namespace stagewright::config {

namespace {

// The value at a path of keys, null where it is missing or "auto" (which DeepSpeed's callers fill in themselves).
const nlohmann::json *valueAt(const nlohmann::json &config, std::initializer_list<const char *> keys)
{
    const nlohmann::json *at = &config;
    for (const char *key : keys) {
        if (!at->is_object() || !at->contains(key))
            return nullptr;
        at = &(*at)[key];
    }
    return at->is_null() || (at->is_string() && at->get<std::string>() == "auto") ? nullptr : at;
}

std::optional<double> numberAt(const nlohmann::json &config, std::initializer_list<const char *> keys)
{
    const nlohmann::json *value = valueAt(config, keys);
    if (!value)
        return std::nullopt;
    if (value->is_number())
        return value->get<double>();
    if (!value->is_string())
        return std::nullopt;
    char *end = nullptr;
    const std::string text = value->get<std::string>();
    const double number = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == 0 ? std::optional(number) : std::nullopt;
}

bool isOn(const nlohmann::json &config, std::initializer_list<const char *> keys)
{
    const nlohmann::json *value = valueAt(config, keys);
    return value && value->is_boolean() && value->get<bool>();
}

std::string textAt(const nlohmann::json &config, std::initializer_list<const char *> keys)
{
    const nlohmann::json *value = valueAt(config, keys);
    return value && value->is_string() ? value->get<std::string>() : std::string();
}

std::string whole(double number)
{
    return std::to_string(static_cast<std::int64_t>(std::llround(number)));
}

void setStage(int stage, const std::string &flag, CommandSink &sink)
{
    if (stage == 0)
        sink.set(flag, "plugin", "zero1", "nothing is divided there; zero1 divides the optimizer state and gives the same weights");
    else if (stage == 1)
        sink.set(flag, "plugin", "zero1");
    else if (stage == 2)
        sink.set(flag, "plugin", "zero2");
    else
        sink.set(flag, "plugin", "zero2", "ZeRO stage 3, which divides the weights too, has no counterpart");
}

void setOffload(const std::string &device, const std::string &flag, CommandSink &sink)
{
    if (device == "cpu")
        sink.set(flag, "plugin_config.cpu_offload", "True");
    else if (device == "nvme")
        sink.set(flag, "plugin_config.cpu_offload", "True", "to host memory; there is no offload to a disk");
    else if (!device.empty() && device != "none")
        sink.note(flag, "no counterpart for the device \"" + device + "\"");
}

} // namespace

void readDeepSpeed(const nlohmann::json &config, const std::string &source, CommandSink &sink)
{
    const auto flag = [&](const char *key) { return source + ": " + key; };
    if (isOn(config, {"bf16", "enabled"}) || isOn(config, {"bfloat16", "enabled"}))
        sink.set(flag("bf16.enabled"), "dtype", "bf16");
    if (isOn(config, {"fp16", "enabled"})) {
        sink.set(flag("fp16.enabled"), "dtype", "fp16");
        if (const auto power = numberAt(config, {"fp16", "initial_scale_power"}))
            sink.set(flag("fp16.initial_scale_power"), "plugin_config.initial_scale", whole(std::exp2(*power)));
        if (const auto window = numberAt(config, {"fp16", "loss_scale_window"}))
            sink.set(flag("fp16.loss_scale_window"), "plugin_config.growth_interval", whole(*window));
        if (const auto hysteresis = numberAt(config, {"fp16", "hysteresis"}))
            sink.set(flag("fp16.hysteresis"), "plugin_config.hysteresis", whole(*hysteresis));
        if (const auto scale = numberAt(config, {"fp16", "min_loss_scale"}))
            sink.set(flag("fp16.min_loss_scale"), "plugin_config.min_scale", whole(*scale));
    }
    if (const auto stage = numberAt(config, {"zero_optimization", "stage"}))
        setStage(static_cast<int>(*stage), flag("zero_optimization.stage"), sink);
    setOffload(textAt(config, {"zero_optimization", "offload_optimizer", "device"}), flag("zero_optimization.offload_optimizer"), sink);
    if (const std::string device = textAt(config, {"zero_optimization", "offload_param", "device"}); !device.empty() && device != "none")
        sink.note(flag("zero_optimization.offload_param"), "no counterpart: weights stay on the device");
    if (const auto size = numberAt(config, {"zero_optimization", "reduce_bucket_size"})) {
        constexpr double kMebi = 1024.0 * 1024.0;
        sink.set(flag("zero_optimization.reduce_bucket_size"), "plugin_config.reduce_bucket_size_in_m", whole(std::fmax(1, *size / kMebi)), "in Mi elements");
    }
    if (const nlohmann::json *overlap = valueAt(config, {"zero_optimization", "overlap_comm"}); overlap && overlap->is_boolean())
        sink.set(flag("zero_optimization.overlap_comm"), "plugin_config.overlap_communication", overlap->get<bool>() ? "True" : "False");
    if (const auto steps = numberAt(config, {"gradient_accumulation_steps"}))
        sink.set(flag("gradient_accumulation_steps"), "accumulation_steps", whole(*steps));
    if (const auto clip = numberAt(config, {"gradient_clipping"}))
        sink.set(flag("gradient_clipping"), "grad_clip", formatNumber(*clip));
    if (valueAt(config, {"communication_data_type"}))
        sink.note(flag("communication_data_type"), "no counterpart: gradients are averaged in fp32");
    if (valueAt(config, {"activation_checkpointing"}))
        sink.note(flag("activation_checkpointing"), "no counterpart: set model.grad_ckpt_settings");
    if (valueAt(config, {"optimizer"}))
        sink.note(flag("optimizer"), "no counterpart: the optimizer is the stage's optim");
    if (valueAt(config, {"scheduler"}))
        sink.note(flag("scheduler"), "no counterpart: the schedule is the stage's warmup_steps and use_cosine_scheduler");
}

void readAccelerateConfig(const nlohmann::json &config, const std::string &source, const std::filesystem::path &folder, CommandSink &sink)
{
    const auto flag = [&](const char *key) { return source + ": " + key; };
    if (const auto processes = numberAt(config, {"num_processes"})) {
        const int machines = static_cast<int>(numberAt(config, {"num_machines"}).value_or(1));
        sink.launch().nproc = static_cast<int>(*processes) / std::max(1, machines);
        sink.note(flag("num_processes"), "launch: " + std::to_string(sink.launch().nproc) + " processes a machine", true);
    }
    if (const auto machines = numberAt(config, {"num_machines"}))
        sink.launch().nodes = static_cast<int>(*machines);
    if (const auto rank = numberAt(config, {"machine_rank"}))
        sink.launch().nodeRank = static_cast<int>(*rank);
    if (const std::string address = textAt(config, {"main_process_ip"}); !address.empty())
        sink.launch().masterAddress = address;
    if (const auto port = numberAt(config, {"main_process_port"}))
        sink.launch().masterPort = static_cast<int>(*port);
    if (const std::string precision = textAt(config, {"mixed_precision"}); !precision.empty())
        sink.set(flag("mixed_precision"), "dtype", precision == "no" ? "fp32" : precision);

    if (const std::string file = textAt(config, {"deepspeed_config", "deepspeed_config_file"}); !file.empty()) {
        const auto deepSpeed = readConfigFile(file, folder);
        if (deepSpeed)
            readDeepSpeed(*deepSpeed, file, sink);
        else
            sink.note(flag("deepspeed_config_file"), "not read: " + deepSpeed.error().message());
    }
    if (const auto stage = numberAt(config, {"deepspeed_config", "zero_stage"}))
        setStage(static_cast<int>(*stage), flag("zero_stage"), sink);
    setOffload(textAt(config, {"deepspeed_config", "offload_optimizer_device"}), flag("offload_optimizer_device"), sink);
    if (const auto steps = numberAt(config, {"deepspeed_config", "gradient_accumulation_steps"}))
        sink.set(flag("gradient_accumulation_steps"), "accumulation_steps", whole(*steps));
    if (const auto clip = numberAt(config, {"deepspeed_config", "gradient_clipping"}))
        sink.set(flag("gradient_clipping"), "grad_clip", formatNumber(*clip));
    if (textAt(config, {"distributed_type"}) == "FSDP")
        sink.note(flag("distributed_type"), "FSDP has no counterpart; zero2 divides optimizer state and gradients");
}

} // namespace stagewright::config
