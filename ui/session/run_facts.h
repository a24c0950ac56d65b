// What is known about the run that is shown, gathered from its records: the numbers on the Run page, none of them invented.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/client/client.h"
#include "core/events/record.h"
#include "ui/session/run_buckets.h"

namespace stagewright::session {

struct SaveFacts {
    std::string path, phase, sentence;     // phase as in events::Checkpoint, "done" and "failed" at the end
    std::int64_t step = -1;                // that is saved
    std::int64_t bytes = 0, totalBytes = 0;
    double begun = 0, seconds = 0, blockedSeconds = 0;     // begun: wall time
    double committed = 0;                  // wall time of the commit, 0 before it
    bool isInProgress() const { return committed == 0 && phase != "failed" && phase != "done" && phase != "verify"; }
};

// Plain data, used on one thread.
struct RunFacts {
    std::optional<events::RunStarted> started;
    double startedAt = 0, lastAt = 0;      // wall times of the first and the newest record
    std::string state, stateSentence;
    std::optional<events::Step> lastStep;
    std::int64_t step = -1;                // of lastStep
    std::int64_t peakBytes = 0;            // highest over the run
    std::int64_t peakStep = -1;
    events::KindBytes peakByKind{};
    std::optional<events::Buffer> buffer;  // of the newest update that told of it
    RunBuckets buckets;
    std::optional<events::MemoryTrace> lastTrace;
    std::vector<SaveFacts> saves;          // oldest first
    std::optional<events::BadSample> lastBadSample;
    std::int64_t skippedSteps = 0;
    std::vector<Problem> problems;
    std::optional<events::Summary> summary;
    std::optional<client::Ending> ending;

    void take(const events::Record &record);
    const SaveFacts *saveInProgress() const;
    const SaveFacts *lastGoodSave() const;
    double secondsPerStep() const;         // mean of the recent steps; 0 where none is known
    double dataWaitShare() const;          // of the recent steps' time
    double samplesPerSecond() const;
    double secondsPerStepSpread() const;   // standard error of the mean, for the remaining time's band
    std::optional<double> remainingSeconds() const;
    std::optional<std::pair<Phase, double>> dominantPhase() const;   // and its share of the recent steps' time

private:
    struct Recent { double seconds, wait; std::int64_t samples; std::array<double, kPhaseNames.size()> phases; };
    std::deque<Recent> m_recent;           // the last steps, at most kRecent
    static constexpr std::size_t kRecent = 50;
    void takeCheckpoint(const events::Record &record, const events::Checkpoint &checkpoint);
};

} // namespace stagewright::session
