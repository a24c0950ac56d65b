#include <algorithm>
#include <cmath>

#include "core/table/buckets.h"

namespace stagewright::table {

std::optional<FrameRate> mapFrameRate(double fps, double fpsMax)
{
    if (std::isinf(fps))
        return std::nullopt;
    if (std::isnan(fps))
        return FrameRate{};
    if (fps < fpsMax)
        return FrameRate{fps, 1, false};
    const double stride = std::ceil(fps / fpsMax);
    return FrameRate{std::floor(fps / stride), static_cast<std::int64_t>(stride), true};
}

std::optional<FrameRate> frameRateFor(const BucketRules &rules, double fps, double frames, std::int64_t bucketFrames)
{
    auto rate = mapFrameRate(fps, rules.fpsMax);
    if (!rate || rules.policy == DataPolicy::Original || rate->stride == 1)
        return rate;
    const auto before = static_cast<double>(rate->stride - 1);
    if (fps / before <= rules.fpsMax * (1 + kRateTolerance))
        --rate->stride;
    const double enough = std::floor(frames / static_cast<double>(bucketFrames));          // how far it may be thinned out; NaN: not known
    if (enough < static_cast<double>(rate->stride))
        rate->stride = static_cast<std::int64_t>(std::max(enough, 1.0));
    rate->computed = rate->stride > 1;
    rate->newFps = rate->computed ? std::floor(fps / static_cast<double>(rate->stride)) : fps;
    return rate;
}

} // namespace stagewright::table
