#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/base/host.h"
#include "core/base/units.h"
#include "core/data/source.h"

namespace stagewright::data {

namespace {

Error usage(const char *code, const std::string &path, const std::string &message)
{
    Error error(ExitCode::Usage, code, message);
    error.problem.path = path;
    return error;
}

// Kinds of datasets that are known but not read yet.
std::optional<Error> unsupported(const config::Stage &stage)
{
    if (const std::string &type = stage.string("dataset.type"); type != "video_text" && type != "cached_video_text")
        return usage("config.not-built-yet", "dataset.type", "dataset.type " + type + " cannot train; use video_text");
    if (!stage.isSet("dataset.data_path"))
        return usage("config.missing-key", "dataset.data_path", "dataset.data_path is not set; name the .csv or .parquet table of your clips");
    return std::nullopt;
}

std::optional<Error> missingCacheColumn(const table::Table &table, const Cached &cached)
{
    for (const table::FileColumn column : {table::FileColumn::Latents, table::FileColumn::TextT5, table::FileColumn::TextClip}) {
        const bool needed = column == table::FileColumn::Latents ? cached.video : cached.text;
        if (needed && !table.hasColumn(column)) {
            const std::string file = table.file().string();
            return Error(ExitCode::Data, "data.missing-column", file + " has no column " + table::columnName(column) + ", which " + (column == table::FileColumn::Latents
                         ? "cached_video" : "cached_text") + " reads: the path of a file with one tensor for each row", file, 1);
        }
    }
    return std::nullopt;
}

Transform transformOf(const config::Stage &stage)
{
    if (!stage.isSet("dataset.transform_name"))
        return Transform::None;
    const std::string &name = stage.string("dataset.transform_name");
    if (name == "center")
        return Transform::Center;
    return name == "rand_size_crop" ? Transform::RandSizeCrop : Transform::ResizeCrop;
}

// Of all processes of this machine.
std::int64_t decoderMemory(const config::Stage &stage)
{
    constexpr std::int64_t kShareOfMachine = 8;
    return stage.isSet("decoder_memory") ? static_cast<std::int64_t>(stage.number("decoder_memory") * kGiB) : hostTotalBytes() / kShareOfMachine;
}

// As the launcher says.
std::int64_t processesHere()
{
    const char *text = std::getenv("LOCAL_WORLD_SIZE");
    std::int64_t processes = 1;
    if (text)
        std::from_chars(text, text + std::string_view(text).size(), processes);
    return std::max<std::int64_t>(processes, 1);
}

// Shapes that the transform cannot make would only turn every row into a bad one.
std::optional<Error> contradiction(const SourceOptions &options)
{
    for (const auto &resolution : options.rules.resolutions) {
        for (const auto &aspect : resolution.aspects) {
            if (options.transform == Transform::Center && aspect.height != aspect.width) {
                return usage("config.transform-needs-square", "dataset.transform_name", "dataset.transform_name center needs square buckets, and " + resolution.name
                             + " has " + aspect.name + "; use resize_crop, or the resolution " + resolution.name.substr(0, resolution.name.find('_')) + "_ar1:1");
            }
        }
        for (const auto &frames : resolution.frames) {
            if (options.transform == Transform::RandSizeCrop && frames.batchSize > 1) {
                return usage("config.transform-needs-single", "dataset.transform_name", "dataset.transform_name rand_size_crop gives each clip a size of its own, so it needs "
                             "batch size 1, and " + resolution.name + " with " + std::to_string(frames.frames) + " frames has " + std::to_string(frames.batchSize));
            }
        }
    }
    return std::nullopt;
}

} // namespace

Cached cachedOf(const config::Stage &stage)
{
    Cached cached;
    const auto parts = config::cachedParts(stage);
    cached.video = parts.video;
    cached.text = parts.text;
    const auto sizeOf = [&](std::string_view key) { return stage.at(key).type() == config::Type::Int ? stage.integer(key) : 0; };
    const std::int64_t patch = std::max<std::int64_t>(sizeOf("patch_size"), 1);
    cached.latentChannels = sizeOf("model.in_channels") / (patch * patch);
    cached.tokenWidth = sizeOf("model.context_in_dim");
    cached.pooledWidth = sizeOf("model.vec_in_dim");
    return cached;
}

Result<SourceOptions> sourceOptions(const config::Stage &stage, std::int64_t rank, std::int64_t worldSize)
{
    constexpr std::int64_t kBatchesPerWorker = 2;      // where prefetch_factor is not set
    if (const auto error = unsupported(stage))
        return *error;
    auto rules = table::bucketRules(stage);
    if (!rules)
        return rules.error();
    SourceOptions options;
    options.rules = std::move(*rules);
    options.transform = transformOf(stage);
    if (const auto error = contradiction(options))
        return *error;
    options.compat = stage.string("compat") == "opensora" ? Compat::OpenSora : Compat::None;
    options.motionScore = stage.boolean("dataset.vmaf");
    options.randSampleInterval = stage.isSet("dataset.rand_sample_interval") ? stage.integer("dataset.rand_sample_interval") : 0;
    options.seed = stage.integer("seed");
    options.rank = rank;
    options.worldSize = worldSize;
    options.workers = static_cast<int>(stage.integer("num_workers"));
    const std::int64_t perWorker = stage.isSet("prefetch_factor") ? stage.integer("prefetch_factor") : kBatchesPerWorker;
    options.decodeBudget = std::make_shared<media::DecodeBudget>(media::DecodeBudget::share(decoderMemory(stage), processesHere()));
    options.batchesAhead = static_cast<int>(std::max<std::int64_t>(perWorker * options.workers, 1));
    auto read = table::readTable(stage);
    if (!read)
        return read.error();
    options.table = std::move(*read);
    options.cached = cachedOf(stage);
    if (stage.isSet("encoding_cache")) {
        auto store = cache::Store::open(stage, options.table, options.rules);
        if (!store)
            return store.error();
        options.cached.store = std::move(*store);
    } else if (const auto error = missingCacheColumn(*options.table, options.cached)) {
        return *error;
    }
    return options;
}

} // namespace stagewright::data
