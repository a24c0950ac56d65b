#include "core/plan/planner.h"

#include <algorithm>

#include "core/base/host.h"
#include "core/base/units.h"
#include "core/plan/caching_allocator.h"
#include "core/plan/cost.h"
#include "core/plan/update_workspace.h"

namespace stagewright::plan {

namespace {

constexpr std::size_t kRememberedRuns = 400;           // journals, about 150 KB each
constexpr std::size_t kRememberedPredictions = 50'000;
constexpr std::size_t kCheckedOneIn = 20;              // compositions that are compared with a whole dry run

template <class... Parts>
void append(std::string &key, const Parts &...parts)
{
    ((key += std::to_string(parts), key += ' '), ...);
}

// Everything of a step that its memory depends on.
std::string keyOf(const Work &work, const ClipShape &shape, bool reserved)
{
    const auto &m = work.model;
    const auto &s = work.settings;
    const auto &e = work.encoders;
    std::string key;
    append(key, m.inChannels, m.vecInDim, m.contextInDim, m.hiddenSize, m.mlpRatio, m.numHeads, m.depth, m.depthSingleBlocks, m.qkvBias, m.guidanceEmbed, m.condEmbed, m.fusedQkv,
           m.useLigerRope, m.patchSize);
    for (const auto dim : m.axesDim)
        append(key, dim);
    append(key, int(s.dtype), int(s.compat), s.accumulation, s.causal, s.conditions.size(), s.dropout.has_value(), s.skipReferenceLoss, s.emaDecay.has_value(), s.adam.decoupled,
           s.adam.weightDecay != 0);
    for (const auto &condition : s.conditions)
        append(key, int(condition.condition), condition.weight > 0);
    append(key, work.depth.doubleBlocks, work.depth.singleBlocks, work.bufferElements, int(work.device), work.division.world, work.division.sequence, work.division.zero);
    append(key, e.haar, e.latentChannels, e.timeRatio, e.spaceRatio, e.autoencoderParameters, e.tilePixels, e.hashedTokens, e.hashedPooled, e.tokenWidth, e.tokenLength, e.tokenParameters,
           e.pooledWidth, e.pooledLength, e.pooledParameters);
    append(key, shape.frames, shape.height, shape.width, shape.batch, reserved);
    return key;
}

// What sharding leaves of a step's memory in one process.
void divide(Replay &replayed, const Division &division)
{
    if (division.zero < 1 || division.world <= 1)
        return;
    const auto shared = [&](MemoryKind kind) {
        return kind == MemoryKind::Optimizer || kind == MemoryKind::Ema || (division.zero >= 2 && kind == MemoryKind::Gradient) || (division.zero >= 3 && kind == MemoryKind::Parameter);
    };
    std::int64_t before = 0, after = 0;
    for (std::size_t kind = 0; kind < replayed.fixed.size(); ++kind) {
        before += replayed.fixed[kind];
        if (shared(static_cast<MemoryKind>(kind)))
            replayed.fixed[kind] /= division.world;
        after += replayed.fixed[kind];
    }
    for (auto &change : replayed.changes) {
        if (shared(change.kind))
            change.bytes = (change.bytes + division.world - 1) / division.world;
    }
    // Which of the fixed allocations are shared is not known here: all shrink alike.
    for (auto &size : replayed.fixedSizes)
        size = static_cast<std::int64_t>(static_cast<double>(size) * static_cast<double>(after) / static_cast<double>(std::max<std::int64_t>(before, 1)));
}

std::int64_t reservedBy(const Replay &replayed, std::int64_t workspace)
{
    CachingAllocator allocator;
    for (const auto size : replayed.fixedSizes)
        allocator.allocate(size);
    std::vector<CachingAllocator::Handle> handles;                 // by id
    for (std::size_t i = 0; i <= replayed.changes.size(); ++i) {
        if (i == replayed.update && workspace > 0)
            allocator.release(allocator.allocate(workspace));
        if (i == replayed.changes.size())
            break;
        const auto &change = replayed.changes[i];
        if (change.id == Change::kSameMemory)
            continue;
        if (change.allocates) {
            handles.resize(std::max<std::size_t>(handles.size(), change.id + 1));
            handles[change.id] = allocator.allocate(change.bytes);
        } else {
            allocator.release(handles[change.id]);
        }
    }
    return allocator.reserved();
}

Error shapeError(const ClipShape &shape, const std::string &what)
{
    return Error(ExitCode::Usage, "memory.cannot-plan", "bucket " + bucketName(shape) + " (" + std::to_string(shape.height) + "×" + std::to_string(shape.width) + ", batch " +
                 std::to_string(shape.batch) + ") cannot be planned: " + what.substr(0, what.find('\n')));
}

Error cancelledError()
{
    return Error(ExitCode::Stopped, "memory.plan-cancelled", "planning was cancelled");
}

// Clips that wait for their turn: as many batches as the loader makes ahead, at worst all of the largest bucket.
std::int64_t waitingBytes(const Work &work)
{
    if (work.prefetchBatches == 0 || work.largestBatchBytes == 0)
        return 0;
    return work.largestBatchBytes * std::clamp<std::int64_t>(work.prefetchBytes / work.largestBatchBytes, 1, work.prefetchBatches);
}

// Host memory of the process: the activation buffer, the data cache, clips that wait, a save's staging.
events::PlannedHost hostOf(const Work &work, const std::vector<BucketPrediction> &buckets)
{
    events::PlannedHost host;
    std::int64_t buffer = 0, state = 0;
    for (const auto &bucket : buckets) {
        buffer = std::max(buffer, bucket.memory.bufferBytes);
        state = std::max(state, bucket.memory.stateBytes);
    }
    host.pinned = buffer + work.pinnedCacheElements * std::int64_t(torch::elementSize(work.settings.dtype));
    host.staging = work.asyncSave ? state : 0;
    host.data = work.device == torch::kCPU ? 0 : waitingBytes(work) + work.largestBatchBytes;      // on the CPU they lie in the device's memory
    host.total = host.pinned + host.staging + host.data;
    return host;
}

events::PlannedBucket told(const BucketPrediction &bucket)
{
    events::PlannedBucket out;
    out.resolution = bucket.shape.resolution;
    out.aspectRatio = bucket.shape.aspect;
    out.frames = bucket.shape.frames;
    out.height = bucket.shape.height;
    out.width = bucket.shape.width;
    out.batchSize = bucket.shape.batch;
    out.peakBytes = bucket.memory.peak;
    out.peakReservedBytes = bucket.memory.reserved;
    out.byKind = bucket.memory.byKind;
    out.phase = nameOf(bucket.memory.phase);
    out.block = bucket.memory.block;
    out.stepSeconds = bucket.stepSeconds;
    out.bufferBytes = bucket.memory.bufferBytes;
    out.keptBlocks = bucket.memory.keptBlocks;
    out.fits = bucket.fits;
    return out;
}

} // namespace

std::string bucketName(const ClipShape &shape)
{
    return events::bucketName(shape.resolution, shape.frames);
}

double meanStepSeconds(const std::vector<BucketPrediction> &buckets)
{
    double seconds = 0, weights = 0;
    for (const auto &bucket : buckets) {
        seconds += bucket.shape.probability * bucket.stepSeconds;
        weights += bucket.shape.probability;
    }
    return seconds / weights;
}

Result<AskedStage> askedStage(const config::Stage &stage, const PlanQuery &query, Problems &notes)
{
    auto work = workOf(stage, query.device.isCpu ? torch::kCPU : torch::kCUDA, query.world, notes);
    if (!work)
        return work.error();
    auto shapes = worstShapes(stage);
    if (!shapes)
        return shapes.error();
    if (!query.bucket.empty()) {
        std::string names;
        for (const ClipShape &shape : *shapes)
            names += (names.empty() ? "" : ", ") + bucketName(shape);
        std::erase_if(*shapes, [&](const ClipShape &shape) { return bucketName(shape) != query.bucket; });
        if (shapes->empty())
            return Error(ExitCode::Usage, "config.no-bucket", "the stage has no bucket \"" + query.bucket + "\"; its buckets are " + names);
    }
    return AskedStage{std::move(*work), std::move(*shapes), stage.integer("accumulation_steps")};
}

ErrorBand errorBand(const Work &work, const PlanQuery &query)
{
    if (query.measured)
        return *query.measured;
    const bool learned = !work.encoders.haar;
    if (work.device != torch::kCPU) {
        return {learned ? 0.10 : 0.06, std::string("the GPU's attention and matrix kernels take workspaces that are estimated from their sources and were not measured on this device") +
                (learned ? "; learned encoders enter as estimates" : "")};
    }
    if (learned)
        return {0.10, "learned encoders enter as estimates"};
    return {work.settings.dtype == torch::kFloat32 ? 0.01 : 0.02, "measured on the CPU"};
}

Result<std::shared_ptr<const DryRun>> Planner::dryRunOf(const Reduced &plan, const ClipShape &shape)
{
    const std::string key = keyOf(plan.work, shape, false);
    if (const auto found = m_runByKey.find(key); found != m_runByKey.end()) {
        m_runs.splice(m_runs.begin(), m_runs, found->second);
        return found->second->run;
    }
    try {
        auto run = std::make_shared<const DryRun>(dryRun(plan.work, shape));
        m_runs.push_front({key, run});
        m_runByKey[key] = m_runs.begin();
        if (m_runs.size() > kRememberedRuns) {
            m_runByKey.erase(m_runs.back().key);
            m_runs.pop_back();
        }
        return std::shared_ptr<const DryRun>(run);
    } catch (const c10::Error &error) {
        return shapeError(shape, error.what_without_backtrace());
    }
}

Result<Prediction> Planner::composed(const Reduced &plan, const ClipShape &shape, bool reserved)
{
    const auto run = dryRunOf(plan, shape);
    if (!run)
        return run.error();
    Replay replayed = replay(plan, **run);
    std::int64_t workspace = updateWorkspace(plan, **run);
    const auto &division = plan.work.division;
    if (division.zero >= 1 && division.world > 1)
        workspace /= division.world;
    divide(replayed, division);
    Prediction prediction = predict(plan, **run, replayed, workspace);
    if (reserved && plan.work.device != torch::kCPU)
        prediction.reserved = std::max(prediction.peak, reservedBy(replayed, workspace));
    return prediction;
}

Result<Prediction> Planner::predicted(const Work &work, const ClipShape &shape, bool reserved)
{
    const std::string key = keyOf(work, shape, reserved);
    if (const auto found = m_predictions.find(key); found != m_predictions.end())
        return found->second;
    const Reduced few = reduced(work, shape);
    auto prediction = composed(few, shape, reserved);
    if (!prediction)
        return prediction;
    const bool checks = !few.isWhole && (m_checkAll || std::hash<std::string>{}(key) % kCheckedOneIn == 0);
    if (checks) {
        auto whole = composed(notReduced(work, shape), shape, reserved);
        if (!whole)
            return whole;
        ++m_checked;
        m_deviation = std::max(m_deviation, std::abs(static_cast<double>(prediction->peak) / static_cast<double>(whole->peak) - 1));
        prediction = std::move(whole);
    }
    if (m_predictions.size() >= kRememberedPredictions)
        m_predictions.clear();
    m_predictions.emplace(key, *prediction);
    return prediction;
}

Result<BucketPrediction> Planner::bucket(const AskedStage &asked, const ClipShape &shape, const PlanQuery &query)
{
    auto prediction = predicted(asked.work, shape, query.reserved);
    if (!prediction)
        return prediction.error();
    BucketPrediction bucket{shape, std::move(*prediction)};
    bucket.stepSeconds = stepSeconds(asked.work, shape, bucket.memory.offloadedBlocks, asked.accumulation, query.device);
    return bucket;
}

Result<std::vector<BucketPrediction>> Planner::buckets(const AskedStage &asked, const PlanQuery &query, const Cancelled &cancelled)
{
    const Work &work = asked.work;
    const std::int64_t waiting = work.device == torch::kCPU ? waitingBytes(work) : 0;
    const std::int64_t limit = work.settings.memoryLimitBytes > 0 ? std::min(work.settings.memoryLimitBytes, query.device.totalBytes) : query.device.totalBytes;
    std::vector<BucketPrediction> answers;
    for (const ClipShape &shape : asked.shapes) {
        if (cancelled && cancelled())
            return cancelledError();
        auto answer = bucket(asked, shape, query);
        if (!answer)
            return answer.error();
        answer->memory.peak += waiting;
        answer->memory.reserved += waiting;
        answer->memory.byKind[static_cast<std::size_t>(MemoryKind::Workspace)] += waiting;
        answer->deviceBytes = answer->memory.reserved + query.device.contextBytes;
        const bool bufferHolds = answer->memory.keptBlocks == 0 || work.bufferElements == 0 || work.settings.overflow == memory::OverflowPolicy::Keep;
        answer->fits = answer->deviceBytes <= limit && bufferHolds;
        answers.push_back(std::move(*answer));
    }
    return answers;
}

Result<events::Plan> Planner::plan(const config::Stage &stage, const PlanQuery &query, Problems &notes, const Cancelled &cancelled)
{
    const double began = steadySeconds();
    const auto asked = askedStage(stage, query, notes);
    if (!asked)
        return asked.error();
    const auto answers = buckets(*asked, query, cancelled);
    if (!answers)
        return answers.error();
    events::Plan plan;
    plan.fitDevice = query.device.name;
    plan.capacityBytes = query.device.totalBytes;
    plan.contextBytes = query.device.contextBytes;
    for (std::size_t i = 0; i < answers->size(); ++i) {
        const auto &bucket = (*answers)[i];
        plan.buckets.push_back(told(bucket));
        plan.fits = plan.fits && bucket.fits;
        plan.peakReservedBytes = std::max(plan.peakReservedBytes, bucket.memory.reserved);
        if (bucket.memory.peak > plan.peakBytes) {
            plan.peakBytes = bucket.memory.peak;
            plan.byKind = bucket.memory.byKind;
            plan.worstBucket = static_cast<std::int64_t>(i);
        }
    }
    plan.deviceTotalBytes = plan.peakReservedBytes + plan.contextBytes;
    plan.host = hostOf(asked->work, *answers);
    const auto band = errorBand(asked->work, query);
    plan.errorBand = band.fraction;
    plan.errorBandReason = band.reason;
    plan.checkedPoints = m_checked;
    plan.largestDeviation = m_deviation;
    plan.seconds = steadySeconds() - began;
    return plan;
}

} // namespace stagewright::plan
