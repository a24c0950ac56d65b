// Which blocks are checkpointed and how much room their inputs take in the activation buffer, for every bucket and aspect.
// Formula: Open-Sora 2.0, its activation manager: the inputs of all checkpointed blocks of one step, batch × tokens × width elements each;
// the modulation vector and the rope tables are never moved here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/bucket_table.h"
#include "core/config/stage.h"

namespace stagewright::config {

struct CheckpointedBlocks {
    int doubles = 0, doubleTotal = 0;      // the first `doubles` of `doubleTotal`
    int singles = 0, singleTotal = 0;
    int count() const { return doubles + singles; }
};

// Unset or empty settings: all; (n, m): the first n and m, negative counts from the end; none where grad_checkpoint is off.
CheckpointedBlocks checkpointedBlocks(const Stage &stage);
std::string words(const CheckpointedBlocks &blocks);       // "double 8 of 19, single 38 of 38 checkpointed"

struct ActivationNeed {
    BucketRow row;
    AspectSize size;
    std::int64_t tokens = 0;               // of one sample on one rank, text included
    std::int64_t elements = 0;             // of dtype
};

// One entry a bucket row with probability above 0: its worst aspect. Empty where the stage's sizes are not valid.
std::vector<ActivationNeed> activationNeeds(const Stage &stage);
std::optional<ActivationNeed> largestNeed(const std::vector<ActivationNeed> &needs);

} // namespace stagewright::config
