// What to change when a stage does not fit: deeper checkpointing, the activation buffer, a smaller batch, a shorter dtype, best first.
#pragma once

#include "core/plan/planner.h"

namespace stagewright::plan {

inline constexpr std::size_t kMostRemedies = 3;

// Each remedy is a kind of change at its mildest value that makes every bucket of the query fit (with half the error band to spare), or at its strongest
// where none does. Those that fit come first, the fastest a sample first; then those that save most. What saves less than 2 % is left out, so the list
// may be empty. A stage that fits by its prediction, yet met its limit, has to go 10 % below what was predicted.
// Errors: those of askedStage(), cancelled.
Result<std::vector<events::PlannedRemedy>> remedies(Planner &planner, const config::Stage &stage, const PlanQuery &query, const Cancelled &cancelled = {});

} // namespace stagewright::plan
