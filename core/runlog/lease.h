// The lease of a run: the small file by which anybody finds out whether the run's process lives, and how to talk to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace stagewright::runlog {

inline constexpr double kHeartbeatSeconds = 1.0;          // how often a lease is written
inline constexpr double kSilentAfterSeconds = 10.0;       // older than this: the process is stuck, stopped or gone

// A process, named so that a reused pid is not taken for it.
struct ProcessIdentity {
    int pid = 0;
    std::uint64_t startTicks = 0;          // since boot
    std::string bootId;                    // pids and ticks mean something within one boot only
    std::string pidNamespace;              // and within one container only
    std::string host;
    bool operator==(const ProcessIdentity &) const = default;
};
ProcessIdentity thisProcess();

enum class Liveness { Alive, Gone, CannotTell };          // CannotTell: it runs on another host or in another container
Liveness livenessOf(const ProcessIdentity &process);

struct Lease {
    ProcessIdentity process;
    std::string runId;
    std::string socket;                    // path; empty: the run has none, watch its files
    double heartbeat = 0;                  // when it was written, seconds since 1970
    double trainingSign = 0;               // last sign of life of the training thread, seconds since 1970
    std::string state;                     // as in events::State
    std::int64_t step = -1;                // last update made
    std::int64_t records = 0;              // lines of the history so far
    std::int64_t residentBytes = 0, hostAvailableBytes = 0;
    std::int64_t oomKills = -1;            // the kernel's counter when the lease was written
    std::optional<int> exit;               // set by the last writing, when the run is over
    std::string sentence;                  // with exit: how it ended
};

std::filesystem::path leasePath(const std::filesystem::path &runFolder);
// Replaces the file atomically; flushed to the disk only with `flush` (the last writing), so that a heartbeat never waits for a disk.
Status writeLease(const std::filesystem::path &runFolder, const Lease &lease, bool flush = false);
Result<Lease> readLease(const std::filesystem::path &runFolder);   // a file that is not a lease is an error, never an assertion

} // namespace stagewright::runlog
