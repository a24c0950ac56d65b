#include "core/config/option_list.h"

namespace stagewright::config {

std::vector<Option> loggingOptions()
{
    return {
        {.path = "log_every", .type = OptionType::Int, .fallback = 1, .unit = Unit::Steps, .hardMin = 1, .softMax = 1000, .group = "logging",
            .label = {"Log every", "日志间隔"},
            .help = {"Optimizer updates between two lines of the log and two points in TensorBoard. The run's history always has every step.",
                "两行日志、两个 TensorBoard 数据点之间的优化器更新次数。运行历史总是记录每一步。"},
            .effect = Effect::NextStep, .changesResults = false},
        {.path = "wandb", .type = OptionType::Bool, .fallback = false, .group = "logging", .tier = Tier::Advanced, .keyClass = KeyClass::NotApplicable,
            .label = {"Weights & Biases", "Weights & Biases"},
            .help = {"The original's switch for an online experiment tracker.", "原版用于在线实验跟踪的开关。"},
            .changesResults = false,
            .reason = {"runs are tracked in TensorBoard files and JSON Lines in the run's folder; nothing is sent anywhere",
                "运行情况记录在运行文件夹内的 TensorBoard 文件和 JSON Lines 中，不会向任何地方发送数据"}},
        {.path = "wandb_project", .type = OptionType::String, .fallback = "Open-Sora", .nullable = true, .group = "logging", .tier = Tier::Advanced,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Weights & Biases project", "Weights & Biases 项目"},
            .help = {"Project name for an online experiment tracker.", "在线实验跟踪所用的项目名称。"},
            .changesResults = false,
            .reason = {"runs are tracked in TensorBoard files and JSON Lines in the run's folder", "运行情况记录在运行文件夹内的 TensorBoard 文件和 JSON Lines 中"}},
        {.path = "record_time", .type = OptionType::Bool, .fallback = false, .group = "logging", .tier = Tier::Debug, .keyClass = KeyClass::NotApplicable,
            .label = {"Record timings", "记录耗时"},
            .help = {"The original's timers, which wait for the device at every mark.", "原版的计时器，每个计时点都会等待设备同步。"},
            .changesResults = false,
            .reason = {"the duration of every phase of every step is always recorded, without waiting for the device", "每一步各阶段的耗时总会被记录，且无需等待设备同步"}},
        {.path = "record_barrier", .type = OptionType::Bool, .fallback = false, .group = "logging", .tier = Tier::Debug, .keyClass = KeyClass::NotApplicable,
            .label = {"Barrier before timing", "计时前同步"},
            .help = {"Makes all ranks wait for each other before each timer.", "每次计时前让所有进程互相等待。"},
            .changesResults = false,
            .reason = {"timings are taken on each rank without barriers", "各进程独立计时，不设同步点"}},
        {.path = "nsys", .type = OptionType::Bool, .fallback = false, .group = "logging", .tier = Tier::Debug, .keyClass = KeyClass::NotApplicable,
            .label = {"Profiler range", "性能分析区间"},
            .help = {"Starts and stops a CUDA profiler around a few steps.", "在若干训练步前后启动和停止 CUDA 性能分析器。"},
            .changesResults = false,
            .reason = {"start the worker under the profiler instead", "请改为在性能分析器下启动训练进程"}},
        {.path = "nsys_warmup_steps", .type = OptionType::Int, .fallback = 2, .hardMin = 0, .group = "logging", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Profiler warm-up steps", "性能分析预热步数"},
            .help = {"Steps before the profiler starts.", "性能分析器启动之前的步数。"},
            .changesResults = false,
            .reason = {"start the worker under the profiler instead", "请改为在性能分析器下启动训练进程"}},
        {.path = "nsys_num_steps", .type = OptionType::Int, .fallback = 2, .hardMin = 0, .group = "logging", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Profiler steps", "性能分析步数"},
            .help = {"Steps that the profiler records.", "性能分析器记录的步数。"},
            .changesResults = false,
            .reason = {"start the worker under the profiler instead", "请改为在性能分析器下启动训练进程"}},
    };
}

} // namespace stagewright::config
