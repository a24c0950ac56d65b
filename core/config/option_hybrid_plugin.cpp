#include "core/config/option_list.h"

namespace stagewright::config {

namespace {

const OnlyWith kHybrid{"plugin", {"hybrid"}};

// Keys that only tune ColossalAI's own machinery: one line each.
Option colossal(std::string_view path, OptionType type, Value fallback, Text label, Text help)
{
    Option option;
    option.path = path;
    option.type = type;
    option.fallback = std::move(fallback);
    option.nullable = option.fallback.isNone();
    option.group = "acceleration";
    option.tier = Tier::Debug;
    option.keyClass = KeyClass::NotApplicable;
    option.label = label;
    option.help = help;
    option.changesResults = false;
    option.reason = {"it tunes a kernel or a communication path of ColossalAI that does not exist here", "它用于调节 ColossalAI 的算子或通信路径，本程序没有对应部分"};
    option.onlyWith = kHybrid;
    return option;
}

} // namespace

std::vector<Option> hybridPluginOptions()
{
    return {
        {.path = "plugin_config.tp_size", .type = OptionType::Int, .fallback = 1, .hardMin = 1, .softMax = 64, .group = "acceleration",
            .label = {"Tensor parallel", "张量并行"}, .help = {"Processes that share every matrix product; must divide the heads.", "共同完成每个矩阵乘法的进程数，须整除注意力头数。"}, .onlyWith = kHybrid},
        {.path = "plugin_config.pp_size", .type = OptionType::Int, .fallback = 1, .hardMin = 1, .softMax = 64, .group = "acceleration",
            .label = {"Pipeline stages", "流水线级数"}, .help = {"Processes among which the blocks are divided.", "把各块分摊到多少个进程。"}, .onlyWith = kHybrid},
        {.path = "plugin_config.sp_size", .type = OptionType::Int, .nullable = true, .hardMin = 1, .softMax = 64, .group = "acceleration",
            .label = {"Sequence parallel", "序列并行"}, .help = {"Processes among which the tokens of a sample are divided. Not set: 1.", "把一个样本的 token 分摊到多少个进程。未设置时为 1。"},
            .trap = {"Buckets with few image tokens fall back to whole sequences, so they need sp_size times the memory.", "图像 token 很少的桶会退回到整条序列，所需内存为 sp_size 倍。"},
            .onlyWith = kHybrid},
        {.path = "plugin_config.zero_stage", .type = OptionType::Int, .fallback = 0, .hardMin = 0, .hardMax = 2, .group = "acceleration",
            .label = {"ZeRO stage", "ZeRO 阶段"}, .help = {"0: nothing is divided. 1: optimizer state. 2: gradients too (not with a pipeline).", "0：不分摊；1：分摊优化器状态；2：梯度也分摊（不能与流水线同用）。"}, .changesResults = false, .onlyWith = kHybrid},
        {.path = "plugin_config.enable_sequence_parallelism", .type = OptionType::Bool, .fallback = false, .group = "acceleration",
            .label = {"Use sequence parallelism", "启用序列并行"}, .help = {"Switch for sp_size.", "sp_size 的开关。"}, .onlyWith = kHybrid},
        {.path = "plugin_config.sequence_parallelism_mode", .type = OptionType::Choice, .nullable = true,
            .choices = {"all_to_all", "ring_attn", "split_gather", "ring"}, .group = "acceleration",
            .label = {"Sequence parallel mode", "序列并行方式"}, .help = {"ring_attn: keys and values travel in a ring. all_to_all: heads are divided instead, so sp_size must divide them. Not set: all_to_all.",
                "ring_attn：键和值沿环传递；all_to_all：改为划分注意力头，sp_size 须整除头数。未设置时为 all_to_all。"}, .onlyWith = kHybrid},
        {.path = "plugin_config.num_microbatches", .type = OptionType::Int, .nullable = true, .hardMin = 1, .group = "acceleration", .tier = Tier::Advanced,
            .label = {"Micro-batches", "微批次数"}, .help = {"Pieces into which a batch is cut for the pipeline.", "流水线把一个批次切成多少份。"}, .onlyWith = kHybrid},
        {.path = "plugin_config.microbatch_size", .type = OptionType::Int, .nullable = true, .hardMin = 1, .group = "acceleration", .tier = Tier::Advanced,
            .label = {"Micro-batch size", "微批大小"}, .help = {"Samples of such a piece.", "每份的样本数。"}, .onlyWith = kHybrid},
        {.path = "plugin_config.pp_style", .type = OptionType::Choice, .fallback = "1f1b", .choices = {"1f1b", "interleaved", "zbv"}, .group = "acceleration",
            .tier = Tier::Advanced,
            .label = {"Pipeline order", "流水线调度"}, .help = {"Order of forward and backward pieces.", "前向与反向各份的执行次序。"}, .changesResults = false, .onlyWith = kHybrid},
        {.path = "plugin_config.zero_bucket_size_in_m", .type = OptionType::Int, .fallback = 12, .unit = Unit::MebiElements, .hardMin = 1,
            .group = "acceleration", .tier = Tier::Advanced,
            .label = {"Gradient bucket", "梯度桶大小"}, .help = {"As reduce_bucket_size_in_m, which it overrides.", "同 reduce_bucket_size_in_m，且优先于它。"}, .changesResults = false, .onlyWith = kHybrid},
        {.path = "plugin_config.inner_ring_size", .type = OptionType::Int, .nullable = true, .hardMin = 1, .group = "acceleration", .tier = Tier::Debug,
            .label = {"Inner ring", "内环大小"}, .help = {"Ring attention in two levels: size of the inner ring.", "双层环形注意力中内环的大小。"}, .changesResults = false, .onlyWith = kHybrid},
        colossal("plugin_config.static_graph", OptionType::Bool, false, {"Static graph", "静态图"}, {"Tells plain data parallelism that the graph never changes.", "告知普通数据并行计算图不变。"}),
        colossal("plugin_config.enable_all_optimization", OptionType::Bool, false, {"All kernels", "启用全部算子"}, {"Switches every fused kernel on.", "启用所有融合算子。"}),
        colossal("plugin_config.enable_fused_normalization", OptionType::Bool, false, {"Fused norms", "融合归一化"}, {"Fused layer norms.", "融合的层归一化。"}),
        colossal("plugin_config.enable_flash_attention", OptionType::Bool, false, {"Flash attention", "Flash 注意力"}, {"Flash attention in ColossalAI's models.", "ColossalAI 模型中的 Flash 注意力。"}),
        colossal("plugin_config.enable_jit_fused", OptionType::Bool, false, {"Fused by the compiler", "编译融合"}, {"Kernels fused by the compiler.", "由编译器融合的算子。"}),
        colossal("plugin_config.enable_sequence_overlap", OptionType::Bool, false, {"Overlap sequence traffic", "序列通信重叠"}, {"Overlaps the traffic of sequence parallelism.", "序列并行通信与计算重叠。"}),
        colossal("plugin_config.parallel_output", OptionType::Bool, true, {"Parallel output", "并行输出"}, {"Leaves the output divided.", "输出保持分片。"}),
        colossal("plugin_config.broadcast_buffers", OptionType::Bool, true, {"Broadcast buffers", "广播缓冲"}, {"Plain data parallelism: sends buffers to all.", "普通数据并行：向所有进程发送缓冲。"}),
        colossal("plugin_config.ddp_bucket_cap_mb", OptionType::Int, 25, {"DDP bucket", "DDP 桶大小"}, {"Plain data parallelism: bucket size in MB.", "普通数据并行的桶大小（MB）。"}),
        colossal("plugin_config.find_unused_parameters", OptionType::Bool, false, {"Unused parameters", "查找未用参数"}, {"Plain data parallelism: looks for parameters without gradient.", "普通数据并行：查找没有梯度的参数。"}),
        colossal("plugin_config.check_reduction", OptionType::Bool, false, {"Check reduction", "检查规约"}, {"Plain data parallelism: checks every reduction.", "普通数据并行：检查每次规约。"}),
        colossal("plugin_config.gradient_as_bucket_view", OptionType::Bool, false, {"Gradients in buckets", "梯度位于桶内"}, {"Plain data parallelism: gradients live in the buckets.", "普通数据并行：梯度直接存放在桶内。"}),
        colossal("plugin_config.custom_policy", OptionType::Any, Value(), {"Custom policy", "自定义策略"}, {"A Python object that divides the model.", "划分模型的 Python 对象。"}),
        colossal("plugin_config.num_model_chunks", OptionType::Int, 1, {"Model chunks", "模型分块数"}, {"Chunks per pipeline stage.", "每级流水线的模型分块数。"}),
        colossal("plugin_config.scheduler_nodes", OptionType::Any, Value(), {"Pipeline schedule", "流水线计划"}, {"An explicit schedule for zbv.", "zbv 的显式调度表。"}),
        colossal("plugin_config.num_layers_per_stage", OptionType::IntList, Value(), {"Layers per stage", "每级层数"}, {"Blocks of each pipeline stage.", "每级流水线的块数。"}),
        colossal("plugin_config.gradient_checkpoint_config", OptionType::Any, Value(), {"Checkpoint object", "检查点对象"}, {"A Python object; use model.grad_ckpt_settings.", "Python 对象；请改用 model.grad_ckpt_settings。"}),
        colossal("plugin_config.enable_metadata_cache", OptionType::Bool, true, {"Metadata cache", "元数据缓存"}, {"Caches shapes between pipeline stages.", "在流水线各级间缓存形状。"}),
        colossal("plugin_config.make_vocab_size_divisible_by", OptionType::Int, 64, {"Vocabulary padding", "词表对齐"}, {"Language models only.", "仅用于语言模型。"}),
        colossal("plugin_config.dp_outside", OptionType::Bool, true, {"Data parallel outside", "数据并行在外层"}, {"Order of the process mesh.", "进程网格的次序。"}),
        colossal("plugin_config.overlap_p2p", OptionType::Bool, true, {"Overlap pipeline traffic", "流水线通信重叠"}, {"Overlaps sends between stages.", "各级间的发送与计算重叠。"}),
    };
}

} // namespace stagewright::config
