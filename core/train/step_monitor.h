// What is measured around one update, and which of it is worth a record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/events/record.h"
#include "core/memory/ledger.h"
#include "core/memory/offload.h"
#include "core/train/engine.h"

namespace stagewright::train {

// The full memory trace of an update is kept for the first two updates of a bucket, for every new peak, and for one update in a hundred:
// so a run of a million steps stays small.
class StepMonitor
{
public:
    // blockedBefore: seconds for which a save held training up since the update before. They are part of this one's, as a wait inside it is.
    void beginUpdate(memory::ActivationOffload *offload, double blockedBefore);
    void addBlocked(double seconds) { m_blocked += seconds; }
    void addDataWait(double seconds) { m_dataWait += seconds; }

    // Ends the measurement. batch: the last micro-step's. The step record is complete but for what only the caller knows (nothing).
    events::Step endUpdate(const UpdateOutcome &outcome, const data::Batch &batch, std::int64_t samples, const PhaseSeconds &phases);
    // After endUpdate: the trace, where it is worth keeping, and the buffer's figures, where they say something new.
    std::optional<events::MemoryTrace> takeTrace();
    std::optional<events::Buffer> takeBuffer();

    std::int64_t peakBytes() const { return m_bestPeak; }            // of all updates so far

private:
    using BucketKey = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
    memory::ActivationOffload *m_offload = nullptr;
    double m_start = 0, m_blocked = 0, m_dataWait = 0;
    std::int64_t m_bestPeak = 0, m_updates = 0;
    std::map<BucketKey, int> m_seen;
    std::optional<events::MemoryTrace> m_trace;
    std::optional<events::Buffer> m_buffer, m_lastBuffer;
};

// Memory now, for the milestones of the set-up.
events::Milestone milestone(const std::string &at);

} // namespace stagewright::train
