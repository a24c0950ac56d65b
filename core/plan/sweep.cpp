#include "core/plan/sweep.h"

#include "core/base/units.h"
#include "core/config/overrides.h"

namespace stagewright::plan {

Result<config::Stage> withValues(const config::Stage &stage, const std::vector<events::PlanValue> &values)
{
    std::vector<config::Override> overrides;
    for (const auto &value : values)
        overrides.push_back({value.path, value.text});
    return config::overridden(stage, overrides);
}

Result<std::vector<std::vector<events::PlanValue>>> combinations(const std::vector<events::PlanVary> &vary)
{
    std::int64_t count = 1;
    for (const auto &option : vary) {
        if (option.values.empty())
            return Error(ExitCode::Usage, "run.command-line", "--vary " + option.path + " needs values: --vary " + option.path + "=1,2,4");
        const auto values = static_cast<std::int64_t>(option.values.size());
        if (count > kMostPoints / values) {
            return Error(ExitCode::Usage, "memory.too-many-points", "the values of --vary make more than " + formatCount(kMostPoints) + " combinations, which is more than anybody "
                         "can look at: vary fewer options at a time, or give fewer values");
        }
        count *= values;
    }
    std::vector<std::vector<events::PlanValue>> all;
    for (std::int64_t number = 0; number < count; ++number) {
        std::vector<events::PlanValue> point(vary.size());
        std::int64_t rest = number;
        for (std::size_t i = vary.size(); i-- > 0;) {
            const auto values = static_cast<std::int64_t>(vary[i].values.size());
            point[i] = {vary[i].path, vary[i].values[static_cast<std::size_t>(rest % values)]};
            rest /= values;
        }
        all.push_back(std::move(point));
    }
    return all;
}

namespace {

Result<std::vector<BucketPrediction>> bucketsOf(Planner &planner, const config::Stage &stage, const PlanQuery &query, const Cancelled &cancelled)
{
    Problems notes;
    const auto asked = askedStage(stage, query, notes);
    return asked ? planner.buckets(*asked, query, cancelled) : Result<std::vector<BucketPrediction>>(asked.error());
}

events::PlannedPoint pointOf(Planner &planner, const config::Stage &stage, const PlanQuery &query, const std::vector<events::PlanValue> &values, const Cancelled &cancelled)
{
    events::PlannedPoint point;
    point.values = values;
    const auto changed = withValues(stage, values);
    const auto buckets = changed ? bucketsOf(planner, *changed, query, cancelled) : Result<std::vector<BucketPrediction>>(changed.error());
    if (!buckets) {
        point.sentence = buckets.error().message();
        point.fits = false;
        return point;
    }
    for (const auto &bucket : *buckets) {
        point.peakBytes = std::max(point.peakBytes, bucket.memory.peak);
        point.fits = point.fits && bucket.fits;
    }
    point.stepSeconds = meanStepSeconds(*buckets);
    return point;
}

} // namespace

Result<std::vector<events::PlannedPoint>> sweep(Planner &planner, const config::Stage &stage, const PlanQuery &query, const std::vector<events::PlanVary> &vary, const Cancelled &cancelled)
{
    const auto all = combinations(vary);
    if (!all)
        return all.error();
    std::vector<events::PlannedPoint> points;
    for (const auto &values : *all) {
        if (cancelled && cancelled())
            return Error(ExitCode::Stopped, "memory.plan-cancelled", "the sweep was cancelled after " + std::to_string(points.size()) + " of " + std::to_string(all->size()) + " points");
        points.push_back(pointOf(planner, stage, query, values, cancelled));
    }
    return points;
}

} // namespace stagewright::plan
