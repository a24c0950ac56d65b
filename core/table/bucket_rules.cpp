#include <algorithm>
#include <charconv>

#include "core/config/aspect.h"
#include "core/table/buckets.h"

namespace stagewright::table {

namespace {

// height / width of an aspect's name, which is written width:height.
double ratioOf(const std::string &name)
{
    double width = 1, height = 1;
    const std::size_t colon = name.find(':');
    std::from_chars(name.data(), name.data() + std::min(colon, name.size()), width);
    if (colon != std::string::npos)
        std::from_chars(name.data() + colon + 1, name.data() + name.size(), height);
    return height / width;
}

Result<BucketRules::Resolution> resolutionRules(const std::string &name, int granularity)
{
    const auto parsed = config::parseResolution(name);
    if (!parsed)
        return parsed.error();
    BucketRules::Resolution resolution;
    resolution.name = name;
    resolution.pixels = parsed->pixels;
    for (const config::AspectSize &size : config::aspectTable(*parsed, granularity))
        resolution.aspects.push_back({size.name, size.height, size.width, ratioOf(size.name)});
    if (resolution.aspects.empty()) {
        return Error(ExitCode::Usage, "config.bucket-without-aspect", "bucket_config: " + name + " has no size at a granularity of "
                     + std::to_string(granularity) + " pixels; choose another resolution or aspect");
    }
    return resolution;
}

} // namespace

std::int64_t BucketRules::bucketCount() const
{
    std::int64_t count = 0;
    for (const Resolution &resolution : resolutions)
        count += static_cast<std::int64_t>(resolution.frames.size() * resolution.aspects.size());
    return count;
}

Result<BucketRules> bucketRules(const std::vector<config::BucketRow> &rows, int granularity, std::int64_t seed, double fpsMax)
{
    BucketRules rules;
    rules.seed = seed;
    rules.fpsMax = fpsMax;
    for (const config::BucketRow &row : rows) {
        auto at = std::find_if(rules.resolutions.begin(), rules.resolutions.end(), [&](const auto &known) { return known.name == row.resolution; });
        if (at == rules.resolutions.end()) {
            auto resolution = resolutionRules(row.resolution, granularity);
            if (!resolution)
                return resolution.error();
            at = rules.resolutions.insert(at, std::move(*resolution));
        }
        at->frames.push_back({row.frames, row.probability, row.nextProbability, row.batchSize});
    }
    std::stable_sort(rules.resolutions.begin(), rules.resolutions.end(), [](const auto &a, const auto &b) { return a.pixels > b.pixels; });
    for (auto &resolution : rules.resolutions)
        std::stable_sort(resolution.frames.begin(), resolution.frames.end(), [](const auto &a, const auto &b) { return a.frames > b.frames; });
    return rules;
}

} // namespace stagewright::table
