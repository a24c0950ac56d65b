// How long a step will take: arithmetic of the model, traffic of what is not arithmetic, divided by what the device can do. Good for comparing
// settings; the absolute figure is right once measured steps have corrected it (calibration.h).
#pragma once

#include "core/config/known_devices.h"
#include "core/plan/work.h"

namespace stagewright::plan {

struct StepCost {
    double flops = 0;                  // of a micro-step, recomputation included
    double recomputeFlops = 0;         // of them
    double memoryBytes = 0;            // moved by elementwise work
    double linkBytes = 0;              // offloaded and fetched
    double updateBytes = 0;            // moved by the optimizer, once an update
};

// Multiply-adds count two. Sources: matrix sizes of core/model; attention 4·B·L²·h forward, 2.5 times that backward (flash recomputes its scores).
StepCost stepCost(const Work &work, const ClipShape &shape, std::int64_t offloadedBlocks);

// Seconds of one update with `accumulation` micro-steps of this shape.
double stepSeconds(const Work &work, const ClipShape &shape, std::int64_t offloadedBlocks, std::int64_t accumulation, const config::TargetDevice &device);

} // namespace stagewright::plan
