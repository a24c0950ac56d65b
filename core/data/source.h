// The batches of a stage's dataset, made ready ahead of the training step by threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "core/cache/store.h"
#include "core/config/stage.h"
#include "core/data/batch.h"
#include "core/data/quarantine.h"
#include "core/media/decode_budget.h"
#include "core/table/buckets.h"

namespace stagewright::data {

enum class Compat { None, OpenSora };                  // the stage's `compat` (README.md says what differs)
enum class Transform { None, Center, ResizeCrop, RandSizeCrop };

// Which parts of a batch were computed before (dataset.type cached_video_text, or encoding_cache), and what the model wants of them; 0: not known.
struct Cached {
    bool video = false, text = false;
    std::int64_t latentChannels = 0, tokenWidth = 0, pooledWidth = 0;
    std::shared_ptr<cache::Store> store;               // encoding_cache; null: files that the table names
};

// As far as the stage alone tells: without the store.
Cached cachedOf(const config::Stage &stage);

// Everything that a source needs to know, with the table already read. Plain data.
struct SourceOptions {
    std::shared_ptr<const table::Table> table;
    table::BucketRules rules;
    Transform transform = Transform::ResizeCrop;
    Compat compat = Compat::None;
    bool motionScore = false;                          // dataset.vmaf
    Cached cached;                                     // with cached.video no clip is decoded
    std::int64_t randSampleInterval = 0;               // dataset.rand_sample_interval; 0: none
    std::int64_t seed = 0;
    std::int64_t rank = 0, worldSize = 1;              // data-parallel
    int workers = 2;                                   // decoder threads; 0: decode in next() itself
    int batchesAhead = 4;                              // that may be ready or under way
    std::int64_t bytesAhead = std::int64_t(1) << 30;   // bound on their pixels; one batch is always allowed
    std::function<torch::Tensor(at::IntArrayRef)> allocate;            // memory for a batch's pixels, float32, from any thread; empty: ordinary memory
    std::vector<BadRow> knownBad;                      // of the run that is resumed (readQuarantine)
    std::filesystem::path quarantineFile;              // where bad clips are written; empty: nowhere
    std::shared_ptr<media::DecodeBudget> decodeBudget;             // null: no bound on what decoders hold
    std::chrono::milliseconds clipDeadline{120'000};   // for one file
    std::chrono::milliseconds waitDeadline{600'000};   // for one batch in next()
};

// From dataset.*, bucket_config, seed, num_workers, prefetch_factor and compat; reads the table. Errors are the table's, or name the option.
Result<SourceOptions> sourceOptions(const config::Stage &stage, std::int64_t rank = 0, std::int64_t worldSize = 1);

// Fails (exit code Data) where a rank would get no batch. Threads start with the first next(). next(), seek(), position() on one thread.
Result<std::unique_ptr<BatchSource>> makeBatchSource(SourceOptions options);
Result<std::unique_ptr<BatchSource>> makeBatchSource(const config::Stage &stage, std::int64_t rank = 0, std::int64_t worldSize = 1);

} // namespace stagewright::data
