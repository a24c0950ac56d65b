#include "core/plan/cost.h"

namespace stagewright::plan {

namespace {

constexpr double kReached = 0.45;              // share of the data sheet's rate that matrices of a training step reach
constexpr double kHidden = 0.7;                // share of the copies to the host and back that runs beside compute on a GPU

struct BlockCost { double matrices = 0, attention = 0, traffic = 0; };       // forward; traffic in bytes

BlockCost doubleBlock(const Work &work, double batch, double tokens)
{
    const double h = double(work.model.hiddenSize), m = double(work.model.mlpHidden());
    // qkv, projection, two layers of the MLP; the modulation's matrices see one row a sample
    return {2 * batch * tokens * (4 * h * h + 2 * h * m) + 2 * batch * 12 * h * h, 4 * batch * tokens * tokens * h, batch * tokens * (24 * h + 4 * m)};
}

BlockCost singleBlock(const Work &work, double batch, double tokens)
{
    const double h = double(work.model.hiddenSize), m = double(work.model.mlpHidden());
    return {2 * batch * tokens * (4 * h * h + 2 * h * m) + 2 * batch * 3 * h * h, 4 * batch * tokens * tokens * h, batch * tokens * (16 * h + 4 * m)};
}

} // namespace

StepCost stepCost(const Work &work, const ClipShape &shape, std::int64_t offloadedBlocks)
{
    const double batch = double(shape.batch), tokens = double(imageTokens(work, shape) + textTokens(work, shape));
    const double wholeTokens = tokens * double(work.division.sequence);
    const double bytes = double(torch::elementSize(work.settings.dtype));
    StepCost cost;
    const auto add = [&](BlockCost block, std::int64_t count, std::int64_t checkpointed) {
        block.attention *= wholeTokens / tokens;                  // a part of the queries against all keys
        const double forward = block.matrices + block.attention;
        cost.flops += double(count) * (3 * block.matrices + 3.5 * block.attention) + double(checkpointed) * forward;
        cost.recomputeFlops += double(checkpointed) * forward;
        cost.memoryBytes += bytes * block.traffic * (3 * double(count) + double(checkpointed));
    };
    add(doubleBlock(work, batch, tokens), work.model.depth, work.depth.doubleBlocks);
    add(singleBlock(work, batch, tokens), work.model.depthSingleBlocks, work.depth.singleBlocks);
    const double h = double(work.model.hiddenSize);
    cost.flops += 3 * 2 * batch * tokens * h * double(2 * work.model.inChannels);
    cost.linkBytes = 2 * double(offloadedBlocks) * batch * tokens * h * bytes;
    const double parameters = double(model::parameterCount(work.model)), shards = work.division.zero > 0 ? double(work.division.world) : 1;
    const double perParameter = 4 * 6 + bytes * 2 + (work.settings.emaDecay ? 12 : 0);        // masters and moments read and written, gradient, weight, average
    cost.updateBytes = parameters * perParameter / shards;
    return cost;
}

double stepSeconds(const Work &work, const ClipShape &shape, std::int64_t offloadedBlocks, std::int64_t accumulation, const config::TargetDevice &device)
{
    const auto cost = stepCost(work, shape, offloadedBlocks);
    const double rate = (work.settings.dtype == torch::kFloat32 ? device.singleFlops : device.halfFlops) * kReached;
    const double compute = cost.flops / rate + cost.memoryBytes / device.memoryRate;
    const double copies = cost.linkBytes / device.linkRate;
    const double visible = device.isCpu ? copies : std::max(copies - kHidden * compute, (1 - kHidden) * 0.1 * copies);
    return double(std::max<std::int64_t>(1, accumulation)) * (compute + visible) + cost.updateBytes / device.memoryRate;
}

} // namespace stagewright::plan
