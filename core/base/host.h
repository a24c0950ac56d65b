// The machine and its processes: memory, pids that may have been reused, clocks.
#pragma once

#include <cstdint>
#include <string>

namespace stagewright {

double wallSeconds();                              // since 1970; may go backwards when the clock is set
double steadySeconds();                            // never goes backwards; only differences mean something

std::int64_t hostTotalBytes();                     // RAM, or the container's limit where that is smaller
std::int64_t hostAvailableBytes();
std::int64_t residentBytes();                      // of this process

// A process is named by pid and start time together, since pids are reused. 0 where the pid does not exist.
std::uint64_t processStartTicks(int pid);
bool isSameProcessAlive(int pid, std::uint64_t startTicks);   // also false for a zombie
std::string signalName(int signal);                // "SIGKILL"

} // namespace stagewright
