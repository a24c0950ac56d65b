// A few updates of a stage in a worker that is thrown away: what they take, measured.
#pragma once

#include <cstdint>
#include <string>

#include "core/commands/command.h"

namespace stagewright::commands {

struct ProbeOutcome {
    std::int64_t peakBytes = 0;        // highest of the updates after the first (of the first, where there was only that)
    double stepSeconds = 0;            // their median
    std::int64_t updates = 0;
    bool outOfMemory = false;          // a result, not an error
    std::string sentence;              // why there are no figures; empty where there are
};

// Trains `updates` updates in a folder of its own below the system's temporary one and removes it. Error (Stopped): Ctrl-C.
Result<ProbeOutcome> probeRun(const config::Stage &stage, std::int64_t updates, double deadlineSeconds);

} // namespace stagewright::commands
