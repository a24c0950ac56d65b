// Training states of a few kilobytes with every part filled, and their comparison bit by bit.
#pragma once

#include <string>

#include "core/checkpoint/training_state.h"

namespace stagewright::tests {

struct StateShape {
    at::ScalarType dtype = at::kBFloat16;    // masters exist where this is not kFloat
    bool ema = true;
    bool gradients = false;
    bool moments = true;
    std::int64_t width = 24;
    std::int64_t layers = 3;
    std::uint64_t seed = 1;
};

checkpoint::TrainingState makeState(const StateShape &shape = {});
// Same names, shapes and defined parts, other values; moments undefined.
checkpoint::TrainingState emptyLike(const checkpoint::TrainingState &state);
// Changes every tensor in place, as an update would.
void moveOn(checkpoint::TrainingState &state, std::int64_t step);
checkpoint::TrainingState cloneOf(const checkpoint::TrainingState &state);

// "" where equal bit for bit in everything a checkpoint keeps; else the first difference.
std::string difference(const checkpoint::TrainingState &a, const checkpoint::TrainingState &b);

} // namespace stagewright::tests
