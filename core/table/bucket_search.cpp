#include "core/table/bucket_search.h"

#include <cmath>
#include <optional>

#include "core/table/random.h"

namespace stagewright::table {

// Makes the row's generator when it is first asked: most rows of most stages need no draw, and seeding costs more than drawing.
class LazyDraws
{
public:
    explicit LazyDraws(std::uint64_t seed) : m_seed(seed) {}
    double next()
    {
        if (!m_generator)
            m_generator.emplace(m_seed);
        return m_generator->uniform();
    }
    bool atMost(double probability) { return probability >= 1 || next() <= probability; }

private:
    std::uint64_t m_seed;
    std::optional<Pcg64> m_generator;
};

namespace {

constexpr double kAreaShare = 0.8;                     // of a resolution's pixels that a clip must have

bool isTooSmall(const RowFacts &row, const BucketRules::Resolution &resolution)
{
    return row.height * row.width < kAreaShare * static_cast<double>(resolution.pixels);       // false for NaN, as in the original
}

std::int32_t nearestAspect(const BucketRules::Resolution &resolution, double ratio)
{
    std::int32_t best = 0;
    double least = std::abs(ratio - resolution.aspects[0].ratio);
    for (std::size_t i = 1; i < resolution.aspects.size(); ++i) {
        const double distance = std::abs(ratio - resolution.aspects[i].ratio);
        if (distance < least) {
            least = distance;
            best = static_cast<std::int32_t>(i);
        }
    }
    return best;
}

// Position of the frame count that takes a clip of `frames` (not one), or nothing.
std::optional<std::size_t> drawFrames(const BucketRules::Resolution &resolution, double frames, LazyDraws &draws)
{
    for (std::size_t i = 0; i < resolution.frames.size(); ++i) {
        const BucketRules::Frames &rule = resolution.frames[i];
        if (rule.frames == 1 || !(frames >= static_cast<double>(rule.frames)))
            continue;
        if (rule.nextProbability && draws.atMost(*rule.nextProbability))
            continue;
        if (draws.atMost(rule.probability) && rule.batchSize > 0)
            return i;
        return std::nullopt;
    }
    return std::nullopt;
}

std::optional<std::size_t> drawImage(const BucketRules::Resolution &resolution, LazyDraws &draws)
{
    for (std::size_t i = 0; i < resolution.frames.size(); ++i) {
        const BucketRules::Frames &rule = resolution.frames[i];
        if (rule.frames == 1 && draws.next() < rule.probability && rule.batchSize > 0)
            return i;
    }
    return std::nullopt;
}

bool takesImages(const BucketRules::Resolution &resolution)
{
    return !resolution.frames.empty() && resolution.frames.back().frames == 1;
}

bool takesLength(const BucketRules::Resolution &resolution, double frames)
{
    for (const BucketRules::Frames &rule : resolution.frames) {
        if (rule.frames != 1 && frames >= static_cast<double>(rule.frames))
            return true;
    }
    return frames == 1 && takesImages(resolution);
}

} // namespace

RowFacts factsOf(const Table &table, std::int64_t row, bool unreadable)
{
    return {table.number(NumberColumn::NumFrames, row), table.number(NumberColumn::Height, row), table.number(NumberColumn::Width, row),
            table.number(NumberColumn::Fps, row), unreadable};
}

BucketSearch::BucketSearch(const BucketRules &rules) : m_rules(rules)
{
    for (const BucketRules::Resolution &resolution : rules.resolutions) {
        auto &first = m_first.emplace_back();
        for (std::size_t i = 0; i < resolution.frames.size(); ++i) {
            first.push_back(m_count);
            m_count += static_cast<std::int32_t>(resolution.aspects.size());
        }
    }
}

Bucket BucketSearch::describe(std::int32_t number) const
{
    for (std::size_t r = 0; r < m_first.size(); ++r) {
        const BucketRules::Resolution &resolution = m_rules.resolutions[r];
        for (std::size_t f = 0; f < m_first[r].size(); ++f) {
            const std::int32_t aspect = number - m_first[r][f];
            if (aspect < 0 || aspect >= static_cast<std::int32_t>(resolution.aspects.size()))
                continue;
            const BucketRules::Aspect &size = resolution.aspects[static_cast<std::size_t>(aspect)];
            return {resolution.name, resolution.frames[f].frames, size.name, size.height, size.width, resolution.frames[f].batchSize, Tail::Drop, {}};
        }
    }
    return {};
}

SearchResult BucketSearch::find(const RowFacts &row, std::uint64_t seed) const
{
    if (row.unreadable)
        return {-1, DropReason::UnreadableValue};
    const auto rate = mapFrameRate(row.fps, m_rules.fpsMax);
    if (!rate)
        return {-1, DropReason::InvalidRate};
    if (std::isnan(row.frames))
        return {-1, DropReason::MissingFrames};
    const double frames = std::floor(row.frames / static_cast<double>(rate->stride));
    LazyDraws draws(seed);
    if (const std::int32_t bucket = attempt(row, frames, draws); bucket >= 0)
        return {bucket};
    SearchResult result = failure(row, frames, rate->stride);
    const bool byLength = result.reason == DropReason::TooFewFrames || result.reason == DropReason::TooFewAfterRate || result.reason == DropReason::NoImageBucket;
    if (m_rules.policy == DataPolicy::Keep && byLength) {
        result.bucket = keep(row, rate->stride, draws);
        result.retimed = result.bucket >= 0;
    }
    return result;
}

std::int32_t BucketSearch::attempt(const RowFacts &row, double frames, LazyDraws &draws) const
{
    for (std::size_t r = 0; r < m_rules.resolutions.size(); ++r) {
        const BucketRules::Resolution &resolution = m_rules.resolutions[r];
        if (isTooSmall(row, resolution))
            continue;
        const auto at = frames == 1 ? drawImage(resolution, draws) : drawFrames(resolution, frames, draws);
        if (at)
            return m_first[r][*at] + nearestAspect(resolution, row.height / row.width);
    }
    return -1;
}

// A bucket that frameRateFor() gives enough frames to: fewer and fewer of them are left out, until one fits.
std::int32_t BucketSearch::keep(const RowFacts &row, std::int64_t stride, LazyDraws &draws) const
{
    for (std::int64_t thinner = stride - 1; thinner >= 1; --thinner) {
        if (const std::int32_t bucket = attempt(row, std::floor(row.frames / static_cast<double>(thinner)), draws); bucket >= 0)
            return bucket;
    }
    double nearest = 0;
    for (const BucketRules::Resolution &resolution : m_rules.resolutions) {
        for (const BucketRules::Frames &rule : resolution.frames) {
            const auto frames = static_cast<double>(rule.frames);
            if (!isTooSmall(row, resolution) && row.frames > 1 && row.frames < frames && row.frames >= kStretchShare * frames && (nearest == 0 || frames < nearest))
                nearest = frames;
        }
    }
    return nearest > 0 ? attempt(row, nearest, draws) : -1;
}

SearchResult BucketSearch::failure(const RowFacts &row, double frames, std::int64_t stride) const
{
    bool large = false, fits = false, fitsUnthinned = false;
    for (const BucketRules::Resolution &resolution : m_rules.resolutions) {
        if (isTooSmall(row, resolution))
            continue;
        large = true;
        fits = fits || (frames == 1 ? takesImages(resolution) : takesLength(resolution, frames));
        fitsUnthinned = fitsUnthinned || takesLength(resolution, std::floor(row.frames));
    }
    if (!large)
        return {-1, DropReason::TooSmall};
    if (fits)
        return {-1, DropReason::NotDrawn};
    if (stride > 1 && fitsUnthinned)
        return {-1, DropReason::TooFewAfterRate};
    return {-1, frames == 1 ? DropReason::NoImageBucket : DropReason::TooFewFrames};
}

} // namespace stagewright::table
