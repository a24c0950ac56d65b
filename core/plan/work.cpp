#include "core/plan/work.h"

#include <map>

#include "core/base/units.h"

namespace stagewright::plan {

namespace {

// Parameters of the learned encoders of Open-Sora 2.0 (encoder halves only where only those are loaded).
constexpr std::int64_t kHunyuanParameters = 246'478'803, kDeepCompressionParameters = 459'462'147;
constexpr std::int64_t kT5Parameters = 4'762'310'656, kClipParameters = 123'060'480;
constexpr std::int64_t kLearnedTile = 256;                 // pixels, its default sample_size
constexpr std::int64_t kBatchesPerWorker = 2;              // where prefetch_factor is not set
constexpr std::int64_t kPrefetchBytes = std::int64_t(1) << 30;

Problem note(const config::Stage &stage, std::string path, std::string message)
{
    Problem problem;
    problem.severity = Severity::Warning;
    problem.code = "memory.planned-as";
    problem.message = std::move(message);
    const auto &value = stage.at(path);
    problem.file = value.origin.fileName();
    problem.line = value.origin.line;
    problem.path = std::move(path);
    return problem;
}

// Features that a plan leaves out, so that the trainer's own settings can be read.
config::Stage withoutUnbuilt(const config::Stage &stage, Problems &notes)
{
    config::Stage plain = stage;
    const auto drop = [&](const char *path, const std::string &how) {
        notes.push_back(note(stage, path, std::string(path) + " " + how));
        plain.values().remove(path);
    };
    if (stage.isSet("lora_config"))
        drop("lora_config", "is not planned yet: the figures are those of training all weights, an adapter takes less");
    if (stage.boolean("cached_video"))
        drop("cached_video", "means that no autoencoder is loaded: its memory is left out");
    if (stage.isSet("encoding_cache"))
        drop("encoding_cache", "means that no encoder is loaded for what it holds: their memory is left out");
    if (stage.boolean("cached_text"))
        drop("cached_text", "means that no text encoder is loaded: its memory is left out");
    return plain;
}

bool isHashed(const config::Stage &stage, const char *path)
{
    const auto &type = stage.at(path);
    return type.type() == config::Type::String && type.string() == "hashed";
}

EncoderWork encodersOf(const config::Stage &stage, const model::MmditConfig &model, Problems &notes)
{
    EncoderWork work;
    const auto &type = stage.at("ae.type");
    const std::string name = type.type() == config::Type::String ? type.string() : std::string();
    const auto geometry = config::latentGeometry(stage);
    work.haar = name == "haar";
    work.timeRatio = geometry.timeRatio;
    work.spaceRatio = geometry.spaceRatio;
    work.latentChannels = model.inChannels / (model.patchSize * model.patchSize);
    const auto cached = config::cachedParts(stage);
    if (!work.haar && !cached.video) {
        work.autoencoderParameters = name == "dc_ae" ? kDeepCompressionParameters : kHunyuanParameters;
        work.tilePixels = kLearnedTile;
        notes.push_back(note(stage, "ae.type", "the autoencoder " + name + " enters the plan by its weights and an estimate of its widest layer, within 15 % of the encode phase"));
    }
    work.hashedTokens = isHashed(stage, "t5.type");
    work.hashedPooled = isHashed(stage, "clip.type");
    work.tokenWidth = model.contextInDim;
    work.tokenLength = std::max<std::int64_t>(1, stage.integer("t5.max_length"));
    work.pooledWidth = model.vecInDim;
    work.pooledLength = work.hashedPooled ? stage.integer("clip.max_length") : 77;
    if (!cached.text) {
        work.tokenParameters = work.hashedTokens ? 0 : kT5Parameters;
        work.pooledParameters = work.hashedPooled ? 0 : kClipParameters;
    }
    return work;
}

Result<Division> divisionOf(const config::Stage &stage, std::int64_t world, Problems &notes)
{
    Division division;
    const std::string plugin = stage.isSet("plugin") ? stage.string("plugin") : std::string();
    std::int64_t tensor = 1;
    if (plugin == "hybrid") {
        if (stage.boolean("plugin_config.enable_sequence_parallelism"))
            division.sequence = std::max<std::int64_t>(1, stage.integer("plugin_config.sp_size"));
        tensor = std::max<std::int64_t>(1, stage.integer("plugin_config.tp_size")) * std::max<std::int64_t>(1, stage.integer("plugin_config.pp_size"));
        division.zero = stage.integer("plugin_config.zero_stage");
    } else if (plugin == "zero1" || plugin == "zero2") {
        division.zero = plugin == "zero1" ? 1 : 2;
    }
    if (tensor > 1)
        notes.push_back(note(stage, "plugin_config.tp_size", "tensor and pipeline parallelism are not planned: the figures are those of whole layers in every process"));
    division.world = world > 0 ? world : division.sequence;
    if (division.world % division.sequence != 0) {
        return Error(ExitCode::Usage, "config.world-size", "plugin_config.sp_size " + std::to_string(division.sequence) + " does not divide " + std::to_string(division.world) +
                     " processes: give --world-size a multiple of it");
    }
    return division;
}

// 0 where the table is not valid: worstShapes() says so.
std::int64_t largestBatch(const config::Stage &stage)
{
    std::int64_t largest = 0;
    const auto rows = config::bucketRows(stage);
    if (!rows)
        return 0;
    std::map<std::string, std::int64_t> areas;         // the largest of a resolution's sizes
    for (const auto &row : *rows) {
        if (row.probability <= 0 || row.batchSize < 1)
            continue;
        const auto [area, isNew] = areas.try_emplace(row.resolution);
        if (isNew) {
            for (const auto &size : config::aspectTable(row.resolution, config::aspectGranularity(stage)))
                area->second = std::max(area->second, std::int64_t(size.height) * size.width);
        }
        largest = std::max(largest, std::int64_t(row.batchSize) * 3 * row.frames * area->second * std::int64_t(sizeof(float)));
    }
    return largest;
}

} // namespace

Result<Work> workOf(const config::Stage &stage, torch::DeviceType device, std::int64_t world, Problems &notes)
{
    const config::Stage plain = withoutUnbuilt(stage, notes);
    auto settings = train::readSettings(plain, 1);
    if (!settings)
        return settings.error();
    auto model = model::mmditConfig(plain);
    if (!model)
        return model.error();
    auto depth = model::checkpointDepth(plain);
    if (!depth)
        return depth.error();
    if (model->patchSize != settings->patch || model->inChannels % (model->patchSize * model->patchSize) != 0) {
        const auto &value = plain.at("model.in_channels");
        return Error(ExitCode::Usage, "config.patch-size", "model.in_channels " + std::to_string(model->inChannels) + ", model.patch_size " + std::to_string(model->patchSize) +
                     " and patch_size " + std::to_string(settings->patch) + " do not fit together: in_channels is the latent channels times patch_size squared", value.origin.fileName(),
                     value.origin.line);
    }
    auto division = divisionOf(plain, world, notes);
    if (!division)
        return division.error();
    Work work;
    work.settings = std::move(*settings);
    work.settings.accumulation = std::min<std::int64_t>(work.settings.accumulation, 2);
    work.model = *model;
    work.depth = depth->depth;
    work.bufferElements = depth->depth == memory::CheckpointDepth{} ? 0 : work.settings.offloadElements;
    work.encoders = encodersOf(stage, *model, notes);
    work.division = *division;
    work.device = device;
    const std::int64_t workers = plain.integer("num_workers"), perWorker = plain.isSet("prefetch_factor") ? plain.integer("prefetch_factor") : kBatchesPerWorker;
    work.prefetchBatches = workers > 0 ? std::max<std::int64_t>(1, workers * perWorker) : 0;
    work.prefetchBytes = kPrefetchBytes;
    work.largestBatchBytes = largestBatch(stage);
    work.asyncSave = plain.boolean("async_io");
    const auto &cache = plain.at("pin_memory_cache_pre_alloc_numels");
    if (cache.isSequence()) {
        for (const auto &size : cache.items())
            work.pinnedCacheElements += size.type() == config::Type::Int ? size.integer() : 0;
    }
    if (stage.boolean("plugin_config.cpu_offload"))
        notes.push_back(note(stage, "plugin_config.cpu_offload", "plugin_config.cpu_offload does not move optimizer states to the host in this version: they are counted on the device"));
    return work;
}

Result<std::vector<ClipShape>> worstShapes(const config::Stage &stage)
{
    auto rows = config::bucketRows(stage);
    if (!rows)
        return rows.error();
    const auto geometry = config::latentGeometry(stage);
    const int granularity = config::aspectGranularity(stage);
    std::vector<ClipShape> shapes;
    std::string resolution;
    std::vector<config::AspectSize> sizes;
    for (const auto &row : *rows) {
        if (row.probability <= 0 || row.batchSize < 1)
            continue;
        if (row.resolution != resolution) {
            sizes = config::aspectTable(row.resolution, granularity);
            resolution = row.resolution;
        }
        const config::AspectSize *worst = nullptr;
        std::int64_t tokens = 0, pixels = 0;
        for (const auto &size : sizes) {
            const auto these = config::imageTokens(row.frames, size.height, size.width, geometry);
            const auto area = std::int64_t(size.height) * size.width;
            if (these > tokens || (these == tokens && area > pixels)) {
                worst = &size;
                tokens = these;
                pixels = area;
            }
        }
        if (!worst) {
            return Error(ExitCode::Usage, "config.resolution", "bucket_config: " + row.resolution + " stands for no size of clips, so there is nothing to plan; 256px, 480p or "
                         "256px_ar16:9 are such names");
        }
        shapes.push_back({row.resolution, worst->name, row.frames, worst->height, worst->width, row.batchSize, row.probability});
    }
    if (shapes.empty())
        return Error(ExitCode::Usage, "config.no-bucket", "bucket_config has no bucket with a probability above 0, so there is no step to plan");
    return shapes;
}

namespace {

std::int64_t allImageTokens(const Work &work, const ClipShape &shape)
{
    const auto &e = work.encoders;
    const std::int64_t frames = (shape.frames - 1) / e.timeRatio + 1, rows = (shape.height - 1) / e.spaceRatio + 1, columns = (shape.width - 1) / e.spaceRatio + 1;
    const auto patch = work.model.patchSize;
    return frames * (rows / patch) * (columns / patch);
}

std::int64_t partOf(std::int64_t tokens, std::int64_t parts)
{
    return (tokens + parts - 1) / parts;
}

} // namespace

std::int64_t imageTokens(const Work &work, const ClipShape &shape) { return partOf(allImageTokens(work, shape), work.division.sequence); }
std::int64_t textTokens(const Work &work, const ClipShape &) { return partOf(work.encoders.tokenLength, work.division.sequence); }

} // namespace stagewright::plan
