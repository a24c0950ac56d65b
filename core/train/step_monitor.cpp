#include "core/train/step_monitor.h"

#include "core/base/host.h"

namespace stagewright::train {

namespace {

constexpr int kTracesOfBucket = 2;
constexpr std::int64_t kTraceEvery = 100;
constexpr std::size_t kTracePoints = 1000;

events::MemoryTrace traceRecord(const std::vector<memory::TracePoint> &points, const events::Bucket &bucket, const memory::Snapshot &snapshot)
{
    events::MemoryTrace trace;
    trace.bucket = bucket;
    trace.at.reserve(points.size());
    trace.phase.reserve(points.size());
    trace.bytes.reserve(points.size());
    for (const auto &point : points) {
        trace.at.push_back(point.seconds);
        trace.phase.push_back(int(point.phase));
        trace.bytes.push_back(point.byKind);
    }
    trace.host = snapshot.host;
    trace.residentBytes = residentBytes();
    trace.reservedBytes = snapshot.reserved;
    return trace;
}

bool sayTheSame(const events::Buffer &a, const events::Buffer &b)
{
    return a.highWaterBytes == b.highWaterBytes && a.offloadedBlocks == b.offloadedBlocks && a.keptBlocks == b.keptBlocks && a.bucket == b.bucket;
}

} // namespace

void StepMonitor::beginUpdate(memory::ActivationOffload *offload, double blockedBefore)
{
    m_offload = offload;
    m_start = steadySeconds() - blockedBefore;
    m_blocked = blockedBefore;
    m_dataWait = 0;
    memory::ledger().resetPeak();
    memory::ledger().startTrace(kTracePoints);
    if (m_offload)
        m_offload->resetCounters();
}

events::Step StepMonitor::endUpdate(const UpdateOutcome &outcome, const data::Batch &batch, std::int64_t samples, const PhaseSeconds &phases)
{
    const auto points = memory::ledger().takeTrace();
    const auto snapshot = memory::ledger().snapshot();
    events::Step step;
    step.loss = outcome.loss;
    step.lr = outcome.lr;
    step.gradNorm = outcome.gradNorm;
    step.bucket = batch.bucket;
    step.seconds = steadySeconds() - m_start;
    step.dataWaitSeconds = m_dataWait;
    step.peakBytes = snapshot.peakTotal;
    step.peakByKind = snapshot.peakByKind;
    step.phaseSeconds = phases;
    step.phaseSeconds[std::size_t(Phase::Data)] += m_dataWait;
    step.phaseSeconds[std::size_t(Phase::Save)] += m_blocked;
    step.epoch = batch.epoch;
    step.microSteps = outcome.microSteps;
    step.samples = samples;
    step.skipped = outcome.skipped;
    step.rows = batch.rows;
    step.blockedSeconds = m_blocked;

    const BucketKey key{batch.bucket.resolution, batch.bucket.frames, batch.bucket.height, batch.bucket.width, batch.bucket.batchSize};
    const bool firstOfBucket = ++m_seen[key] <= kTracesOfBucket;
    const bool newPeak = snapshot.peakTotal > m_bestPeak;
    const bool inTurn = m_updates++ % kTraceEvery == 0;
    m_bestPeak = std::max(m_bestPeak, snapshot.peakTotal);
    m_trace.reset();
    if (!points.empty() && (firstOfBucket || newPeak || inTurn))
        m_trace = traceRecord(points, batch.bucket, snapshot);

    m_buffer.reset();
    if (m_offload) {
        const auto counters = m_offload->counters();
        events::Buffer buffer{m_offload->capacityBytes(), counters.highWaterBytes, counters.offloadedBlocks, counters.keptBlocks, counters.stallSeconds, batch.bucket};
        if (m_trace || !m_lastBuffer || !sayTheSame(buffer, *m_lastBuffer))
            m_buffer = buffer;
        m_lastBuffer = buffer;
    }
    return step;
}

std::optional<events::MemoryTrace> StepMonitor::takeTrace()
{
    return std::exchange(m_trace, std::nullopt);
}

std::optional<events::Buffer> StepMonitor::takeBuffer()
{
    return std::exchange(m_buffer, std::nullopt);
}

events::Milestone milestone(const std::string &at)
{
    const auto snapshot = memory::ledger().snapshot();
    return {at, snapshot.total, snapshot.peakTotal, residentBytes(), snapshot.byKind};
}

} // namespace stagewright::train
