// The memory techniques of one training step, as the model's forward needs them.
#pragma once

#include "core/memory/checkpointing.h"
#include "core/memory/offload.h"

namespace stagewright::memory {

enum class BlockPass { Forward, Recompute };

// Told about every block's run, on the thread that runs it. Blocks are numbered through: double blocks first, then single blocks.
class BlockObserver
{
public:
    virtual ~BlockObserver() = default;
    virtual void blockBegins(int block, BlockPass pass) = 0;
    virtual void blockEnds(int block, BlockPass pass) = 0;     // not called when the block throws
    // Backward reaches the block: nothing of it has run yet. Called only where asked for, since it costs a hook an output.
    virtual bool wantsBackward() const { return false; }
    virtual void backwardBegins(int) {}
    virtual void backwardEnded() {}                            // of the whole model, before gradients are collected
};

struct StepMemory {
    CheckpointDepth depth;                     // {0, 0}: nothing is checkpointed
    ActivationOffload *offload = nullptr;      // null: checkpointed inputs stay on the device
    BlockObserver *observer = nullptr;
};

} // namespace stagewright::memory
