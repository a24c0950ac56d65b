// Which rows train together: a bucket is one resolution, number of frames and aspect, so one tensor shape. Exactly Open-Sora 2.0's assignment
// (opensora/datasets/bucket.py), with what it does not tell: how many rows get no bucket, which, and why.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/bucket_table.h"
#include "core/config/stage.h"
#include "core/table/table.h"

namespace stagewright::table {

enum class DataPolicy { Original, Keep };              // the stage's data_policy; README.md has the table of what Keep does
enum class Tail {
    Drop,              // rows that fill no batch are left out
    Pad,               // a bucket's last batch is filled up with the bucket's own first rows, each once at most: the original with drop_last off
    Fill               // the same, as often as it takes
};

// What a stage says about buckets, taken apart and in the order of the search. Plain data.
struct BucketRules {
    struct Frames {
        std::int64_t frames = 0;
        double probability = 1;
        std::optional<double> nextProbability;         // handing the row on to the next smaller frame count, asked first
        std::int64_t batchSize = 0;
    };
    struct Aspect { std::string name; std::int64_t height = 0, width = 0; double ratio = 0; };       // ratio: height / width by the name
    struct Resolution {
        std::string name;
        std::int64_t pixels = 0;
        std::vector<Frames> frames;                    // descending
        std::vector<Aspect> aspects;                   // in table order; ties go to the first
    };
    std::vector<Resolution> resolutions;               // by pixels, descending
    std::int64_t seed = 0;
    double fpsMax = 16;                                // frames a second
    DataPolicy policy = DataPolicy::Original;
    std::int64_t bucketCount() const;                  // aspects summed over (resolution, frames): part of each row's seed
};

// From bucket_config, seed, dataset.fps_max, data_policy and the aspect granularity. An error where the stage has no usable bucket_config.
Result<BucketRules> bucketRules(const config::Stage &stage);
// granularity in pixels; fpsMax in frames a second.
Result<BucketRules> bucketRules(const std::vector<config::BucketRow> &rows, int granularity, std::int64_t seed, double fpsMax);

// How a clip of `fps` is thinned out to stay at or below fpsMax: every stride-th frame, shown as newFps.
struct FrameRate {
    double newFps = 0;                                 // 0 for images (fps NaN)
    std::int64_t stride = 1;
    bool computed = false;                             // newFps is a whole number made by the stride, not the table's own value
};
// Nothing for an infinite fps. Formula: Open-Sora 2.0, map_target_fps.
std::optional<FrameRate> mapFrameRate(double fps, double fpsMax);

// How a row of that many frames is thinned out for a bucket of bucketFrames. Original: mapFrameRate. Keep: by no more than leaves enough frames, and rates
// up to kRateTolerance above a multiple of the limit count as that multiple.
std::optional<FrameRate> frameRateFor(const BucketRules &rules, double fps, double frames, std::int64_t bucketFrames);
inline constexpr double kRateTolerance = 0.05;
// Under Keep a clip with at least this share of a bucket's frames is stretched to it: some frames are shown twice.
inline constexpr double kStretchShare = 0.8;

enum class DropReason {
    UnreadableValue,       // a cell that is neither a number nor empty
    MissingFrames,         // num_frames is empty
    InvalidRate,           // fps is infinite
    TooSmall,              // below 0.8 of the pixels of every resolution
    TooFewFrames,          // shorter than every bucket of the resolutions that it is large enough for
    TooFewAfterRate,       // long enough as it is, but not after thinning out to fps_max
    NoImageBucket,         // one frame, and no resolution that it is large enough for takes images
    NotDrawn               // it fits, but the draws of this epoch said no
};
inline constexpr std::size_t kDropReasons = 8;
const char *reasonName(DropReason reason);             // "unreadable_value", "too_few_frames_after_rate", …: stable, for scripts

struct Drops {
    std::int64_t count = 0;
    std::vector<std::int64_t> firstRows;               // at most kFirstRows
    static constexpr std::size_t kFirstRows = 20;
};

struct Bucket {
    std::string resolution;
    std::int64_t frames = 0;
    std::string aspectRatio;                           // width:height, "16:9"
    std::int64_t height = 0, width = 0;                // pixels
    std::int64_t batchSize = 0;
    Tail tail = Tail::Drop;
    std::vector<std::int32_t> rows;                    // ascending

    std::int64_t samples() const { return static_cast<std::int64_t>(rows.size()); }
    std::int64_t batches() const { return (samples() + (tail == Tail::Fill ? batchSize - 1 : 0)) / batchSize; }       // of all ranks together
};

// The assignment of one epoch. Rows = kept + sum of the drops.
struct BucketPlan {
    std::int64_t epoch = 0;
    std::int64_t seed = 0;
    std::int64_t rows = 0, kept = 0;
    std::vector<Bucket> buckets;                       // in order of their first row
    std::vector<std::int32_t> bucketOfRow;             // index into buckets, or -1
    std::array<Drops, kDropReasons> drops;
    Drops retimed;                                     // kept rows that only the policy Keep kept; part of kept
    Tail tail = Tail::Drop;                            // Fill under Keep

    std::int64_t batches() const;                      // of all ranks together
    std::int64_t batchesPerRank(std::int64_t worldSize) const { return (batches() + (tail == Tail::Fill ? worldSize - 1 : 0)) / worldSize; }
    // What an epoch makes of the kept rows. lost: rows that it does not reach, because they fill no batch, or because the last batches do not fill a round
    // of all ranks. repeated: places that are filled with rows that train already.
    struct Use { std::int64_t lost = 0, repeated = 0; };
    Use use(std::int64_t worldSize = 1) const;
    std::int64_t tailLost(std::int64_t worldSize = 1) const { return use(worldSize).lost; }
};

// Deterministic whatever the number of threads. A table of 2 million rows takes about half a second on two threads.
BucketPlan assignBuckets(const Table &table, const BucketRules &rules, std::int64_t epoch, int threads = 2);
Result<BucketPlan> assignBuckets(const Table &table, const config::Stage &stage, std::int64_t epoch);

// One sentence about a row without a bucket: "row 7: 130 frames at 24.01 fps become 65 at no more than 24 fps (every 2nd frame), and the
// smallest bucket of 256px needs 129". Empty where the row has a bucket.
std::string explainDrop(const Table &table, const BucketRules &rules, const BucketPlan &plan, std::int64_t row);

// All rows that were dropped for this reason, ascending. Searches the dropped rows again.
std::vector<std::int64_t> droppedRows(const Table &table, const BucketRules &rules, const BucketPlan &plan, DropReason reason);

// Fails (exit code Data, code data.no-batch) where a rank would get no batch in this epoch; the message has a table of all buckets with samples,
// batch size, batches and batches per rank, the drops by reason, and the largest batch size that would work.
Status checkBatches(const Table &table, const BucketPlan &plan, std::int64_t worldSize);

// A plain-text table as in the message above, for `buckets` and the log.
std::string describePlan(const BucketPlan &plan, std::int64_t worldSize);

// Warnings for `check`: rows lost by reason with their first rows and the sentence of the first.
Problems dropProblems(const Table &table, const BucketRules &rules, const BucketPlan &plan);

// 32 hexadecimal digits: equal where table and rules are, so where the data of a run are.
std::string fingerprint(const Table &table, const BucketRules &rules);
// Of the data that a run of this stage would read: reads the table. Errors: as readTable and bucketRules.
Result<std::string> fingerprint(const config::Stage &stage);

} // namespace stagewright::table
