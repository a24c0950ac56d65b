// How a run stands, found out from its folder alone: by the lease, the process that it names and the history's end.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/base/exit_code.h"
#include "core/runlog/lease.h"

namespace stagewright::runlog {

enum class RunState {
    Unknown,         // not a run folder, or its files cannot be read
    Starting,        // the folder was made, the worker has not taken it yet
    Running,
    Finished,        // reached its end
    Stopped,         // stopped on request
    Failed,          // ended by an error that it could still tell
    Died             // the process is gone and had no chance to say why
};
const char *runStateName(RunState state);          // "unknown", "starting", "running", "finished", "stopped", "failed", "died"
inline bool isOver(RunState state) { return state >= RunState::Finished; }

struct RunCondition {
    RunState state = RunState::Unknown;
    std::optional<int> exit;                       // CLI.md's exit code, once the run is over
    std::string sentence;                          // how it ended or what is odd about it; empty while all is well
    std::optional<Lease> lease;                    // as last written
    bool silent = false;                           // the process lives, but its heartbeat stopped (a stopped or stuck process, a full disk)
};

// Reads a few small files; no more than the last 64 KiB of the history, and only where the lease does not tell the end. Any thread.
RunCondition conditionOf(const std::filesystem::path &runFolder);
inline RunState stateOf(const std::filesystem::path &runFolder) { return conditionOf(runFolder).state; }

// What is known about a death by signal or of unknown cause, in one sentence with a next step: names the signal, and the kernel's
// killing for want of memory where its counter says so. waitStatus as from waitpid(); nothing where the dead was not our child.
struct DeathNotice {
    bool forWantOfMemory = false;
    std::string sentence;
};
DeathNotice describeDeath(const std::optional<Lease> &lease, std::optional<int> waitStatus, std::int64_t oomKillsNow);

// "death": the number of the signal that a crashing worker noted, if it could. Read by conditionOf().
std::filesystem::path deathPath(const std::filesystem::path &runFolder);

// How often the kernel has killed a process of this machine for want of memory (oom_kill of /proc/vmstat); -1 where it does not say.
std::int64_t oomKills();

} // namespace stagewright::runlog
