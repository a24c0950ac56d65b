// What activation offload needs of a device: an arena in host memory, and copies to it and back. Header only, since the device module
// implements it too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/torchpch/torch.h"

namespace stagewright::memory {

// A tensor's place in the arena.
struct ArenaSlice {
    std::int64_t offset = 0;               // bytes from the arena's start
    std::vector<std::int64_t> sizes;
    torch::Dtype dtype = torch::kFloat32;
    torch::Device device = torch::kCPU;    // where it came from and goes back to
    std::int64_t bytes = 0;
};

// A copy back that has begun.
class PendingLoad
{
public:
    virtual ~PendingLoad() = default;
    // The tensor on its device; later work of the current stream waits for the copy, the calling thread only where the backend copies on
    // it. Call once.
    virtual torch::Tensor finish() = 0;
};

// Used by one thread at a time. Copies are carried out in the order in which they were asked for.
class OffloadBackend
{
public:
    virtual ~OffloadBackend() = default;
    virtual std::string name() const = 0;                              // "cpu", "cuda", "meta"

    // Begins to copy a contiguous tensor into the arena; the caller may drop it at once. Throws c10::Error when the host refuses memory.
    virtual void store(const torch::Tensor &tensor, const ArenaSlice &slice) = 0;
    // Begins to copy it back. The slice may be overwritten by a later store().
    virtual std::unique_ptr<PendingLoad> load(const ArenaSlice &slice) = 0;

    virtual int prefetchDepth() const = 0;                             // how many blocks ahead load() pays off; 0: it does not
    virtual std::int64_t touchedBytes() const = 0;                     // host memory that the arena really occupies
    virtual std::int64_t pinnedBytes() const = 0;                      // of them page-locked
    virtual double takeStallSeconds() = 0;                             // compute waited for copies since the last call
    virtual std::string takeNote() = 0;                                // something a person should know, or empty
    virtual void synchronize() = 0;                                    // all copies done
};

} // namespace stagewright::memory
