#include "core/config/option_list.h"

namespace stagewright::config {

std::vector<Option> memoryOptions()
{
    return {
        {.path = "grad_checkpoint", .type = OptionType::Bool, .fallback = true, .group = "memory",
            .label = {"Gradient checkpointing", "梯度检查点"},
            .help = {"Master switch: checkpointed blocks keep only their inputs and are computed again in the backward pass. Saves most activation memory for about a third more time.",
                "总开关：被检查点化的块只保留输入，在反向传播时重新计算。以约三分之一的额外时间换取大部分激活内存。"},
            .changesResults = false,
            .trap = {"Off, it silences model.grad_ckpt_settings and the activation buffer.", "关闭后 model.grad_ckpt_settings 和激活缓冲区都不起作用。"}},
        {.path = "model.grad_ckpt_settings", .type = OptionType::IntPair, .nullable = true, .hardMin = -1000, .hardMax = 100000, .group = "memory",
            .label = {"Checkpointed blocks", "检查点化的块"},
            .help = {"(n, m): the first n double and the first m single blocks are checkpointed; more than there are means all. Not set or empty: all blocks. (0, 0): none.",
                "(n, m)：前 n 个双流块和前 m 个单流块使用检查点，超过总数即为全部。未设置或为空：全部；(0, 0)：一个也不用。"},
            .changesResults = false, .aliases = {"grad_ckpt_setting", "grad_checkpoint_settings", "gradient_checkpoint_settings"},
            .trap = {"Open-Sora's training guide spells it grad_ckpt_setting, which nothing reads; and it must stand inside model.",
                "Open-Sora 的训练指南误写为 grad_ckpt_setting，没有任何代码读取它；而且它必须写在 model 内。"}},
        {.path = "grad_ckpt_settings", .type = OptionType::IntPair, .nullable = true, .hardMin = -1000, .hardMax = 100000, .group = "memory",
            .tier = Tier::Advanced, .keyClass = KeyClass::Helper,
            .label = {"Checkpointed blocks (variable)", "检查点化的块（变量）"},
            .help = {"A variable of Open-Sora's config files from which model.grad_ckpt_settings is built. In a file it does nothing by itself; on the command line it sets both.",
                "Open-Sora 配置文件中的变量，用来构造 model.grad_ckpt_settings。写在文件中本身不起作用；在命令行上则同时设置两者。"},
            .changesResults = false, .aliases = {"grad_ckpt_setting"}, .writesThroughTo = "model.grad_ckpt_settings",
            .trap = {"A child file that changes only this variable changes nothing.", "子配置文件若只修改此变量，则不会有任何效果。"}},
        {.path = "grad_ckpt_buffer_size", .type = OptionType::Int, .fallback = 0, .unit = Unit::Elements, .hardMin = 0, .hardMax = 4e12, .group = "memory",
            .label = {"Activation buffer", "激活缓冲区"},
            .help = {"Page-locked host memory, per process, into which the inputs of checkpointed blocks are moved between forward and backward. Counted in elements of dtype; 0: off.",
                "每个进程的锁页内存，被检查点化的块的输入在前向与反向之间移到此处。以 dtype 的元素个数计；0 表示关闭。"},
            .changesResults = false,
            .trap = {"Elements, not bytes: 25 * 1024**3 is 50 GiB in bf16 and 100 GiB in fp32, for every process.",
                "单位是元素而非字节：25 * 1024**3 在 bf16 下是 50 GiB，在 fp32 下是 100 GiB，且每个进程各占一份。"}},
        {.path = "grad_ckpt_buffer_overflow", .type = OptionType::Choice, .fallback = "keep", .choices = {"keep", "error"}, .group = "memory",
            .tier = Tier::Advanced,
            .label = {"When the buffer is full", "缓冲区已满时"},
            .help = {"keep: what does not fit stays on the device, is counted and reported. error: training stops, as in the original.",
                "keep：放不下的部分留在设备上，并计数和报告。error：与原版一样停止训练。"},
            .changesResults = false},
        {.path = "memory_limit", .type = OptionType::Float, .nullable = true, .unit = Unit::GiB, .hardMin = 0, .softMax = 192, .group = "memory",
            .label = {"Device memory limit", "显存上限"},
            .help = {"Budget in GiB that the memory ledger enforces; a step that would exceed it ends the run with a sentence that says what took the memory.",
                "由内存账本强制执行的预算（GiB）；若某一步会超出预算，运行即结束并说明内存被什么占用。"},
            .changesResults = false},
        {.path = "pin_memory_cache_pre_alloc_numels", .type = OptionType::IntList, .nullable = true, .unit = Unit::Elements, .hardMin = 0, .hardMax = 1e12,
            .group = "memory", .tier = Tier::Advanced,
            .label = {"Page-locked data cache", "锁页数据缓存"},
            .help = {"Sizes, in elements of dtype, of page-locked host buffers in which batches wait for the device. One number a buffer.",
                "批次等待送往设备时所用的锁页内存缓冲区大小，以 dtype 的元素个数计，每个数对应一个缓冲区。"},
            .changesResults = false,
            .trap = {"Per process: the shipped configs lock 13.5 GiB on every rank.", "每个进程各占一份：Open-Sora 自带的配置会让每个进程锁定 13.5 GiB。"}},
    };
}

} // namespace stagewright::config
