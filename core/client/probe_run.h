// A few updates of a stage in a worker that is thrown away: what they take, measured.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/config/stage.h"

namespace stagewright::client {

struct ProbeOutcome {
    std::int64_t peakBytes = 0;        // highest of the updates after the first (of the first, where there was only that)
    double stepSeconds = 0;            // their median
    std::int64_t updates = 0;
    bool outOfMemory = false;          // a result, not an error
    std::string sentence;              // why there are no figures; empty where there are
};

// Trains `updates` updates in a folder of its own below the system's temporary one and removes it. Blocks; `keepGoing` is asked ten times a second, false
// gives up: Error (Stopped).
Result<ProbeOutcome> probeRun(const config::Stage &stage, std::int64_t updates, double deadlineSeconds, const std::function<bool()> &keepGoing = {});

} // namespace stagewright::client
