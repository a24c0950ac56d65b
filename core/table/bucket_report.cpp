#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/table/bucket_search.h"
#include "core/table/buckets.h"

namespace stagewright::table {

namespace {

constexpr std::size_t kShownBuckets = 40;

std::string padded(std::string text, std::size_t width)
{
    return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

std::string tableLine(const std::vector<std::string> &cells)
{
    static constexpr std::array<std::size_t, 7> widths{12, 7, 8, 11, 10, 11, 9};
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i)
        line += padded(cells[i], widths[i]) + (i + 1 < cells.size() ? " " : "");
    return line + '\n';
}

std::string dropLines(const BucketPlan &plan)
{
    std::string text;
    for (std::size_t i = 0; i < kDropReasons; ++i) {
        const Drops &drops = plan.drops[i];
        if (drops.count > 0)
            text += "  " + formatCount(drops.count) + " " + reasonName(static_cast<DropReason>(i)) + " (" + describeRows(drops.firstRows, drops.count) + ")\n";
    }
    return text;
}

// The largest b with at least `ranks` batches of b over all buckets; 0 where not even single rows suffice.
std::int64_t largestBatchSize(const BucketPlan &plan, std::int64_t ranks)
{
    const auto works = [&](std::int64_t size) {
        std::int64_t batches = 0;
        for (const Bucket &bucket : plan.buckets)
            batches += bucket.samples() / size;
        return batches >= ranks;
    };
    std::int64_t low = 0, high = plan.kept + 1;
    while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (works(middle) ? low : high) = middle;
    }
    return low;
}

std::string advice(const BucketPlan &plan, std::int64_t worldSize)
{
    if (plan.kept == 0)
        return "no row fits a bucket: lower the resolutions or frame counts of bucket_config, or raise dataset.fps_max";
    const std::int64_t size = largestBatchSize(plan, worldSize);
    if (size == 0) {
        return "the " + formatCount(plan.kept) + " rows that fit are fewer than the " + std::to_string(worldSize)
            + " ranks: use fewer ranks or add clips";
    }
    return "the largest batch size that would work in all buckets is " + std::to_string(size) + ": lower those of bucket_config, or add clips";
}

// The smallest number of frames that any resolution which the row is large enough for takes, with that resolution's name.
std::pair<std::int64_t, std::string> smallestNeed(const BucketRules &rules, const RowFacts &row)
{
    std::pair<std::int64_t, std::string> least{0, {}};
    for (const auto &resolution : rules.resolutions) {
        if (row.height * row.width < 0.8 * static_cast<double>(resolution.pixels))
            continue;
        for (const auto &frames : resolution.frames) {
            if (frames.frames != 1 && (least.first == 0 || frames.frames < least.first))
                least = {frames.frames, resolution.name};
        }
    }
    return least;
}

std::string need(const BucketRules &rules, const RowFacts &row)
{
    const auto [frames, name] = smallestNeed(rules, row);
    if (frames == 0)
        return "no bucket takes more than one frame";
    return "the smallest bucket (" + name + ") needs " + std::to_string(frames);
}

std::string whyTooSmall(const BucketRules &rules, const RowFacts &row)
{
    const auto &smallest = rules.resolutions.back();
    return formatNumber(row.height) + "x" + formatNumber(row.width) + " is " + formatNumber(row.height * row.width) + " pixels, and the smallest resolution ("
        + smallest.name + ") needs at least " + formatNumber(std::ceil(0.8 * static_cast<double>(smallest.pixels)));
}

std::string whyDropped(const Table &table, const BucketRules &rules, std::int64_t row, DropReason reason)
{
    const RowFacts facts = factsOf(table, row, false);
    const std::string frames = formatNumber(facts.frames) + (facts.frames == 1 ? " frame" : " frames");
    switch (reason) {
    case DropReason::UnreadableValue:
        for (const BadCell &cell : table.badCells()) {
            if (cell.row == row)
                return std::string(columnName(cell.column)) + " is \"" + cell.text + "\", which is not a number";
        }
        return "a number cannot be read";
    case DropReason::MissingFrames: return "num_frames is empty";
    case DropReason::InvalidRate: return "fps is infinite";
    case DropReason::TooSmall: return whyTooSmall(rules, facts);
    case DropReason::TooFewFrames: return frames + ", and " + need(rules, facts);
    case DropReason::TooFewAfterRate: {
        const FrameRate rate = *mapFrameRate(facts.fps, rules.fpsMax);
        return frames + " at " + formatNumber(facts.fps) + " fps -> " + formatNumber(std::floor(facts.frames / static_cast<double>(rate.stride)))
            + " after resampling to at most " + formatNumber(rules.fpsMax) + " fps (one frame in " + std::to_string(rate.stride) + "), and " + need(rules, facts);
    }
    case DropReason::NoImageBucket: return "one frame, and no resolution that it is large enough for has a bucket of 1 frame";
    case DropReason::NotDrawn: return "it fits, but the probabilities of bucket_config left it out in this epoch";
    }
    return {};
}

std::optional<DropReason> reasonOf(const Table &table, const BucketRules &rules, const BucketPlan &plan, std::int64_t row)
{
    if (plan.bucketOfRow[static_cast<std::size_t>(row)] >= 0)
        return std::nullopt;
    const bool unreadable = std::binary_search(table.unreadableRows().begin(), table.unreadableRows().end(), row);
    const auto seed = static_cast<std::uint64_t>(rules.seed + plan.epoch + row * rules.bucketCount());
    return BucketSearch(rules).find(factsOf(table, row, unreadable), seed).reason;
}

} // namespace

std::string describePlan(const BucketPlan &plan, std::int64_t worldSize)
{
    std::string text = tableLine({"resolution", "frames", "aspect", "size", "samples", "batch size", "batches"});
    std::vector<const Bucket *> sorted;
    for (const Bucket &bucket : plan.buckets)
        sorted.push_back(&bucket);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Bucket *a, const Bucket *b) { return a->samples() > b->samples(); });
    for (std::size_t i = 0; i < std::min(sorted.size(), kShownBuckets); ++i) {
        const Bucket &bucket = *sorted[i];
        text += tableLine({bucket.resolution, std::to_string(bucket.frames), bucket.aspectRatio,
                           std::to_string(bucket.height) + "x" + std::to_string(bucket.width), formatCount(bucket.samples()),
                           std::to_string(bucket.batchSize), formatCount(bucket.batches())});
    }
    if (sorted.size() > kShownBuckets)
        text += "  and " + std::to_string(sorted.size() - kShownBuckets) + " more buckets with fewer samples\n";
    text += formatCount(plan.rows) + " rows: " + formatCount(plan.kept) + " kept, " + formatCount(plan.rows - plan.kept) + " dropped\n" + dropLines(plan);
    if (plan.retimed.count > 0) {
        text += "  " + formatCount(plan.retimed.count) + " of the kept rows are re-timed, which the original would drop ("
            + describeRows(plan.retimed.firstRows, plan.retimed.count) + ")\n";
    }
    const BucketPlan::Use use = plan.use(worldSize);
    text += formatCount(plan.batches()) + " batches in all, " + formatCount(plan.batchesPerRank(worldSize)) + " for each of " + std::to_string(worldSize)
        + (worldSize == 1 ? " rank; " : " ranks; ");
    return text + (plan.tail == Tail::Fill ? formatCount(use.repeated) + " rows train twice in an epoch to fill its last batches\n"
                                           : formatCount(use.lost) + " kept rows are not reached\n");
}

Status checkBatches(const Table &table, const BucketPlan &plan, std::int64_t worldSize)
{
    if (plan.batchesPerRank(worldSize) > 0)
        return Done{};
    const std::string file = table.file().string();
    std::string message = file + " gives " + (plan.batches() == 0 ? std::string("no batch at all")
        : "only " + std::to_string(plan.batches()) + (plan.batches() == 1 ? " batch" : " batches") + " for " + std::to_string(worldSize) + " ranks")
        + ", so nothing can be trained: " + advice(plan, worldSize) + ".\n" + describePlan(plan, worldSize);
    message.pop_back();
    return Error(ExitCode::Data, "data.no-batch", message, file);
}

std::vector<std::int64_t> droppedRows(const Table &table, const BucketRules &rules, const BucketPlan &plan, DropReason reason)
{
    std::vector<std::int64_t> rows;
    for (std::int64_t row = 0; row < plan.rows; ++row) {
        if (reasonOf(table, rules, plan, row) == reason)
            rows.push_back(row);
    }
    return rows;
}

std::string explainDrop(const Table &table, const BucketRules &rules, const BucketPlan &plan, std::int64_t row)
{
    const auto reason = reasonOf(table, rules, plan, row);
    return reason ? "row " + std::to_string(row) + ": " + whyDropped(table, rules, row, *reason) : std::string();
}

Problems dropProblems(const Table &table, const BucketRules &rules, const BucketPlan &plan)
{
    Problems problems;
    for (std::size_t i = 0; i < kDropReasons; ++i) {
        const Drops &drops = plan.drops[i];
        if (drops.count == 0 || static_cast<DropReason>(i) == DropReason::NotDrawn)
            continue;
        Problem problem;
        problem.severity = Severity::Warning;
        problem.code = "data.dropped-rows";
        problem.file = table.file().string();
        problem.path = "bucket_config";
        problem.message = formatCount(drops.count) + " of " + formatCount(plan.rows) + " rows get no bucket (" + reasonName(static_cast<DropReason>(i)) + "): "
            + describeRows(drops.firstRows, drops.count) + ". " + explainDrop(table, rules, plan, drops.firstRows.front());
        problems.push_back(std::move(problem));
    }
    return problems;
}

} // namespace stagewright::table
