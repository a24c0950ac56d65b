// The exponential moving average of the weights.
#pragma once

#include <vector>

#include "core/checkpoint/training_state.h"

namespace stagewright::train {

enum class AveragePrecision {
    Float32,               // moves at any decay
    WeightDtype            // as the original: in bfloat16 a decay of 0.9999 never moves it
};

// Gives every trainable parameter an average that starts at its (master) weight.
void startAverage(std::vector<checkpoint::ParameterState> &parameters, AveragePrecision precision);

// ema = decay*ema + (1-decay)*weight for trainable parameters, fed by the float32 master where there is one. A bfloat16 average is
// rounded after each of its two operations, as the original's. Training thread.
void updateAverage(std::vector<checkpoint::ParameterState> &parameters, double decay);

} // namespace stagewright::train
