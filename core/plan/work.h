// What a step is made of, as far as its memory depends on it: everything that a dry run needs, resolved from a stage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/bucket_table.h"
#include "core/config/stage.h"
#include "core/memory/checkpointing.h"
#include "core/model/mmdit_config.h"
#include "core/train/settings.h"

namespace stagewright::plan {

// One batch of a bucket.
struct ClipShape {
    std::string resolution, aspect;            // "256px", "16:9"
    std::int64_t frames = 1, height = 0, width = 0;      // pixels
    std::int64_t batch = 1;
    double probability = 1;
};

// What stands in for the encoders: the embedded ones are run, learned ones enter as their weights and the widest part of their work.
struct EncoderWork {
    bool haar = true;
    std::int64_t latentChannels = 48;
    std::int64_t timeRatio = 4, spaceRatio = 8;
    std::int64_t autoencoderParameters = 0;    // 0 for haar
    std::int64_t tilePixels = 0;               // spatial tile of a learned autoencoder's encode; 0: the whole frame at once
    bool hashedTokens = true, hashedPooled = true;
    std::int64_t tokenWidth = 0, tokenLength = 0, tokenParameters = 0;
    std::int64_t pooledWidth = 0, pooledLength = 0, pooledParameters = 0;
};

// How a step is divided among processes. All 1: not at all, as this version trains. The rest is arithmetic over a step that is not divided.
struct Division {
    std::int64_t world = 1;                    // processes
    std::int64_t sequence = 1;                 // that share a sequence
    std::int64_t zero = 0;                     // ZeRO stage: 1 shares optimizer and average, 2 gradients too, 3 weights too
    std::int64_t dataParallel() const { return std::max<std::int64_t>(1, world / sequence); }
};

struct Work {
    train::Settings settings;                  // accumulation at most 2: a longer window takes no more memory
    model::MmditConfig model;
    memory::CheckpointDepth depth;             // what is checkpointed
    std::int64_t bufferElements = 0;           // of the activation buffer; 0: none
    EncoderWork encoders;
    Division division;
    torch::DeviceType device = torch::kCPU;    // whose operators the step takes
    std::int64_t prefetchBatches = 0;          // that may wait beside the one in use
    std::int64_t prefetchBytes = 0;            // bound on their pixels
    std::int64_t largestBatchBytes = 0;        // pixels of the largest batch of any bucket and aspect, as float32
    bool asyncSave = true;
    std::int64_t pinnedCacheElements = 0;      // pin_memory_cache_pre_alloc_numels
    bool saves = true;
};

// world: processes that the prediction is for; 0: as few as the stage's parallel sizes need. What can be planned but not yet trained is said in
// notes. Errors: sizes that no model can have, with file and line.
Result<Work> workOf(const config::Stage &stage, torch::DeviceType device, std::int64_t world, Problems &notes);

// Every bucket with a probability above 0 at its worst aspect (most tokens), in the stage's order. Error (Usage): a table that validate()
// refuses, or no bucket at all.
Result<std::vector<ClipShape>> worstShapes(const config::Stage &stage);

std::int64_t imageTokens(const Work &work, const ClipShape &shape);     // of one clip, in one process
std::int64_t textTokens(const Work &work, const ClipShape &shape);

} // namespace stagewright::plan
