#include "core/service/run_measurements.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/units.h"

namespace stagewright::service {

namespace {

constexpr std::size_t kTimesKept = 1000;
constexpr std::int64_t kFewestUpdates = 3;     // after the first: before that the loader has not made its batches ahead

const events::PlannedBucket *plannedFor(const events::Plan &plan, const events::Bucket &bucket)
{
    const auto found = std::find_if(plan.buckets.begin(), plan.buckets.end(), [&](const events::PlannedBucket &planned) {
        return planned.resolution == bucket.resolution && planned.frames == bucket.frames && planned.batchSize == bucket.batchSize;
    });
    return found == plan.buckets.end() ? nullptr : &*found;
}

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

} // namespace

std::string RunMeasurements::keyOf(const std::string &resolution, std::int64_t frames, std::int64_t height, std::int64_t width, std::int64_t batch)
{
    return fmt::format("{}/{} {}x{} {}", resolution, frames, height, width, batch);
}

void RunMeasurements::add(const events::Step &step)
{
    const auto &bucket = step.bucket;
    Taken &taken = m_taken[keyOf(bucket.resolution, bucket.frames, bucket.height, bucket.width, bucket.batchSize)];
    if (std::exchange(taken.first, false))
        return;
    ++taken.updates;
    taken.peak = std::max(taken.peak, step.peakBytes);
    if (taken.seconds.size() < kTimesKept)
        taken.seconds.push_back(step.seconds - step.dataWaitSeconds - step.blockedSeconds);
}

std::optional<std::string> RunMeasurements::surprise(const events::Step &step, const events::Plan &plan)
{
    const auto *planned = plannedFor(plan, step.bucket);
    if (!planned || static_cast<double>(step.peakBytes) <= static_cast<double>(planned->peakBytes) * (1 + plan.errorBand))
        return std::nullopt;
    const std::string bucket = fmt::format("{}, {} frames, batch {}", planned->resolution, planned->frames, planned->batchSize);
    if (std::exchange(m_said[bucket], true))
        return std::nullopt;
    return fmt::format("bucket {} took {}, more than the {} that were predicted, give or take {:.0f} %; later plans on this machine know it", bucket,
                       formatBytes(static_cast<double>(step.peakBytes)), formatBytes(static_cast<double>(planned->peakBytes)), 100 * plan.errorBand);
}

std::vector<plan::Measurement> RunMeasurements::compared(const events::Plan &plan, const std::string &dtype, std::int64_t accumulation, std::int64_t limitBytes, double now) const
{
    std::vector<plan::Measurement> all;
    if (accumulation > 1 && plan.buckets.size() > 1)
        return all;
    for (const auto &planned : plan.buckets) {
        const auto found = m_taken.find(keyOf(planned.resolution, planned.frames, planned.height, planned.width, planned.batchSize));
        if (found == m_taken.end() || found->second.updates < kFewestUpdates)
            continue;
        const Taken &taken = found->second;
        all.push_back({.time = now, .device = plan.fitDevice, .dtype = dtype, .bucket = events::bucketName(planned.resolution, planned.frames), .predictedPeak = planned.peakBytes,
                       .measuredPeak = taken.peak, .predictedSeconds = planned.stepSeconds, .measuredSeconds = median(taken.seconds), .updates = taken.updates,
                       .limitBytes = limitBytes});
    }
    return all;
}

} // namespace stagewright::service
