// The fastest values of some options with which every bucket fits on a device.
#pragma once

#include "core/plan/planner.h"

namespace stagewright::plan {

// Time is seconds a sample, averaged over the buckets by their probability. What fits leaves room for half the error band. Options without values
// get those that make sense for them: all choices, all pairs of checkpoint depths, shares of the activation buffer that would hold everything,
// powers of two around a number, batch sizes of a bucket (bucket_config.256px.129). Errors: an option for which none are known (Usage), nothing fits
// (OutOfMemory, with the combination that comes nearest), cancelled.
Result<events::PlannedFit> fit(Planner &planner, const config::Stage &stage, const PlanQuery &query, const std::vector<events::PlanVary> &vary, const Cancelled &cancelled = {});

// The values that fit() would try for an option.
Result<std::vector<std::string>> candidates(const config::Stage &stage, const std::string &path);

} // namespace stagewright::plan
