// How bytes of a tensor get into staging memory. The default works for host memory; the CUDA module brings one with pinned blocks and a
// side stream.
#pragma once

#include <cstdint>

#include "core/torchpch/torch.h"

namespace stagewright::checkpoint {

// begin() is called on the training thread, copy() and settle() on the one staging thread, in that order; allocate() and release() on any.
class SnapshotCopier
{
public:
    virtual ~SnapshotCopier() = default;
    virtual void *allocate(std::int64_t bytes) = 0;              // aligned to 4096; null where memory is short
    virtual void release(void *block, std::int64_t bytes) = 0;
    // A snapshot starts: later copies must see what the training thread has queued on its device until now, and nothing newer.
    virtual void begin(const torch::Device &device) = 0;
    // Starts to copy `bytes` bytes of a contiguous tensor from byte `offset` on; `destination` may be unaligned.
    virtual void copy(const torch::Tensor &contiguous, std::int64_t offset, std::int64_t bytes, void *destination) = 0;
    virtual void settle() = 0;                                   // returns when all copies so far have arrived
    // Whether copy() of tensors in host memory may be called by several threads at once and has arrived when it returns. A snapshot of host memory is then taken inside
    // begin() by the training's own threads: beside a step it would take as much of the processors and hold up each of the step's loops for it.
    virtual bool copiesHostAtOnce() const { return false; }
};

SnapshotCopier &hostCopier();                                    // the default; stateless

} // namespace stagewright::checkpoint
