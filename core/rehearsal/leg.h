// One stretch of a rehearsal: a worker that trains a given number of updates from a checkpoint and stops with a save.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/client/client.h"
#include "core/config/stage.h"

namespace stagewright::rehearsal {

struct Leg {
    std::string name;                        // the run's name, and "reference", "first leg" … in sentences
    std::string load;                        // checkpoint it starts from
    std::int64_t steps = 0;
    bool resumes = false;                    // goes on from an earlier leg: the stage's own wishes about the place in the data were heard there
};

struct Walked {
    std::filesystem::path checkpoint;        // where it ended
    std::vector<events::Record> steps;       // Step records, in order
    std::string device;
};

// Runs the leg in scratch/name and waits for its end. tick: called several times a second with the updates made so far; false cancels (the worker is
// stopped at once). Errors: what the worker ended with; cancelled (Stopped); no sign of life for ten minutes.
Result<Walked> walk(const Leg &leg, const config::Stage &stage, const std::filesystem::path &scratch, const std::filesystem::path &worker,
                    const std::function<bool(std::int64_t)> &tick);

} // namespace stagewright::rehearsal
