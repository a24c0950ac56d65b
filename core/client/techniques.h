// The ways to save memory, each alone and together: a stage with and without them, to be planned or measured side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/stage.h"
#include "core/events/plan.h"

namespace stagewright::client {

struct Techniques {
    enum class Checkpointing { None, Half, All };      // of the blocks
    Checkpointing checkpointing = Checkpointing::None;
    bool offload = false;                              // inputs of checkpointed blocks wait in host memory
    bool bf16 = false;                                 // instead of fp32
    bool halfBatch = false;                            // of the bucket
    bool operator==(const Techniques &) const = default;
};
std::string nameOf(const Techniques &techniques);      // "half of the blocks checkpointed, bf16"; "nothing" for none of them

struct TechniquePoint {
    Techniques techniques;
    std::vector<events::PlanValue> values;             // what they set in the stage
    std::int64_t batchSize = 0;                        // of the bucket
    config::Stage stage;                               // with the values, and with this bucket only
};

// All combinations that differ in this stage, of one bucket ("256px/129"); the first has none of them. Errors: no such bucket, a model without blocks, a
// value that the stage does not take.
Result<std::vector<TechniquePoint>> techniquePoints(const config::Stage &stage, const std::string &bucket);

// Against the first point: memory in bytes, time of a clip as a fraction of the first one's (0.25: a quarter longer). Figures of 0 are not known.
struct TechniqueFigures {
    std::int64_t peakBytes = 0;
    double clipSeconds = 0;                            // an update's time over the clips of its batches
};
struct TechniqueGain {
    std::int64_t savedBytes = 0;
    double savedPart = 0;                              // of the first point's
    double timeLost = 0;
};
TechniqueGain gainOf(const TechniqueFigures &first, const TechniqueFigures &with);

} // namespace stagewright::client
