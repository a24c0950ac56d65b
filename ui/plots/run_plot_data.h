// What the lanes show, in the order of time, in bounded memory. x is seconds since the run's first record.
#pragma once

#include <QColor>
#include <QString>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/events/record.h"

namespace stagewright::plots {

struct MemorySample {                      // holds from `at` until the next sample
    double at = 0;
    double total = 0;                      // bytes
    std::array<float, kMemoryKindNames.size()> bytes{};
};

struct Stretch {
    double from = 0, to = 0;
    QColor color;
    QString text;
    bool open = false;                     // still going on
    int phase = -1;                        // Phase, where it is one
};

struct StepMark {
    double from = 0, to = 0;
    std::int64_t step = 0;
    double seconds = 0;                    // as the record says; to - from may be less where records came late
    double loss = 0, lr = 0, gradNorm = 0, samplesPerSecond = 0;
    double wait = 0, blocked = 0;          // seconds for data, for a save
    std::int64_t peakBytes = 0, predictedBytes = 0;    // predicted: 0 where nothing was
    bool traced = false;                   // its memory curve is measured inside the step; otherwise its peak is shown flat
    events::Bucket bucket;
};

struct HostSample { double at = 0; std::int64_t resident = 0; events::HostBytes kinds{}; };

class RunPlotData
{
public:
    static constexpr std::size_t kMemorySamples = 400'000, kStretches = 300'000, kSteps = 2'000'000;

    void clear();
    void take(const events::Record &record);

    bool isEmpty() const { return m_origin == 0; }
    double origin() const { return m_origin; }                 // wall time of x = 0
    double end() const { return m_end; }                       // x of the newest record
    const std::deque<MemorySample> &memory() const { return m_memory; }
    double memoryEnd() const { return m_memoryEnd; }           // until when the newest sample holds
    std::pair<std::size_t, std::size_t> memoryBetween(double from, double to) const;   // indices, with the sample that holds at `from`
    const std::deque<Stretch> &phases() const { return m_phases; }
    const std::deque<Stretch> &buckets() const { return m_buckets; }
    const std::deque<Stretch> &saves() const { return m_saves; }
    const std::vector<StepMark> &steps() const { return m_steps; }
    const std::vector<HostSample> &host() const { return m_host; }
    std::pair<std::size_t, std::size_t> stepsBetween(double from, double to) const;    // indices of those that are under way there
    double predictionBand() const { return m_prediction ? m_prediction->errorBand : 0; }       // fraction of a step's predicted bytes, either way
    bool hasPrediction() const { return m_prediction.has_value(); }
    const StepMark *stepAt(double x) const;                    // the step under way at x, the one before in a gap
    const MemorySample *memoryAt(double x) const;
    const Stretch *stretchAt(const std::deque<Stretch> &stretches, double x) const;
    std::int64_t limitBytes() const { return m_limit; }
    const std::array<bool, kMemoryKindNames.size()> &kindsSeen() const { return m_seen; }

private:
    void takeStep(double x, std::int64_t step, const events::Step &update);
    void takeTrace(double x, std::int64_t step, const events::MemoryTrace &trace);
    void takeCheckpoint(double x, const events::Checkpoint &checkpoint);
    void takePrediction(const events::Prediction &prediction);
    void addTrace(double start, const events::MemoryTrace &trace);
    void addSample(double at, const events::KindBytes &bytes);
    void dropFrom(double at);
    void trim();

    double m_origin = 0, m_end = 0, m_memoryEnd = 0;
    std::int64_t m_limit = 0;
    std::deque<MemorySample> m_memory;
    std::deque<Stretch> m_phases, m_buckets, m_saves;
    std::vector<StepMark> m_steps;
    std::vector<HostSample> m_host;
    std::optional<events::Prediction> m_prediction;
    std::optional<std::pair<std::int64_t, events::MemoryTrace>> m_pendingTrace;    // came before its step
    std::array<bool, kMemoryKindNames.size()> m_seen{};
    std::string m_savePath, m_savePhase;
    double m_saveBytesAtPhase = 0;
};

} // namespace stagewright::plots
