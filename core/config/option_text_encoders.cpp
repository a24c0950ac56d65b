#include "core/config/option_list.h"

namespace stagewright::config {

namespace {

// Both encoders know the same keys; texts differ by the encoder's name only where that helps.
struct EncoderPaths {
    std::string_view section, type, pretrained, maxLength, hidden, cache, shardformer, revision, localOnly;
};

std::vector<Option> keysOfBoth(const EncoderPaths &p, Text title, Text help, int maxLength, int hidden)
{
    const OnlyWith learned{p.type, {"text_embedder"}}, hashed{p.type, {"hashed"}};
    const Text hub{"nothing is downloaded; from_pretrained is a folder on this machine", "本程序不下载任何内容，from_pretrained 是本机文件夹"};
    return {
        {.path = p.section, .type = OptionType::Dict, .group = "encoders", .label = title, .help = help},
        {.path = p.type, .type = OptionType::Choice, .fallback = "text_embedder", .choices = {"text_embedder", "hashed"}, .group = "encoders",
            .label = {"Kind", "类型"},
            .help = {"text_embedder: the learned encoder from from_pretrained. hashed: built in, a fixed vector for each word, needs no download.",
                "text_embedder：由 from_pretrained 指定的预训练编码器；hashed：内置，每个词对应一个固定向量，无需下载。"}},
        {.path = p.pretrained, .type = OptionType::Path, .nullable = true, .group = "encoders",
            .label = {"Encoder weights", "编码器权重"}, .help = {"Folder with weights and tokenizer.", "包含权重和分词器的文件夹。"},
            .trap = {"The original tells CLIP from T5 by the letters \"openai\" in this path; here the section decides.", "原版靠路径中是否含有“openai”来区分 CLIP 与 T5；本程序以所在小节为准。"},
            .onlyWith = learned},
        {.path = p.maxLength, .type = OptionType::Int, .fallback = maxLength, .hardMin = 1, .hardMax = 4096, .group = "encoders",
            .label = {"Text tokens", "文本 token 数"}, .help = {"Captions are cut or padded to this many tokens.", "描述会被截断或填充到这么多 token。"}},
        {.path = p.hidden, .type = OptionType::Int, .fallback = hidden, .hardMin = 1, .hardMax = 65536, .group = "encoders", .tier = Tier::Advanced,
            .label = {"Vector size", "向量长度"}, .help = {"Length of the vectors that the built-in encoder gives; must equal the model's input.", "内置编码器输出的向量长度，须与模型输入一致。"},
            .onlyWith = hashed},
        {.path = p.cache, .type = OptionType::Path, .nullable = true, .group = "encoders", .tier = Tier::Debug, .keyClass = KeyClass::NotApplicable,
            .label = {"Download cache", "下载缓存"}, .help = {"Where the original keeps downloaded weights.", "原版存放下载权重的位置。"}, .changesResults = false, .reason = hub},
        {.path = p.shardformer, .type = OptionType::Bool, .fallback = false, .group = "encoders", .tier = Tier::Debug, .keyClass = KeyClass::NotApplicable,
            .label = {"Fused kernels", "融合算子"}, .help = {"Replaces parts of T5 by ColossalAI's fused kernels.", "用 ColossalAI 的融合算子替换 T5 的部分计算。"}, .changesResults = false,
            .reason = {"the fused kernels belong to ColossalAI; the result is the same without them", "融合算子属于 ColossalAI；不用它结果相同"}},
        {.path = p.revision, .type = OptionType::String, .nullable = true, .group = "encoders", .tier = Tier::Debug, .keyClass = KeyClass::NotApplicable,
            .label = {"Hub revision", "仓库版本"}, .help = {"Version of the weights on a model hub.", "模型仓库中的权重版本。"}, .reason = hub},
        {.path = p.localOnly, .type = OptionType::Bool, .fallback = false, .group = "encoders", .tier = Tier::Debug, .keyClass = KeyClass::NotApplicable,
            .label = {"No download", "禁止下载"}, .help = {"Keeps the original from downloading.", "禁止原版下载文件。"}, .changesResults = false, .reason = hub},
    };
}

} // namespace

std::vector<Option> textEncoderOptions()
{
    std::vector<Option> options = keysOfBoth({"t5", "t5.type", "t5.from_pretrained", "t5.max_length", "t5.hidden_size", "t5.cache_dir", "t5.shardformer",
                                                 "t5.revision", "t5.local_files_only"},
        {"Text encoder (T5)", "文本编码器（T5）"},
        {"Gives a vector for every token of the caption. Needed unless cached_text is on.", "为描述中的每个 token 给出一个向量。除非开启 cached_text，否则必需。"}, 512, 4096);
    const auto clip = keysOfBoth({"clip", "clip.type", "clip.from_pretrained", "clip.max_length", "clip.hidden_size", "clip.cache_dir", "clip.shardformer",
                                     "clip.revision", "clip.local_files_only"},
        {"Text encoder (CLIP)", "文本编码器（CLIP）"},
        {"Gives one vector for the whole caption. Needed unless cached_text is on.", "为整段描述给出一个向量。除非开启 cached_text，否则必需。"}, 77, 768);
    options.insert(options.end(), clip.begin(), clip.end());
    return options;
}

} // namespace stagewright::config
