// Memory and step time against settings: all combinations of the values of some options.
#pragma once

#include "core/plan/planner.h"

namespace stagewright::plan {

inline constexpr std::int64_t kMostPoints = 20'000;

// The stage with these values, as if they had been given on the command line. Error (Usage): an unknown option, a value that is none of its.
Result<config::Stage> withValues(const config::Stage &stage, const std::vector<events::PlanValue> &values);

// All combinations, the last option's values changing fastest. Error (Usage): an option without values, more than kMostPoints.
Result<std::vector<std::vector<events::PlanValue>>> combinations(const std::vector<events::PlanVary> &vary);

// A point that cannot be planned says why in its sentence. Without buckets in the query a point is its worst bucket.
Result<std::vector<events::PlannedPoint>> sweep(Planner &planner, const config::Stage &stage, const PlanQuery &query, const std::vector<events::PlanVary> &vary,
                                                const Cancelled &cancelled = {});

} // namespace stagewright::plan
