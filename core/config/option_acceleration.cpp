#include "core/config/option_list.h"

namespace stagewright::config {

namespace {

constexpr Text kColossalOnly{"it tunes a kernel or a communication path of ColossalAI that does not exist here", "它用于调节 ColossalAI 的算子或通信路径，本程序没有对应部分"};
const OnlyWith kZero{"plugin", {"zero1", "zero2"}};

} // namespace

std::vector<Option> accelerationOptions()
{
    return {
        {.path = "plugin", .type = OptionType::Choice, .fallback = "zero2", .choices = {"zero1", "zero2", "hybrid"}, .group = "acceleration",
            .label = {"Distribution", "分布式方式"},
            .help = {"zero1: optimizer state is divided among processes. zero2: gradients too. hybrid: with sequence, tensor and pipeline parallelism.",
                "zero1：优化器状态分摊到各进程；zero2：梯度也分摊；hybrid：再加序列、张量与流水线并行。"},
            .aliases = {"zero_stage"},
            .trap = {"Each plugin has its own keys in plugin_config; those of another plugin make the original fail.", "每种方式在 plugin_config 中有各自的键；混用其他方式的键会使原版失败。"}},
        {.path = "plugin_config", .type = OptionType::Dict, .fallback = Value::dict({}), .group = "acceleration", .tier = Tier::Advanced,
            .label = {"Distribution details", "分布式细节"}, .help = {"Settings of the chosen distribution.", "所选分布式方式的设置。"}},
        {.path = "plugin_config.reduce_bucket_size_in_m", .type = OptionType::Int, .fallback = 20, .unit = Unit::MebiElements, .hardMin = 1, .softMax = 1024,
            .group = "acceleration", .tier = Tier::Advanced,
            .label = {"Gradient bucket", "梯度桶大小"}, .help = {"Gradients are averaged among processes in pieces of this many Mi elements.", "梯度在进程间按此大小分块求平均，单位为 Mi 个元素。"},
            .changesResults = false, .trap = {"Elements, not bytes: 128 is 256 MiB in bf16.", "单位是元素而非字节：128 在 bf16 下是 256 MiB。"}},
        {.path = "plugin_config.overlap_allgather", .type = OptionType::Bool, .fallback = true, .group = "acceleration", .tier = Tier::Advanced,
            .label = {"Gather while computing", "收集与计算重叠"}, .help = {"Updated weights are gathered while the next forward pass begins.", "在下一次前向计算开始时收集更新后的权重。"}, .changesResults = false},
        {.path = "plugin_config.overlap_communication", .type = OptionType::Bool, .fallback = true, .group = "acceleration", .tier = Tier::Advanced,
            .label = {"Average while computing", "通信与计算重叠"}, .help = {"Gradients are averaged while the backward pass goes on.", "在反向计算进行的同时平均梯度。"}, .changesResults = false},
        {.path = "plugin_config.cpu_offload", .type = OptionType::Bool, .fallback = false, .group = "acceleration", .tier = Tier::Advanced,
            .label = {"Optimizer on the host", "优化器放到主机内存"}, .help = {"Optimizer state and masters live in host memory and are updated there.", "优化器状态与主权重存放在主机内存并在其中更新。"},
            .changesResults = false},
        {.path = "plugin_config.master_weights", .type = OptionType::Bool, .fallback = true, .group = "acceleration", .tier = Tier::Advanced,
            .label = {"fp32 masters", "fp32 主权重"}, .help = {"Keeps an fp32 copy of the weights for the update.", "为参数更新保留一份 fp32 权重。"}, .onlyWith = kZero},
        {.path = "plugin_config.precision", .type = OptionType::String, .nullable = true, .group = "acceleration", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Precision", "精度"}, .help = {"Overrides dtype in the plugin only.", "仅在插件中覆盖 dtype。"},
            .reason = {"set dtype instead; two different values make no sense", "请改用 dtype；两处取不同的值没有意义"}},
        {.path = "plugin_config.max_norm", .type = OptionType::Float, .fallback = 0, .hardMin = 0, .group = "acceleration", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Gradient limit", "梯度上限"}, .help = {"Overrides grad_clip in the plugin.", "在插件中覆盖 grad_clip。"},
            .reason = {"set grad_clip instead", "请改用 grad_clip"}},
        {.path = "plugin_config.initial_scale", .type = OptionType::Float, .fallback = 65536, .hardMin = 1, .group = "acceleration", .tier = Tier::Debug,
            .label = {"First loss scale", "初始损失缩放"}, .help = {"fp16 only: factor on the loss at the start.", "仅用于 fp16：开始时损失的缩放倍数。"}},
        {.path = "plugin_config.min_scale", .type = OptionType::Float, .fallback = 1, .hardMin = 0, .group = "acceleration", .tier = Tier::Debug,
            .label = {"Smallest loss scale", "最小损失缩放"}, .help = {"fp16 only: the scale never falls below this.", "仅用于 fp16：缩放倍数的下限。"}},
        {.path = "plugin_config.max_scale", .type = OptionType::Float, .fallback = 4294967296.0, .hardMin = 1, .group = "acceleration", .tier = Tier::Debug,
            .label = {"Largest loss scale", "最大损失缩放"}, .help = {"fp16 only: the scale never rises above this.", "仅用于 fp16：缩放倍数的上限。"}},
        {.path = "plugin_config.growth_factor", .type = OptionType::Float, .fallback = 2, .hardMin = 1, .group = "acceleration", .tier = Tier::Debug,
            .label = {"Scale growth", "缩放增长倍数"}, .help = {"fp16 only: factor after growth_interval good steps.", "仅用于 fp16：连续若干正常步后的增长倍数。"}},
        {.path = "plugin_config.backoff_factor", .type = OptionType::Float, .fallback = 0.5, .hardMin = 0, .hardMax = 1, .group = "acceleration",
            .tier = Tier::Debug,
            .label = {"Scale back-off", "缩放回退倍数"}, .help = {"fp16 only: factor after an overflow.", "仅用于 fp16：溢出后的缩小倍数。"}},
        {.path = "plugin_config.growth_interval", .type = OptionType::Int, .fallback = 1000, .unit = Unit::Steps, .hardMin = 1, .group = "acceleration",
            .tier = Tier::Debug,
            .label = {"Steps between growth", "增长间隔"}, .help = {"fp16 only: good steps before the scale grows.", "仅用于 fp16：增长前所需的连续正常步数。"}},
        {.path = "plugin_config.hysteresis", .type = OptionType::Int, .fallback = 2, .hardMin = 1, .group = "acceleration", .tier = Tier::Debug,
            .label = {"Overflows tolerated", "容忍溢出次数"}, .help = {"fp16 only: overflows before the scale falls.", "仅用于 fp16：缩小前容忍的溢出次数。"}},
        {.path = "plugin_config.norm_type", .type = OptionType::Float, .fallback = 2.0, .hardMin = 0, .group = "acceleration", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Norm for clipping", "裁剪所用范数"}, .help = {"Order of the norm that grad_clip limits.", "grad_clip 所限制的范数阶数。"}, .reason = {"always the L2 norm", "始终使用 L2 范数"},
            .onlyWith = kZero},
        {.path = "plugin_config.communication_dtype", .type = OptionType::Any, .nullable = true, .group = "acceleration", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Format on the wire", "通信数值格式"}, .help = {"Number format in which gradients travel.", "梯度传输时的数值格式。"},
            .reason = {"it is a Torch object, not a config value", "它是 Torch 对象，而非配置值"}},
        {.path = "plugin_config.verbose", .type = OptionType::Bool, .fallback = false, .group = "acceleration", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Chatty plugin", "插件详细日志"}, .help = {"More log lines of the plugin.", "插件输出更多日志。"}, .changesResults = false, .reason = kColossalOnly, .onlyWith = kZero},
        {.path = "plugin_config.cast_inputs", .type = OptionType::Bool, .fallback = false, .group = "acceleration", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Cast inputs", "转换输入"}, .help = {"Converts model inputs to dtype.", "把模型输入转换为 dtype。"},
            .reason = {"inputs always get the model's number format", "输入总会转换为模型的数值格式"}},
        {.path = "plugin_config.fp8_communication", .type = OptionType::Bool, .fallback = false, .group = "acceleration", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"8-bit communication", "8 位通信"}, .help = {"Sends gradients in 8 bits.", "以 8 位格式传输梯度。"}, .reason = kColossalOnly},
        {.path = "plugin_config.use_fp8", .type = OptionType::Bool, .fallback = false, .group = "acceleration", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"8-bit matrix products", "8 位矩阵乘法"}, .help = {"Computes linear layers in 8 bits.", "以 8 位格式计算线性层。"}, .reason = kColossalOnly},
        {.path = "plugin_config.extra_dp_size", .type = OptionType::Int, .fallback = 1, .hardMin = 1, .group = "acceleration", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Extra replicas", "额外副本数"}, .help = {"Groups of processes that each hold a full set of partitions.", "各自持有完整分片的进程组数。"}, .changesResults = false,
            .reason = kColossalOnly, .onlyWith = kZero},
    };
}

} // namespace stagewright::config
