#include "core/config/option_list.h"

namespace stagewright::config {

std::vector<Option> bucketOptions()
{
    return {
        {.path = "bucket_config", .type = OptionType::BucketTable, .nullable = true, .required = true, .group = "buckets",
            .label = {"Buckets", "分桶表"},
            .help = {"For each resolution and frame count: the probability that a clip that fits is used there, and how many clips make a batch on one GPU. Large resolutions and long clips are tried first.",
                "按分辨率和帧数列出：合适的视频被分入该桶的概率，以及单块 GPU 上每批的视频数。优先尝试大分辨率和长视频。"},
            .trap = {"Batch sizes of published tables were tuned on cards with 80 GB and more. Without _delete_, a child file's table is merged into its base's.",
                "公开的分桶表是在 80 GB 及以上显存的卡上调出来的。子配置不写 _delete_ 时，其分桶表会并入基础配置的分桶表。"}},
        {.path = "ae_spatial_compression", .type = OptionType::Int, .nullable = true, .unit = Unit::Pixels, .hardMin = 1, .softMin = 8, .softMax = 64,
            .group = "buckets", .tier = Tier::Advanced,
            .label = {"Pixel granularity", "像素粒度"},
            .help = {"Heights and widths of all buckets are multiples of this: the autoencoder's compression times the patch size. Not set: 16. The high-compression autoencoder needs 32.",
                "所有桶的高和宽都是此值的整数倍，等于自编码器空间压缩率乘以 patch 大小。未设置时为 16；高压缩自编码器需要 32。"},
            .trap = {"In the original a leftover environment variable changes it silently; here only this key does.", "原版中残留的环境变量会悄悄改变它；本程序只认此键。"}},
        {.path = "num_bucket_build_workers", .type = OptionType::Int, .fallback = 1, .hardMin = 1, .softMax = 128, .group = "buckets", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Bucket workers", "分桶进程数"},
            .help = {"Processes that assign rows to buckets in the original.", "原版中把数据行分入各桶的进程数。"}, .changesResults = false,
            .reason = {"rows are assigned in one pass, without extra processes", "数据行一次遍历即可分完，无需额外进程"}},
        {.path = "batch_size", .type = OptionType::Int, .nullable = true, .hardMin = 1, .group = "buckets", .tier = Tier::Debug,
            .keyClass = KeyClass::NotApplicable,
            .label = {"Batch size", "批大小"},
            .help = {"Batch size of datasets without buckets.", "不分桶的数据集所用的批大小。"},
            .aliases = {"train_batch_size", "bs"},
            .trap = {"Video training takes its batch sizes from bucket_config.", "视频训练的批大小取自 bucket_config。"},
            .reason = {"batch sizes come from bucket_config, row by row", "批大小逐行取自 bucket_config"}},
    };
}

} // namespace stagewright::config
