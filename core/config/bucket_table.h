// The bucket table of a stage as rows with types, the geometry of its latents and where they come from: what the planner of batches and the rules both read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/aspect.h"
#include "core/config/stage.h"

namespace stagewright::config {

struct BucketRow {
    std::string resolution;                // "256px"
    int frames = 1;
    double probability = 1.0;              // keeps a sample that fits; the first of a pair
    std::optional<double> nextProbability; // the second of a pair: tried first, hands the sample on to the next smaller frame count
    int batchSize = 0;                     // samples a rank; 0 only where probability is 0
    bool operator==(const BucketRow &) const = default;
};

// One row from its keys and value: probability in [0, 1] or a pair of them, batch size a whole number from 1 to a million (None only
// where the probability is 0). The error's code says which part is wrong (config.bucket-row, config.frames, config.probability, config.batch-size) and
// carries a fix where the meaning is plain; its path is bucket_config.RESOLUTION.FRAMES.
Result<BucketRow> bucketRow(const std::string &resolution, const DictKey &frames, const Value &value);

// Makes what JSON, YAML and forms do to a table good: "129" becomes 129, lists become tuples. Both "129" and 129 in one resolution: the key of
// digits is left as it is, and validate() says so.
void normaliseBuckets(Dict &stageValues);

// bucket_config's rows in file order. Rows with batch None and probability 0 (a switched-off bucket) are included with batchSize 0.
// Fails on a table that validate() would also refuse, naming the row. No bucket_config, or an empty one: no rows.
Result<std::vector<BucketRow>> bucketRows(const Stage &stage);

// Only this bucket ("256px/129") left in the table; empty, or one that is not there: the stage as it is.
Stage withOnlyBucket(Stage stage, const std::string &bucket);

// Compression ratios, channels and patch of the stage's autoencoder (`ae`) and model. Declared defaults where a key is absent;
// the values that a broken stage would give are clamped to at least 1.
LatentGeometry latentGeometry(const Stage &stage);
// What a stage's batches bring along, so that its encoder is not built: cached_video and cached_text, or encoding_cache (which has no latents where
// condition_config needs pixels).
struct CachedParts {
    bool video = false, text = false;
};
CachedParts cachedParts(const Stage &stage);
// ae_spatial_compression, or the original's 16 where it is not set.
int aspectGranularity(const Stage &stage);

} // namespace stagewright::config
