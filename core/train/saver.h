// Saves of a run: when the stage asks for one, what becomes of it, and what training waits for.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/checkpoint/writer.h"
#include "core/config/stage.h"
#include "core/events/record.h"
#include "core/memory/ledger.h"
#include "core/train/reporter.h"

namespace stagewright::train {

// Training thread only; what the writer's threads say is queued and reported by pump().
class Saver
{
public:
    Saver(const config::Stage &stage, std::filesystem::path runFolder, Reporter &reporter);
    ~Saver();

    // Before the first save, with the state as a save will find it: makes ready what would hold up that save.
    void prepare(const checkpoint::TrainingState &state) { m_writer.prepare(state, m_options); }
    // Begins to save. A failure to start is reported and remembered like one that comes later.
    void begin(const checkpoint::TrainingState &state);
    // Before anything may change a tensor of the state; returns the seconds it blocked.
    double waitForSnapshot();
    // Reports progress and ended saves. Call at every update boundary.
    void pump();
    // Waits until everything is committed and verified, pumping; `giveUp` is asked once a second and ends the wait.
    void finish(const std::function<bool()> &giveUp);

    bool isSaving() const { return m_writer.isSaving(); }
    double takeBlockedSeconds() { return std::exchange(m_blocked, 0.0); }       // of begin(), since the last call
    std::optional<std::int64_t> lastCommittedStep() const { return m_lastCommitted; }
    const std::optional<Error> &failure() const { return m_failure; }           // of the newest save, until a later one succeeds
    const std::vector<events::CheckpointSummary> &committed() const { return m_committed; }

private:
    void takeOutcomes();
    Reporter &m_reporter;
    std::filesystem::path m_runFolder;
    checkpoint::SaveOptions m_options;
    std::mutex m_mutex;
    std::vector<events::Checkpoint> m_progress;          // guarded by m_mutex
    memory::HostEntry m_staging;                         // guarded by m_mutex
    std::atomic<bool> m_gaveUp{false};
    double m_blocked = 0;
    std::optional<std::int64_t> m_lastCommitted;
    std::optional<Error> m_failure;
    std::vector<events::CheckpointSummary> m_committed;
    checkpoint::CheckpointWriter m_writer;               // last: its threads use what is above
};

} // namespace stagewright::train
