// How often each bucket of a plan is trained: what the stage's table holds of it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/config/stage.h"

namespace stagewright::commands {

struct BucketSamples {
    std::int64_t samples = 0, batches = 0;     // of an epoch, all aspects and all ranks together
};

struct PlanSamples {
    std::map<std::pair<std::string, std::int64_t>, BucketSamples> ofBucket;    // by resolution and frames; a bucket without rows is missing
    std::string absent;                        // why nothing is known; empty where it is
};

// Reads the table of dataset.data_path and assigns its rows as an epoch's beginning does. What goes wrong is no error of a plan: it is said in `absent`.
PlanSamples samplesOf(const config::Stage &stage);

} // namespace stagewright::commands
