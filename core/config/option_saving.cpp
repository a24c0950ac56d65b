#include "core/config/option_list.h"

namespace stagewright::config {

std::vector<Option> savingOptions()
{
    return {
        {.path = "ckpt_every", .type = OptionType::Int, .fallback = 0, .unit = Unit::Steps, .hardMin = 0, .softMax = 10000, .group = "saving",
            .label = {"Save every", "保存间隔"}, .help = {"Optimizer updates between two checkpoints. 0: only at the end of the run and on request.", "两次保存检查点之间的优化器更新次数。0 表示只在训练结束或手动请求时保存。"},
            .effect = Effect::NextStep, .changesResults = false, .aliases = {"checkpointing_steps", "save_every", "checkpoint_every"},
            .trap = {"In the original nothing is saved at the end, so work since the last multiple is lost.", "原版在训练结束时不保存，最后一个整数倍之后的训练成果会丢失。"}},
        {.path = "async_io", .type = OptionType::Bool, .fallback = false, .group = "saving",
            .label = {"Save in the background", "后台保存"},
            .help = {"Training goes on while a checkpoint is written from a copy in host memory.", "训练继续进行，检查点由内存中的副本在后台写出。"},
            .effect = Effect::NextStep, .changesResults = false,
            .trap = {"Needs host memory for one copy of everything that is saved.", "需要能容纳全部保存内容的一份内存副本。"}},
        {.path = "keep_n_latest", .type = OptionType::Int, .fallback = -1, .hardMin = -1, .softMax = 100, .group = "saving",
            .label = {"Keep latest", "保留最新"}, .help = {"How many checkpoints of this run are kept. 0 or less: all. An older one goes only after the newer one has been read back.",
                "本次运行保留的检查点个数；小于等于 0 表示全部保留。只有新的检查点经读回校验后，才会删除旧的。"},
            .effect = Effect::NextStep, .changesResults = false, .aliases = {"checkpoints_total_limit", "save_total_limit"}},
        {.path = "keep_every", .type = OptionType::Int, .fallback = 0, .unit = Unit::Steps, .hardMin = 0, .group = "saving", .tier = Tier::Advanced,
            .label = {"Keep for good", "永久保留间隔"}, .help = {"Checkpoints whose step is a multiple of this are never deleted. 0: none.", "步数为此值整数倍的检查点永不删除。0 表示没有。"},
            .effect = Effect::NextStep, .changesResults = false},
        {.path = "save_master_weights", .type = OptionType::Bool, .fallback = false, .group = "saving", .tier = Tier::Advanced,
            .label = {"Save fp32 masters", "保存 fp32 主权重"}, .help = {"Writes the optimizer's fp32 copy of the weights. Outside fp32 training it is always written here, since without it a resume loses bits.",
                "写出优化器的 fp32 主权重。非 fp32 训练时本程序总会写出，否则恢复训练会损失精度。"},
            .changesResults = false},
        {.path = "load_master_weights", .type = OptionType::Bool, .fallback = false, .group = "saving", .tier = Tier::Advanced,
            .label = {"Load fp32 masters", "加载 fp32 主权重"}, .help = {"On a resume the weights are taken from the fp32 masters in the checkpoint.", "恢复训练时以检查点中的 fp32 主权重为准。"}},
        {.path = "on_save_error", .type = OptionType::Choice, .fallback = "continue", .choices = {"continue", "stop"}, .group = "saving", .tier = Tier::Advanced,
            .label = {"After a failed save", "保存失败后"}, .help = {"Whether training goes on after a save that failed. The failure is shown in any case, and nothing older is deleted.",
                "保存失败后训练是否继续。无论如何都会提示失败，且不会删除任何旧检查点。"},
            .changesResults = false},
        {.path = "on_low_disk", .type = OptionType::Choice, .fallback = "wait", .choices = {"wait", "stop", "skip"}, .group = "saving", .tier = Tier::Advanced,
            .label = {"Disk too small for a save", "磁盘空间不足时"}, .help = {"Before a save that would not fit: wait for room, stop the run, or skip this save.", "检查点放不下时：等待空间、停止运行，或跳过本次保存。"},
            .changesResults = false},
    };
}

} // namespace stagewright::config
