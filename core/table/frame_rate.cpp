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

} // namespace stagewright::table
