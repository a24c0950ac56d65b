// What the fake worker was told to do.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stagewright::fake {

struct Behaviour {
    std::filesystem::path runFolder;
    std::int64_t steps = 200, stepMs = 20, startupMs = 0;
    std::int64_t checkpointEvery = 50, saveMs = 200, failSave = 0;
    std::int64_t exitAt = 0, exit = 1;
    std::int64_t abortAt = 0, killAt = 0, segvAt = 0, suspendAt = 0;
    std::int64_t stallAt = 0, stallMs = 3000;
    std::int64_t floodAt = 0, flood = 100'000;
    std::int64_t refuseStart = 0, nonfiniteAt = 0, seed = 1;
};

// From the command line and STAGEWRIGHT_FAKE (which is read first). Options of the real worker that mean nothing here are passed over.
Result<Behaviour> behaviourFrom(const std::vector<std::string> &arguments);

} // namespace stagewright::fake
