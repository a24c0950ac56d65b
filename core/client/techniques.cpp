#include "core/client/techniques.h"

#include "core/base/text.h"
#include "core/config/activation_need.h"
#include "core/config/bucket_table.h"
#include "core/config/overrides.h"

namespace stagewright::client {

namespace {

using Checkpointing = Techniques::Checkpointing;
using Values = std::vector<events::PlanValue>;

constexpr const char *kBuffer = "grad_ckpt_buffer_size";

// What is varied: the bucket's row, and how many blocks there are.
struct Ground {
    config::Stage stage;                   // with the one bucket
    config::BucketRow row;
    std::string rowPath;
    config::CheckpointedBlocks blocks;
};

Result<Ground> groundOf(const config::Stage &stage, const std::string &bucket)
{
    Ground ground;
    ground.stage = config::withOnlyBucket(stage, bucket);
    const auto rows = config::bucketRows(ground.stage);
    if (!rows)
        return rows.error();
    if (rows->size() != 1 || rows->front().batchSize < 1 || events::bucketName(rows->front().resolution, rows->front().frames) != bucket)
        return Error(ExitCode::Usage, "memory.cannot-plan", "the stage has no bucket " + bucket + " that is trained; name one as 256px/129", "bucket_config");
    ground.row = rows->front();
    ground.rowPath = "bucket_config." + ground.row.resolution + "." + std::to_string(ground.row.frames);
    ground.blocks = config::checkpointedBlocks(ground.stage);
    if (ground.blocks.doubleTotal + ground.blocks.singleTotal == 0)
        return Error(ExitCode::Usage, "memory.cannot-plan", "the model has no blocks: there is nothing to checkpoint", "model.depth");
    return ground;
}

std::vector<Techniques> combinations(const Ground &ground)
{
    const bool canHalve = ground.blocks.doubleTotal / 2 + ground.blocks.singleTotal / 2 > 0;
    std::vector<Techniques> all;
    for (const bool bf16 : {false, true}) {
        for (const bool halfBatch : {false, true}) {
            for (const auto depth : {Checkpointing::None, Checkpointing::Half, Checkpointing::All}) {
                for (const bool offload : {false, true}) {
                    const bool differs = (depth != Checkpointing::Half || canHalve) && (depth != Checkpointing::None || !offload) && (!halfBatch || ground.row.batchSize > 1);
                    if (differs)
                        all.push_back({depth, offload, bf16, halfBatch});
                }
            }
        }
    }
    return all;
}

Result<config::Stage> changed(const config::Stage &stage, const Values &values)
{
    std::vector<config::Override> overrides;
    for (const auto &value : values)
        overrides.push_back({value.path, value.text, config::OriginKind::Edit});
    return config::overridden(stage, overrides);
}

// No block checkpointed is a depth of (0, 0): with grad_checkpoint off a depth that the stage sets would be an error.
Values valuesOf(const Ground &ground, const Techniques &techniques, std::int64_t batchSize)
{
    const auto depth = [&](int blocks) {
        return techniques.checkpointing == Checkpointing::None ? 0 : techniques.checkpointing == Checkpointing::Half ? blocks / 2 : blocks;
    };
    return {{"dtype", techniques.bf16 ? "bf16" : "fp32"},
            {ground.rowPath, "(1.0, " + std::to_string(batchSize) + ")"},
            {"grad_checkpoint", "True"},
            {"model.grad_ckpt_settings", "(" + std::to_string(depth(ground.blocks.doubleTotal)) + ", " + std::to_string(depth(ground.blocks.singleTotal)) + ")"},
            {kBuffer, "0"}};
}

Result<TechniquePoint> pointOf(const Ground &ground, const Techniques &techniques)
{
    TechniquePoint point{techniques, {}, techniques.halfBatch ? ground.row.batchSize / 2 : ground.row.batchSize, {}};
    point.values = valuesOf(ground, techniques, point.batchSize);
    auto stage = changed(ground.stage, point.values);
    if (!stage)
        return stage.error();
    if (techniques.offload) {                          // as large as this bucket needs it
        const auto need = config::largestNeed(config::activationNeeds(*stage));
        point.values.back().text = std::to_string(need ? need->elements : 0);
        stage = changed(ground.stage, point.values);
        if (!stage)
            return stage.error();
    }
    point.stage = std::move(*stage);
    return point;
}

} // namespace

std::string nameOf(const Techniques &techniques)
{
    std::vector<std::string> parts;
    if (techniques.checkpointing != Checkpointing::None)
        parts.push_back(techniques.checkpointing == Checkpointing::Half ? "half of the blocks checkpointed" : "all blocks checkpointed");
    if (techniques.offload)
        parts.push_back("their inputs in host memory");
    if (techniques.bf16)
        parts.push_back("bf16");
    if (techniques.halfBatch)
        parts.push_back("half the batch");
    return parts.empty() ? "nothing" : joined(parts, ", ");
}

Result<std::vector<TechniquePoint>> techniquePoints(const config::Stage &stage, const std::string &bucket)
{
    const auto ground = groundOf(stage, bucket);
    if (!ground)
        return ground.error();
    std::vector<TechniquePoint> points;
    for (const Techniques &techniques : combinations(*ground)) {
        auto point = pointOf(*ground, techniques);
        if (!point)
            return point.error();
        points.push_back(std::move(*point));
    }
    return points;
}

TechniqueGain gainOf(const TechniqueFigures &first, const TechniqueFigures &with)
{
    TechniqueGain gain;
    if (first.peakBytes > 0 && with.peakBytes > 0) {
        gain.savedBytes = first.peakBytes - with.peakBytes;
        gain.savedPart = double(gain.savedBytes) / double(first.peakBytes);
    }
    if (first.clipSeconds > 0 && with.clipSeconds > 0)
        gain.timeLost = with.clipSeconds / first.clipSeconds - 1;
    return gain;
}

} // namespace stagewright::client
