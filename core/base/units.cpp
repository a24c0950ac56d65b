#include "core/base/units.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace stagewright {

namespace {

std::string printed(const char *format, double value, const char *unit)
{
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return std::string(text.data()) + " " + unit;
}

} // namespace

std::string formatBytes(double bytes)
{
    const double size = std::fabs(bytes);
    if (size >= kGiB * 1024)
        return printed("%.1f", bytes / (kGiB * 1024), "TiB");
    if (size >= kGiB)
        return printed("%.1f", bytes / kGiB, "GiB");
    if (size >= 100 * 1024.0 * 1024.0)
        return printed("%.0f", bytes / (1024.0 * 1024.0), "MiB");
    if (size >= 1024.0 * 1024.0)
        return printed("%.1f", bytes / (1024.0 * 1024.0), "MiB");
    if (size >= 1024.0)
        return printed("%.0f", bytes / 1024.0, "KiB");
    return printed("%.0f", bytes, "B");
}

std::string formatCount(std::int64_t count)
{
    std::string digits = std::to_string(count);
    const int first = digits[0] == '-' ? 1 : 0;
    for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

std::string formatDuration(double seconds)
{
    if (!std::isfinite(seconds))
        return "unknown";
    if (seconds < 10)
        return printed("%.2f", seconds, "s");
    if (seconds < 60)
        return printed("%.0f", seconds, "s");
    const auto whole = static_cast<std::int64_t>(std::llround(seconds));
    const auto two = [](std::int64_t a, const char *au, std::int64_t b, const char *bu) {
        return std::to_string(a) + " " + au + (b ? " " + std::to_string(b) + " " + bu : "");
    };
    if (whole < 3600)
        return two(whole / 60, "min", whole % 60, "s");
    if (whole < 86400)
        return two(whole / 3600, "h", whole % 3600 / 60, "min");
    return two(whole / 86400, "d", whole % 86400 / 3600, "h");
}

std::string formatNumber(double value)
{
    std::array<char, 64> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return std::string(text.data(), end);
}

std::optional<std::int64_t> parseBytes(std::string_view text)
{
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
        text.remove_suffix(1);
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
        text.remove_prefix(1);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || !std::isfinite(number) || number < 0)
        return std::nullopt;
    std::string unit;
    for (const char *at = end; at != text.data() + text.size(); ++at) {
        if (!std::isspace(static_cast<unsigned char>(*at)))
            unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*at)));
    }
    static constexpr std::array<std::pair<std::string_view, double>, 10> units{{
        {"", 1.0}, {"b", 1.0}, {"kib", 1024.0}, {"mib", 1024.0 * 1024}, {"gib", kGiB}, {"tib", kGiB * 1024},
        {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}}};
    for (const auto &[name, factor] : units) {
        if (unit == name) {
            const double bytes = number * factor;
            if (bytes > 9.2e18)
                return std::nullopt;
            return static_cast<std::int64_t>(std::llround(bytes));
        }
    }
    return std::nullopt;
}

} // namespace stagewright
