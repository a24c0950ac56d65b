#include "core/config/aspect.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "core/base/text.h"

namespace stagewright::config {

namespace {

struct Ratio {
    const char *name, *mirrored;
    double width, height;
};
// In the order in which the original tries them.
constexpr std::array<Ratio, 9> kRatios{{{"2.39:1", "1:2.39", 2.39, 1}, {"2:1", "1:2", 2, 1}, {"16:9", "9:16", 16, 9}, {"1.85:1", "1:1.85", 1.85, 1},
    {"9:16", "16:9", 9, 16}, {"5:8", "8:5", 5, 8}, {"3:2", "2:3", 3, 2}, {"4:3", "3:4", 4, 3}, {"1:1", "1:1", 1, 1}}};

constexpr int kLargestSide = 32768;        // pixels of a side that a name may ask for; keeps areas far from overflow

std::optional<int> wholeNumber(std::string_view digits)
{
    int number = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool onlyDigits = !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!onlyDigits || code != std::errc() || end != digits.data() + digits.size())
        return std::nullopt;
    return number;
}

Error notAResolution(std::string_view name, const std::string &detail = {})
{
    std::string sentence = "\"" + std::string(name) + "\" is not a resolution" + detail
        + "; accepted forms are \"256px\" (256 × 256 pixels), \"480p\" (16:9 of that height), and either with \"_max\" or \"_ar16:9\" behind it";
    if (const std::string meant = resolutionSuggestion(name); !meant.empty())
        sentence += ". Was \"" + meant + "\" meant?";
    return Error(ExitCode::Usage, "config.resolution", sentence);
}

// The original's search: of the size and its four neighbours by one granule, the one whose area is nearest; the first of equals.
void moveToNearestArea(int &height, int &width, std::int64_t pixels, int granularity)
{
    const std::array<std::pair<int, int>, 4> neighbours{
        {{height - granularity, width}, {height + granularity, width}, {height, width - granularity}, {height, width + granularity}}};
    std::int64_t difference = std::llabs(std::int64_t(height) * width - pixels);
    for (const auto &[h, w] : neighbours) {
        const std::int64_t other = std::llabs(std::int64_t(h) * w - pixels);
        if (other < difference) {
            height = h;
            width = w;
            difference = other;
        }
    }
}

void assign(std::vector<AspectSize> &table, const AspectSize &size)        // as a Python dict: an existing name keeps its place
{
    const auto at = std::find_if(table.begin(), table.end(), [&](const AspectSize &other) { return other.name == size.name; });
    if (at != table.end())
        *at = size;
    else
        table.push_back(size);
}

std::vector<AspectSize> sizesOfArea(std::int64_t pixels, int granularity, bool training)
{
    std::vector<AspectSize> table, mirrored;
    const double step = granularity;
    for (const Ratio &ratio : kRatios) {
        int width = static_cast<int>(std::floor(std::sqrt(double(pixels) * (ratio.width / ratio.height)) / step)) * granularity;
        if (width == 0)
            continue;
        int height = static_cast<int>(std::floor(double(pixels) / width / step)) * granularity;
        if (training)
            moveToNearestArea(height, width, pixels, granularity);
        if (height <= 0 || width <= 0)
            continue;
        const auto same = [&](const AspectSize &other) { return other.height == height && other.width == width; };
        if (training && std::any_of(table.begin(), table.end(), same))
            continue;
        assign(table, {ratio.name, height, width});
        assign(mirrored, {ratio.mirrored, width, height});
    }
    for (const AspectSize &size : mirrored)
        assign(table, size);
    return table;
}

} // namespace

std::string resolutionSuggestion(std::string_view name)
{
    const std::string low = lowered(trimmed(name));
    if (const auto side = wholeNumber(low); side && *side > 0)
        return low + "px";
    if (low != name && parseResolution(low).ok())
        return low;
    if (const auto cross = low.find('x'); cross != std::string::npos && low.substr(0, cross) == low.substr(cross + 1) && wholeNumber(low.substr(0, cross)))
        return low.substr(0, cross) + "px";
    return {};
}

Result<Resolution> parseResolution(std::string_view name)
{
    Resolution resolution;
    resolution.name = name;
    const auto parts = split(name, '_');
    const std::string &size = parts.front();
    const bool square = size.ends_with("px");
    if (!square && !size.ends_with("p"))
        return notAResolution(name);
    const auto side = wholeNumber(std::string_view(size).substr(0, size.size() - (square ? 2 : 1)));
    if (!side)
        return notAResolution(name);
    if (*side < 1 || *side > kLargestSide)
        return notAResolution(name, ": its size must lie between 1 and " + std::to_string(kLargestSide));
    resolution.pixels = square ? std::int64_t(*side) * *side : static_cast<std::int64_t>(double(std::int64_t(*side) * *side) / 9 * 16);

    if (parts.size() > 2)
        return notAResolution(name);
    if (parts.size() == 2) {
        if (parts[1] == "max")
            resolution.maxOnly = true;
        else if (parts[1].starts_with("ar") && parts[1].size() > 2)
            resolution.aspectOnly = parts[1].substr(2);
        else
            return notAResolution(name);
    }
    return resolution;
}

std::vector<AspectSize> aspectTable(const Resolution &resolution, int granularity, bool training)
{
    if (granularity < 1)
        return {};
    std::vector<AspectSize> table = sizesOfArea(resolution.pixels, granularity, training);
    if (resolution.maxOnly && !table.empty()) {
        const auto area = [](const AspectSize &size) { return std::int64_t(size.height) * size.width; };
        return {*std::max_element(table.begin(), table.end(), [&](const auto &a, const auto &b) { return area(a) < area(b); })};
    }
    if (!resolution.aspectOnly.empty())
        std::erase_if(table, [&](const AspectSize &size) { return size.name != resolution.aspectOnly; });
    return table;
}

std::vector<AspectSize> aspectTable(std::string_view resolutionName, int granularity, bool training)
{
    const auto resolution = parseResolution(resolutionName);
    return resolution ? aspectTable(*resolution, granularity, training) : std::vector<AspectSize>();
}

} // namespace stagewright::config
