#include "core/table/bucket_search.h"

#include <cmath>

namespace stagewright::table {

namespace {

constexpr double kAreaShare = 0.8;                     // of a resolution's pixels that a clip must have

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

std::size_t BucketSearch::firstResolution(double height, double width) const
{
    std::size_t r = 0;
    while (r < m_rules.resolutions.size() && height * width < kAreaShare * static_cast<double>(m_rules.resolutions[r].pixels))        // false for NaN, as in the original
        ++r;
    return r;
}

std::int32_t BucketSearch::nearestAspect(std::size_t resolution, double ratio) const
{
    const auto &aspects = m_rules.resolutions[resolution].aspects;
    std::int32_t best = 0;
    double least = std::abs(ratio - aspects[0].ratio);
    for (std::size_t i = 1; i < aspects.size(); ++i) {
        const double distance = std::abs(ratio - aspects[i].ratio);
        if (distance < least) {
            least = distance;
            best = static_cast<std::int32_t>(i);
        }
    }
    return best;
}

SearchResult BucketSearch::find(const RowFacts &row, std::uint64_t seed) const
{
    if (row.unreadable)
        return {-1, DropReason::UnreadableValue};
    LazyDraws draws(seed);
    SizeFacts size{firstResolution(row.height, row.width), nullptr};
    SearchResult result = find(row.frames, mapFrameRate(row.fps, m_rules.fpsMax), size, draws);
    if (result.bucket >= 0) {                          // the first aspect of its resolution and frames
        std::size_t found = 0;
        for (std::size_t r = 0; r < m_first.size(); ++r) {
            if (!m_first[r].empty() && m_first[r].front() <= result.bucket)
                found = r;
        }
        result.bucket += nearestAspect(found, row.height / row.width);
    }
    return result;
}

SearchResult BucketSearch::find(double frames, const std::optional<FrameRate> &rate, const SizeFacts &size, LazyDraws &draws) const
{
    if (!rate)
        return {-1, DropReason::InvalidRate};
    if (std::isnan(frames))
        return {-1, DropReason::MissingFrames};
    const double thinned = rate->stride == 1 ? std::floor(frames) : std::floor(frames / static_cast<double>(rate->stride));
    if (const std::int32_t bucket = attempt(thinned, size, draws); bucket >= 0)
        return {bucket};
    SearchResult result{-1, failure(frames, rate->stride, size)};
    const bool byLength = result.reason == DropReason::TooFewFrames || result.reason == DropReason::TooFewAfterRate || result.reason == DropReason::NoImageBucket;
    if (m_rules.policy == DataPolicy::Keep && byLength) {
        result.bucket = keep(frames, rate->stride, size, draws);
        result.retimed = result.bucket >= 0;
    }
    return result;
}

std::int32_t BucketSearch::attempt(double frames, const SizeFacts &size, LazyDraws &draws) const
{
    for (std::size_t r = size.firstResolution; r < m_rules.resolutions.size(); ++r) {
        const BucketRules::Resolution &resolution = m_rules.resolutions[r];
        const auto at = frames == 1 ? drawImage(resolution, draws) : drawFrames(resolution, frames, draws);
        if (at)
            return m_first[r][*at] + (size.aspects ? size.aspects[r] : 0);
    }
    return -1;
}

// A bucket that frameRateFor() gives enough frames to: fewer and fewer of them are left out, until one fits.
std::int32_t BucketSearch::keep(double frames, std::int64_t stride, const SizeFacts &size, LazyDraws &draws) const
{
    for (std::int64_t thinner = stride - 1; thinner >= 1; --thinner) {
        if (const std::int32_t bucket = attempt(std::floor(frames / static_cast<double>(thinner)), size, draws); bucket >= 0)
            return bucket;
    }
    double nearest = 0;
    for (std::size_t r = size.firstResolution; r < m_rules.resolutions.size(); ++r) {
        for (const BucketRules::Frames &rule : m_rules.resolutions[r].frames) {
            const auto wanted = static_cast<double>(rule.frames);
            if (frames > 1 && frames < wanted && frames >= kStretchShare * wanted && (nearest == 0 || wanted < nearest))
                nearest = wanted;
        }
    }
    return nearest > 0 ? attempt(nearest, size, draws) : -1;
}

DropReason BucketSearch::failure(double whole, std::int64_t stride, const SizeFacts &size) const
{
    const double frames = std::floor(whole / static_cast<double>(stride));
    bool fits = false, fitsUnthinned = false;
    for (std::size_t r = size.firstResolution; r < m_rules.resolutions.size(); ++r) {
        const BucketRules::Resolution &resolution = m_rules.resolutions[r];
        fits = fits || (frames == 1 ? takesImages(resolution) : takesLength(resolution, frames));
        fitsUnthinned = fitsUnthinned || takesLength(resolution, std::floor(whole));
    }
    if (size.firstResolution == m_rules.resolutions.size())
        return DropReason::TooSmall;
    if (fits)
        return DropReason::NotDrawn;
    if (stride > 1 && fitsUnthinned)
        return DropReason::TooFewAfterRate;
    return frames == 1 ? DropReason::NoImageBucket : DropReason::TooFewFrames;
}

} // namespace stagewright::table
