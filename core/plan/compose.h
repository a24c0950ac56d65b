// From a dry run of a model with few blocks to the memory of the whole model: blocks that are treated alike do alike.
//
// In a run of blocks that are treated alike (double or single; plain, checkpointed, checkpointed and offloaded) all but the first and the last
// allocate and free the same. So a dry run needs at most three of each, and what the middle one did is repeated as often as the model has such blocks.
#pragma once

#include <array>
#include <functional>

#include "core/plan/dry_run.h"

namespace stagewright::plan {

// A model with at most three blocks of each treatment, and for each of its blocks how many of the whole model's it stands for.
struct Reduced {
    Work work;
    std::vector<int> stands;                   // by block; above 1 only for a middle block
    bool isWhole = true;                       // nothing was left out
    std::int64_t offloaded = 0, kept = 0;      // checkpointed blocks of the whole model, in the buffer or on the device
};
Reduced reduced(const Work &work, const ClipShape &shape);
Reduced notReduced(const Work &work, const ClipShape &shape);

struct Prediction {
    std::int64_t peak = 0;                     // bytes allocated on the device, the highest of the training after its first update
    memory::KindBytes byKind{};                // at that moment
    Phase phase = Phase::Idle;
    int block = -1;                            // of the whole model
    memory::PhaseBytes byPhase{};              // highest while each phase goes on
    memory::KindBytes fixed{};                 // what is there between two updates
    std::int64_t bufferBytes = 0;              // of the activation buffer in host memory
    std::int64_t offloadedBlocks = 0, keptBlocks = 0;
    std::int64_t bufferNeed = 0;               // bytes that all checkpointed blocks would take
    std::int64_t stateBytes = 0;               // what a checkpoint holds: staging of an asynchronous save
    std::int64_t reserved = 0;                 // what the device's caching allocator holds; the peak where there is none
};

// Every change of memory in the whole model's update, in order. id names an allocation; 0-based and unique in the replay.
struct Change {
    bool allocates = true;
    MemoryKind kind = MemoryKind::Workspace;
    Phase phase = Phase::Idle;
    int block = -1;
    std::int64_t bytes = 0;
    std::uint64_t id = 0;
    static constexpr std::uint64_t kSameMemory = ~std::uint64_t(1);        // two such changes move memory from one kind to another
};

// Walks through the whole model's update as the dry run's journal tells it. What is in use when it begins is in `fixed`.
struct Replay {
    memory::KindBytes fixed{};                 // everything that outlives an update
    std::vector<std::int64_t> fixedSizes;      // the same, allocation by allocation, where the journal knows them; encoders as one
    std::vector<Change> changes;
    std::size_t update = 0;                    // index of the first change of the update
};
Replay replay(const Reduced &plan, const DryRun &run);

// workspace: what the update takes above what is in use when it begins (updateWorkspace()).
Prediction predict(const Reduced &plan, const DryRun &run, const Replay &replayed, std::int64_t workspace);

} // namespace stagewright::plan
