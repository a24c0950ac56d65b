#include "ui/plots/run_plot_data.h"

#include <algorithm>
#include <numeric>

#include "ui/look/kind_colors.h"
#include "ui/look/words.h"
#include "ui/session/run_buckets.h"

namespace stagewright::plots {

using namespace Qt::StringLiterals;

void RunPlotData::clear() { *this = {}; }

void RunPlotData::take(const events::Record &record)
{
    if (m_origin == 0)
        m_origin = record.time;
    const double x = std::max(0.0, record.time - m_origin);
    m_end = std::max(m_end, x);
    if (const auto *run = std::get_if<events::RunStarted>(&record.payload))
        m_limit = run->deviceTotalBytes;
    else if (const auto *step = std::get_if<events::Step>(&record.payload))
        takeStep(x, record.step, *step);
    else if (const auto *trace = std::get_if<events::MemoryTrace>(&record.payload))
        takeTrace(x, record.step, *trace);
    else if (const auto *checkpoint = std::get_if<events::Checkpoint>(&record.payload))
        takeCheckpoint(x, *checkpoint);
    else if (const auto *prediction = std::get_if<events::Prediction>(&record.payload))
        takePrediction(*prediction);
    else if (const auto *milestone = std::get_if<events::Milestone>(&record.payload)) {
        addSample(x, milestone->byKind);
        m_memoryEnd = std::max(m_memoryEnd, x);
        m_host.push_back({x, milestone->residentBytes, {}});
    }
}

void RunPlotData::takeStep(double x, std::int64_t step, const events::Step &update)
{
    const double start = std::max(m_steps.empty() ? 0.0 : m_steps.back().to, x - update.seconds);
    StepMark mark{start, x, step, update.seconds, update.loss, update.lr, update.gradNorm, update.seconds > 0 ? double(update.samples) / update.seconds : 0,
                  update.dataWaitSeconds, update.blockedSeconds, update.peakBytes, m_prediction ? session::predictedPeak(*m_prediction, update.bucket) : 0, false, update.bucket};
    if (m_pendingTrace && m_pendingTrace->first == step) {
        mark.traced = true;
        addTrace(start, m_pendingTrace->second);
    } else {
        addSample(start, update.peakByKind);
    }
    m_pendingTrace.reset();
    m_memoryEnd = x;
    m_steps.push_back(mark);

    // The record has each phase's share of the step, not its moments: they are drawn in the order in which they first come.
    const double all = std::accumulate(update.phaseSeconds.begin(), update.phaseSeconds.end(), 0.0);
    double from = start;
    if (all > 0)
        for (std::size_t i = 0; i < update.phaseSeconds.size(); ++i) {
            if (update.phaseSeconds[i] <= 0)
                continue;
            const double to = from + update.phaseSeconds[i] * std::min(1.0, (x - start) / all);
            m_phases.push_back({from, to, look::colorOf(Phase(i)), {}, false, int(i)});
            from = to;
        }
    m_buckets.push_back({start, x, {}, u"%1×%2 b%3"_s.arg(look::q(update.bucket.resolution)).arg(update.bucket.frames).arg(update.bucket.batchSize), false});
    trim();
}

// It comes some seconds after the start: the updates until then get theirs too.
void RunPlotData::takePrediction(const events::Prediction &prediction)
{
    m_prediction = prediction;
    for (StepMark &mark : m_steps)
        mark.predictedBytes = session::predictedPeak(prediction, mark.bucket);
}

void RunPlotData::takeTrace(double x, std::int64_t step, const events::MemoryTrace &trace)
{
    m_host.push_back({x, trace.residentBytes, trace.host});
    if (!m_steps.empty() && m_steps.back().step == step) {
        dropFrom(m_steps.back().from);
        m_steps.back().traced = true;
        addTrace(m_steps.back().from, trace);
    } else {
        m_pendingTrace = {step, trace};
    }
}

void RunPlotData::addTrace(double start, const events::MemoryTrace &trace)
{
    const std::size_t count = std::min(trace.at.size(), trace.bytes.size());
    for (std::size_t i = 0; i < count; ++i)
        addSample(start + trace.at[i], trace.bytes[i]);
}

void RunPlotData::addSample(double at, const events::KindBytes &bytes)
{
    MemorySample sample;
    sample.at = m_memory.empty() ? at : std::max(at, m_memory.back().at);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        sample.bytes[i] = float(bytes[i]);
        sample.total += double(bytes[i]);
        m_seen[i] = m_seen[i] || bytes[i] > 0;
    }
    m_memory.push_back(sample);
}

void RunPlotData::dropFrom(double at)
{
    while (!m_memory.empty() && m_memory.back().at >= at)
        m_memory.pop_back();
}

// Phases of a save one after the other; the label of a write grows with its bytes.
void RunPlotData::takeCheckpoint(double x, const events::Checkpoint &checkpoint)
{
    if (checkpoint.path != m_savePath || checkpoint.phase != m_savePhase || m_saves.empty()) {
        if (!m_saves.empty() && m_saves.back().open) {
            m_saves.back().to = std::max(m_saves.back().to, x);
            m_saves.back().open = false;
        }
        const bool sameSave = checkpoint.path == m_savePath && !m_saves.empty();
        const double from = sameSave ? m_saves.back().to : std::max(m_saves.empty() ? 0 : m_saves.back().to, x - checkpoint.seconds);
        m_savePath = checkpoint.path;
        m_savePhase = checkpoint.phase;
        if (checkpoint.phase == "done")
            return;
        m_saves.push_back({from, x, look::colorOfSavePhase(checkpoint.phase), look::wordOfSavePhase(checkpoint.phase), checkpoint.phase != "failed"});
    }
    Stretch &stretch = m_saves.back();
    if (checkpoint.phase == "done")
        return;
    stretch.to = std::max(stretch.to, x);
    if (checkpoint.phase == "write" && checkpoint.totalBytes > 0) {
        const double rate = stretch.to - stretch.from > 0.02 ? double(checkpoint.bytes) / (stretch.to - stretch.from) : 0;
        stretch.text = u"%1 %2 / %3"_s.arg(look::wordOfSavePhase("write"), look::bytes(double(checkpoint.bytes)), look::bytes(double(checkpoint.totalBytes)));
        if (rate > 0)
            stretch.text += u" · %1/s"_s.arg(look::bytes(rate));
    }
}

// The newest are kept; of old memory samples every second is dropped, the higher of two neighbours staying.
void RunPlotData::trim()
{
    if (m_memory.size() > kMemorySamples) {
        std::deque<MemorySample> thinner;
        const std::size_t old = m_memory.size() / 2;
        for (std::size_t i = 0; i + 1 < old; i += 2) {
            MemorySample kept = m_memory[i].total >= m_memory[i + 1].total ? m_memory[i] : m_memory[i + 1];
            kept.at = m_memory[i].at;
            thinner.push_back(kept);
        }
        thinner.insert(thinner.end(), m_memory.begin() + std::ptrdiff_t(old - old % 2), m_memory.end());
        m_memory = std::move(thinner);
    }
    for (auto *stretches : {&m_phases, &m_buckets, &m_saves})
        while (stretches->size() > kStretches)
            stretches->pop_front();
    if (m_steps.size() > kSteps)
        m_steps.erase(m_steps.begin(), m_steps.begin() + kSteps / 4);
}

std::pair<std::size_t, std::size_t> RunPlotData::memoryBetween(double from, double to) const
{
    auto first = std::upper_bound(m_memory.begin(), m_memory.end(), from, [](double x, const MemorySample &s) { return x < s.at; });
    if (first != m_memory.begin())
        --first;
    const auto last = std::upper_bound(first, m_memory.end(), to, [](double x, const MemorySample &s) { return x < s.at; });
    return {std::size_t(first - m_memory.begin()), std::size_t(last - m_memory.begin())};
}

std::pair<std::size_t, std::size_t> RunPlotData::stepsBetween(double from, double to) const
{
    const auto first = std::partition_point(m_steps.begin(), m_steps.end(), [&](const StepMark &mark) { return mark.to < from; });
    const auto last = std::partition_point(first, m_steps.end(), [&](const StepMark &mark) { return mark.from <= to; });
    return {std::size_t(first - m_steps.begin()), std::size_t(last - m_steps.begin())};
}

const StepMark *RunPlotData::stepAt(double x) const
{
    const auto after = std::upper_bound(m_steps.begin(), m_steps.end(), x, [](double at, const StepMark &mark) { return at < mark.from; });
    return after == m_steps.begin() ? nullptr : &*(after - 1);
}

const MemorySample *RunPlotData::memoryAt(double x) const
{
    if (m_memory.empty() || x < m_memory.front().at || x > m_memoryEnd)
        return nullptr;
    return &m_memory[memoryBetween(x, x).first];
}

const Stretch *RunPlotData::stretchAt(const std::deque<Stretch> &stretches, double x) const
{
    const auto at = std::partition_point(stretches.begin(), stretches.end(), [&](const Stretch &s) { return s.to < x; });
    return at != stretches.end() && at->from <= x ? &*at : nullptr;
}

} // namespace stagewright::plots
