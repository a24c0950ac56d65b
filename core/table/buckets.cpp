#include "core/table/buckets.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <xxhash.h>

#include "core/base/units.h"
#include "core/table/bucket_search.h"

namespace stagewright::table {

namespace {

constexpr std::int64_t kRowsAtOnce = 16 * 1024;

struct RowResults {
    std::vector<std::int32_t> bucket;
    std::vector<DropReason> reason;
    std::vector<char> retimed;
};

// Rows are independent of each other, so any thread may take any piece.
RowResults searchAll(const Table &table, const BucketRules &rules, const BucketSearch &search, std::int64_t epoch, int threads)
{
    const std::int64_t rows = table.rowCount();
    const auto perRow = static_cast<std::uint64_t>(rules.bucketCount());
    RowResults results{std::vector<std::int32_t>(static_cast<std::size_t>(rows)), std::vector<DropReason>(static_cast<std::size_t>(rows)),
                       std::vector<char>(rules.policy == DataPolicy::Keep ? static_cast<std::size_t>(rows) : 0)};
    std::atomic<std::int64_t> next{0};
    const auto work = [&] {
        for (std::int64_t begin = next.fetch_add(kRowsAtOnce); begin < rows; begin = next.fetch_add(kRowsAtOnce)) {
            const auto &bad = table.unreadableRows();
            auto nextBad = std::lower_bound(bad.begin(), bad.end(), begin);
            for (std::int64_t row = begin; row < std::min(begin + kRowsAtOnce, rows); ++row) {
                const bool unreadable = nextBad != bad.end() && *nextBad == row;
                nextBad += unreadable;
                const auto seed = static_cast<std::uint64_t>(rules.seed + epoch) + static_cast<std::uint64_t>(row) * perRow;
                const SearchResult found = search.find(factsOf(table, row, unreadable), seed);
                results.bucket[row] = found.bucket;
                results.reason[row] = found.reason;
                if (found.retimed)
                    results.retimed[row] = 1;
            }
        }
    };
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i)
        others.emplace_back(work);
    work();
    return results;
}

void addRow(Drops &drops, std::int64_t row)
{
    if (drops.firstRows.size() < Drops::kFirstRows)
        drops.firstRows.push_back(row);
    ++drops.count;
}

} // namespace

const char *reasonName(DropReason reason)
{
    static constexpr std::array<const char *, kDropReasons> names{
        "unreadable_value", "missing_frames", "invalid_rate", "too_small", "too_few_frames", "too_few_frames_after_rate",
        "no_image_bucket", "not_drawn"};
    return names[static_cast<std::size_t>(reason)];
}

std::int64_t BucketPlan::batches() const
{
    std::int64_t count = 0;
    for (const Bucket &bucket : buckets)
        count += bucket.batches();
    return count;
}

BucketPlan assignBuckets(const Table &table, const BucketRules &rules, std::int64_t epoch, int threads)
{
    const BucketSearch search(rules);
    RowResults results = searchAll(table, rules, search, epoch, threads);
    BucketPlan plan;
    plan.epoch = epoch;
    plan.seed = rules.seed;
    plan.rows = table.rowCount();
    plan.tail = rules.policy == DataPolicy::Keep ? Tail::Fill : Tail::Drop;
    plan.bucketOfRow = std::move(results.bucket);
    std::vector<std::int32_t> order(static_cast<std::size_t>(search.count()), -1);     // number in the search → position in the plan
    for (std::int64_t row = 0; row < plan.rows; ++row) {
        std::int32_t &bucket = plan.bucketOfRow[static_cast<std::size_t>(row)];
        if (bucket < 0) {
            addRow(plan.drops[static_cast<std::size_t>(results.reason[static_cast<std::size_t>(row)])], row);
            continue;
        }
        std::int32_t &position = order[static_cast<std::size_t>(bucket)];
        if (position < 0) {
            position = static_cast<std::int32_t>(plan.buckets.size());
            plan.buckets.push_back(search.describe(bucket));
            plan.buckets.back().tail = plan.tail;
        }
        bucket = position;
        plan.buckets[static_cast<std::size_t>(position)].rows.push_back(static_cast<std::int32_t>(row));
        ++plan.kept;
        if (!results.retimed.empty() && results.retimed[static_cast<std::size_t>(row)])
            addRow(plan.retimed, row);
    }
    return plan;
}

std::string fingerprint(const Table &table, const BucketRules &rules)
{
    std::string text = table.fingerprint() + ';' + std::to_string(rules.seed) + ';' + formatNumber(rules.fpsMax);
    for (const BucketRules::Resolution &resolution : rules.resolutions) {
        text += ';' + resolution.name;
        for (const BucketRules::Frames &frames : resolution.frames) {
            text += ',' + std::to_string(frames.frames) + '@' + formatNumber(frames.probability) + '/'
                + (frames.nextProbability ? formatNumber(*frames.nextProbability) : std::string("-")) + '*' + std::to_string(frames.batchSize);
        }
        for (const BucketRules::Aspect &aspect : resolution.aspects)
            text += ',' + aspect.name + '=' + std::to_string(aspect.height) + 'x' + std::to_string(aspect.width);
    }
    if (rules.policy == DataPolicy::Keep)
        text += ";keep";
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    char hex[33];
    std::snprintf(hex, sizeof hex, "%016llx%016llx", static_cast<unsigned long long>(hash.high64), static_cast<unsigned long long>(hash.low64));
    return hex;
}

} // namespace stagewright::table
