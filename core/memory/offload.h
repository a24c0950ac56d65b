// Activation offload: the inputs of checkpointed blocks wait in host memory between forward and backward.
//
// One buffer of `grad_ckpt_buffer_size` elements of the training dtype, filled like a stack: forward pushes a block's token streams,
// backward pops them, the last block first, while the block before is already on its way back. Only what blocks do not share is ever
// pushed (never vec, never rotary tables). Source of the idea and of the size rule: Open-Sora 2.0's activation manager.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/memory/offload_backend.h"

namespace stagewright::memory {

enum class OverflowPolicy { Keep, Error };     // grad_ckpt_buffer_overflow

// Thrown in forward under OverflowPolicy::Error by the first block that does not fit. Nothing of that block is in the buffer.
class ActivationBufferFull : public std::runtime_error
{
public:
    ActivationBufferFull(std::string blockName, std::int64_t neededElements, std::int64_t usedElements, std::int64_t capacityElements);
    const std::string block;
    const std::int64_t needed, used, capacity; // elements of the training dtype; needed: of this block alone
};

struct OffloadCounters {                       // since resetCounters()
    std::int64_t highWaterElements = 0;        // rounded up where tensors of another dtype were stored
    std::int64_t highWaterBytes = 0;
    std::int64_t offloadedBlocks = 0;
    std::int64_t keptBlocks = 0;               // did not fit and stayed on the device
    std::int64_t storedBytes = 0;              // copied to the host
    std::int64_t loadedBytes = 0;              // copied back
    double stallSeconds = 0;                   // compute waited for copies
};

class OffloadSlot;

// Used by the training thread (and, inside backward, by autograd's thread on its behalf), one at a time. Slots may outlive it.
class ActivationOffload
{
public:
    // capacityElements > 0, of dtype.
    ActivationOffload(std::unique_ptr<OffloadBackend> backend, std::int64_t capacityElements, torch::Dtype dtype, OverflowPolicy policy);
    ~ActivationOffload();
    ActivationOffload(const ActivationOffload &) = delete;
    ActivationOffload &operator=(const ActivationOffload &) = delete;

    // At the start of every micro-step (and after one that failed): forgets everything that is still in the buffer. Slots of an earlier
    // step throw when they are fetched.
    void beginStep();
    void resetCounters();                      // at the start of every update

    // Copies the block's tensors into the buffer; null when they do not fit and stay where they are. Throws ActivationBufferFull.
    std::unique_ptr<OffloadSlot> push(const std::string &blockName, const std::vector<torch::Tensor> &tensors);

    OffloadCounters counters() const;
    std::int64_t capacityBytes() const;
    std::int64_t capacityElements() const;
    std::int64_t usedBytes() const;
    std::int64_t touchedBytes() const;         // host memory that the buffer really occupies
    std::int64_t pinnedBytes() const;
    std::string takeNote();                    // from the backend: a sentence for a person, or empty
    const OffloadBackend &backend() const;

    // Called for every tensor that is pushed (true) or fetched (false), with the used elements before and after: for tests and debugging.
    using Tracer = std::function<void(bool push, at::IntArrayRef sizes, std::int64_t before, std::int64_t after)>;
    void setTracer(Tracer tracer);

private:
    friend class OffloadSlot;
    struct State;
    std::shared_ptr<State> m_state;
};

// A block's tensors in the buffer. Destroying it without fetch() frees its place.
class OffloadSlot
{
public:
    ~OffloadSlot();
    OffloadSlot(const OffloadSlot &) = delete;
    OffloadSlot &operator=(const OffloadSlot &) = delete;
    // The tensors on the device again, in the order of push(); frees the place and starts to bring back the block below. Once. Throws
    // c10::Error when the step that pushed it is over.
    std::vector<torch::Tensor> fetch();

private:
    friend class ActivationOffload;
    struct Entry;
    explicit OffloadSlot(std::shared_ptr<Entry> entry);
    std::shared_ptr<Entry> m_entry;
};

// What forward will need, in elements: (checkpointed double + single blocks) * batch * tokens * hidden.
std::int64_t offloadNeedElements(std::int64_t checkpointedBlocks, std::int64_t batch, std::int64_t tokens, std::int64_t hidden);

// The backend for a device: cpu and meta are built in; cuda comes from the device module. Error where there is none.
Result<std::unique_ptr<OffloadBackend>> makeOffloadBackend(torch::Device device, std::int64_t capacityBytes);

} // namespace stagewright::memory
