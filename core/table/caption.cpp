#include "core/table/caption.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace stagewright::table {

namespace {

constexpr double kSaysRateBelow = 999;                 // a limit that high means: no limit

std::optional<std::string> ratePart(const Table &table, const CaptionRules &rules, const std::optional<FrameRate> &rate)
{
    if (!rate || rate->newFps == 0 || !(rules.fpsMax < kSaysRateBelow))
        return std::nullopt;
    const bool whole = rate->computed || table.isIntegerColumn(NumberColumn::Fps);
    return (whole ? std::to_string(static_cast<std::int64_t>(rate->newFps)) : pythonFloat(rate->newFps)) + " FPS";
}

std::optional<std::string> motionPart(const Table &table, const CaptionRules &rules, std::int64_t row)
{
    const double score = table.number(NumberColumn::MotionScore, row);
    if (!rules.motionScore || !std::isfinite(score))
        return std::nullopt;
    return std::to_string(static_cast<std::int64_t>(score + 0.5)) + " motion score";
}

} // namespace

std::string captionOf(const Table &table, const CaptionRules &rules, std::int64_t row)
{
    return captionOf(table, rules, row, mapFrameRate(table.number(NumberColumn::Fps, row), rules.fpsMax), 0);
}

std::string captionOf(const Table &table, const CaptionRules &rules, std::int64_t row, const std::optional<FrameRate> &shown, std::int64_t which)
{
    std::string text(table.caption(row, which));
    const auto rate = ratePart(table, rules, shown), motion = motionPart(table, rules, row);
    if (!rate && !motion)
        return text;
    text += ' ' + rate.value_or("");
    if (rate && motion)
        text += ", ";
    return text + motion.value_or("") + '.';
}

std::string pythonFloat(double value)
{
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value < 0 ? "-inf" : "inf";
    char text[400];
    const double size = std::abs(value);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    const auto end = std::to_chars(text, text + sizeof text, value, plain ? std::chars_format::fixed : std::chars_format::scientific).ptr;
    std::string result(text, end);
    if (plain && result.find('.') == std::string::npos)
        result += ".0";
    return result;
}

} // namespace stagewright::table
