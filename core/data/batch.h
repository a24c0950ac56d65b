// What the data side hands to the training step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/events/record.h"

namespace stagewright::data {

struct Batch {
    torch::Tensor video;                       // [B,3,T,H,W] float32 on the CPU in [-1,1]; T = 1 for images. Undefined where there are latents
    torch::Tensor latents;                     // [B,C,T',H',W'] of cached datasets, else undefined
    torch::Tensor tokens, pooled;              // [B,L,W] and [B,W] of cached datasets, else undefined
    std::vector<std::string> texts;            // B captions, fps and motion suffixes applied
    std::vector<std::int64_t> rows;            // B table rows, replacements included
    events::Bucket bucket;
    double fps = 0;                            // target rate after the stride; 0 for images
    std::int64_t epoch = 0;
    std::int64_t index = 0;                    // batch number of this rank inside the epoch (the step's micro index)
    std::vector<events::BadSample> bad;        // samples that were replaced while this batch was made
    std::int64_t size() const { return static_cast<std::int64_t>(rows.size()); }       // B
};

// Where the next batch will be read from; saved in checkpoints. Counts batches of this rank.
struct Position {
    std::int64_t epoch = 0;
    std::int64_t index = 0;
};

class BatchSource
{
public:
    virtual ~BatchSource() = default;
    // The next batch in the fixed order; waits for the prefetcher with a deadline. Nothing: the epoch is over, and the next call starts
    // the next epoch. Errors: no batch in the whole epoch, too many bad samples.
    virtual Result<std::optional<Batch>> next() = 0;
    virtual std::int64_t batchesPerEpoch() const = 0;          // of this rank, of the current epoch
    virtual Position position() const = 0;                     // of the batch that next() will return
    virtual Status seek(Position position) = 0;                // skips on indices only; no file is opened
    virtual std::string fingerprint() const = 0;               // of the table and bucket plan: equal for equal data
};

} // namespace stagewright::data
