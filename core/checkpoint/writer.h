// Saves a training state as a transaction, asynchronously or at once: snapshot, write, flush, commit (rename), verify, prune.
//
//   begin()            at an update boundary; returns once the snapshot is under way (async) or the checkpoint is committed (sync); verifying goes on beside training
//   waitForSnapshot()  before anything may change a tensor of the state (next optimizer update, EMA, load); returns the seconds it blocked
//   takeOutcomes()     at every update boundary: saves that ended since the last call, failures included; nothing is ever lost
//   finish()           before the program ends
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/result.h"
#include "core/checkpoint/snapshot_copier.h"
#include "core/checkpoint/training_state.h"
#include "core/ckptfile/file_system.h"
#include "core/events/record.h"

namespace stagewright::config { class Stage; }

namespace stagewright::checkpoint {

enum class OnLowDisk { Wait, Stop, Skip };

struct SaveOptions {
    bool async = false;
    std::int64_t keepNewest = -1;                // keep_n_latest: 0 or less keeps all
    std::int64_t keepEvery = 0;                  // keep_every: also keep steps that are multiples; 0 none
    OnLowDisk onLowDisk = OnLowDisk::Wait;
    std::function<bool()> keepWaiting;           // asked while waiting for disk; false gives up with an error. Empty: give up after lowDiskDeadline
    std::chrono::seconds lowDiskDeadline{3600};
    double shardMebibytes = 4096;                // size at which the original cuts shards (section 5.2 of its booster: MiB)
    bool verifyAfter = true;                     // read back and compare in the background; without it nothing is pruned
};
SaveOptions saveOptionsOf(const config::Stage &stage);       // async_io, keep_n_latest, keep_every, on_low_disk

struct SaveOutcome {
    std::filesystem::path folder;                // the final folder
    std::int64_t step = 0;
    std::int64_t bytes = 0;
    double blockedSeconds = 0;                   // for which begin() and waitForSnapshot() held the training thread
    double totalSeconds = 0;                     // from begin to commit
    bool committed = false, verified = false;
    std::optional<Error> error;                  // why not
    std::vector<std::filesystem::path> pruned;   // older ones removed after this one was verified
};

struct WriterSettings {
    int threads = 3;                             // that write; more than one so that the disk always has a request
    std::int64_t stagingLimitBytes = 0;          // most that a snapshot may hold in staging memory; 0: the whole state. Less makes waitForSnapshot block longer
    bool keepStaging = true;                     // keep the pool for the next save instead of freeing it after each
    ckptfile::FileSystem *files = nullptr;       // null: the real one; tests inject faults here
    SnapshotCopier *copier = nullptr;            // null: plain host memory, tensors on a device are copied blocking
    std::function<void(const events::Checkpoint &)> progress;    // from the writer's threads, in order, at most ten a second and file; must not block
    std::function<void(std::int64_t bytes)> staging;             // staging memory held now changed (HostKind::CheckpointStaging); any thread
    std::chrono::seconds deadline{1800};         // longest wait for an earlier save or for a snapshot
};

// prepare(), begin(), waitForSnapshot(), finish() and the destructor belong to the training thread; the others to any thread.
class CheckpointWriter
{
public:
    explicit CheckpointWriter(WriterSettings settings = {});
    ~CheckpointWriter();                         // gives up what is not committed (its temporary folder is removed), joins all threads
    CheckpointWriter(const CheckpointWriter &) = delete;
    CheckpointWriter &operator=(const CheckpointWriter &) = delete;

    // Makes the staging memory of asynchronous saves of this state ready on a thread of its own, so that the first save blocks no longer than the
    // next ones. Not needed, and nothing where the options are synchronous or the staging is not kept.
    void prepare(const TrainingState &state, const SaveOptions &options);
    // Saves into outputs/epoch{E}-global_step{S}, E and S from state.counters. A save that still runs is waited for first (the wait
    // counts as blocked). Errors: nothing could be started; what goes wrong later is an outcome. Skipped for low disk is an outcome with
    // code checkpoint.skipped, not an error.
    Status begin(const TrainingState &state, const std::filesystem::path &outputs, const SaveOptions &options);
    Result<double> waitForSnapshot();
    std::vector<SaveOutcome> takeOutcomes();
    // Waits until everything begun is committed and verified, or failed. Error: the deadline passed, with what was waited for. Failures of
    // saves are in takeOutcomes().
    Status finish(std::chrono::seconds deadline);

    bool isSaving() const;                       // begun and not yet committed or failed
    bool isSafeToStop() const;                   // nothing begun that is not yet verified or failed
    std::int64_t stagingBytes() const;           // held now
    std::int64_t stagingPeakBytes() const;

private:
    class Private;
    std::unique_ptr<Private> d;
};

} // namespace stagewright::checkpoint
