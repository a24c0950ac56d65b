#include "core/memory/offload.h"

#include "core/base/units.h"
#include "core/memory/ledger.h"

namespace stagewright::memory {

using torch::Tensor;

static std::string fullSentence(const std::string &block, std::int64_t needed, std::int64_t used, std::int64_t capacity)
{
    return fmt::format("Activation buffer is full: {} needs {} elements, but {} of {} are in use; raise grad_ckpt_buffer_size, lower the batch size of this bucket, "
                       "or set grad_ckpt_buffer_overflow to keep, which leaves such blocks on the device",
                       block, formatCount(needed), formatCount(used), formatCount(capacity));
}

ActivationBufferFull::ActivationBufferFull(std::string blockName, std::int64_t neededElements, std::int64_t usedElements, std::int64_t capacityElements)
    : std::runtime_error(fullSentence(blockName, neededElements, usedElements, capacityElements)), block(std::move(blockName)), needed(neededElements),
      used(usedElements), capacity(capacityElements)
{
}

std::int64_t offloadNeedElements(std::int64_t checkpointedBlocks, std::int64_t batch, std::int64_t tokens, std::int64_t hidden)
{
    return checkpointedBlocks * batch * tokens * hidden;
}

// One block's place: slices in the order of push(), together [begin, end).
struct OffloadSlot::Entry {
    std::weak_ptr<ActivationOffload::State> owner;
    std::uint64_t step = 0;
    std::int64_t begin = 0, end = 0;
    std::vector<ArenaSlice> slices;
    std::vector<std::unique_ptr<PendingLoad>> pending;      // begun copies back, in the order of slices
    bool free = false;
};

struct ActivationOffload::State {
    std::unique_ptr<OffloadBackend> backend;
    std::int64_t capacity = 0;             // bytes
    std::int64_t used = 0;
    torch::Dtype dtype = torch::kFloat32;
    OverflowPolicy policy = OverflowPolicy::Keep;
    std::uint64_t step = 0;
    std::vector<std::shared_ptr<OffloadSlot::Entry>> stack;
    OffloadCounters counters;
    HostEntry host{HostKind::PinnedActivations, 0};
    Tracer tracer;

    std::int64_t elements(std::int64_t bytes) const
    {
        const auto size = static_cast<std::int64_t>(c10::elementSize(dtype));
        return (bytes + size - 1) / size;
    }

    // Frees from the top what is done with; a freed place below a used one waits for it.
    void shrink()
    {
        while (!stack.empty() && stack.back()->free)
            stack.pop_back();
        used = stack.empty() ? 0 : stack.back()->end;
    }

    static void beginLoading(OffloadBackend &backend, OffloadSlot::Entry &entry)
    {
        KindScope kind(MemoryKind::CheckpointedInput);
        if (entry.pending.empty()) {
            for (const ArenaSlice &slice : entry.slices)
                entry.pending.push_back(backend.load(slice));
        }
    }

    void prefetch()
    {
        int ahead = backend->prefetchDepth();
        for (auto entry = stack.rbegin(); entry != stack.rend() && ahead > 0; ++entry) {
            if (!(*entry)->free) {
                beginLoading(*backend, **entry);
                --ahead;
            }
        }
    }
};

// --- The buffer ---

ActivationOffload::ActivationOffload(std::unique_ptr<OffloadBackend> backend, std::int64_t capacityElements, torch::Dtype dtype, OverflowPolicy policy)
    : m_state(std::make_shared<State>())
{
    TORCH_CHECK(backend, "activation offload needs a backend");
    TORCH_CHECK(capacityElements > 0, "an activation buffer of ", capacityElements, " elements is none: leave offload off instead");
    m_state->backend = std::move(backend);
    m_state->capacity = capacityElements * static_cast<std::int64_t>(c10::elementSize(dtype));
    m_state->dtype = dtype;
    m_state->policy = policy;
}

ActivationOffload::~ActivationOffload()
{
    m_state->stack.clear();
    m_state->backend->synchronize();
}

void ActivationOffload::beginStep()
{
    ++m_state->step;
    if (!m_state->stack.empty())
        m_state->backend->synchronize();
    m_state->stack.clear();
    m_state->used = 0;
}

void ActivationOffload::resetCounters()
{
    m_state->counters = {};
    m_state->backend->takeStallSeconds();
}

std::unique_ptr<OffloadSlot> ActivationOffload::push(const std::string &blockName, const std::vector<Tensor> &tensors)
{
    State &state = *m_state;
    auto entry = std::make_shared<OffloadSlot::Entry>();
    entry->owner = m_state;
    entry->step = state.step;
    entry->begin = entry->end = state.used;
    for (const Tensor &tensor : tensors) {
        const auto size = static_cast<std::int64_t>(tensor.element_size());
        const std::int64_t offset = (entry->end + size - 1) / size * size;
        const std::int64_t bytes = tensor.numel() * size;
        entry->slices.push_back({offset, tensor.sizes().vec(), tensor.scalar_type(), tensor.device(), bytes});
        entry->end = offset + bytes;
    }
    if (entry->end > state.capacity) {
        if (state.policy == OverflowPolicy::Error)
            throw ActivationBufferFull(blockName, state.elements(entry->end - entry->begin), state.elements(state.used), state.elements(state.capacity));
        ++state.counters.keptBlocks;
        return nullptr;
    }
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const ArenaSlice &slice = entry->slices[i];
        state.backend->store(tensors[i].contiguous(), slice);
        if (state.tracer)
            state.tracer(true, slice.sizes, state.elements(slice.offset), state.elements(slice.offset + slice.bytes));
    }
    state.used = entry->end;
    state.stack.push_back(entry);
    state.host.resize(state.backend->touchedBytes());
    OffloadCounters &counters = state.counters;
    ++counters.offloadedBlocks;
    counters.storedBytes += entry->end - entry->begin;
    counters.highWaterBytes = std::max(counters.highWaterBytes, state.used);
    counters.highWaterElements = state.elements(counters.highWaterBytes);
    return std::unique_ptr<OffloadSlot>(new OffloadSlot(std::move(entry)));
}

OffloadCounters ActivationOffload::counters() const
{
    m_state->counters.stallSeconds += m_state->backend->takeStallSeconds();
    return m_state->counters;
}

std::int64_t ActivationOffload::capacityBytes() const { return m_state->capacity; }
std::int64_t ActivationOffload::capacityElements() const { return m_state->elements(m_state->capacity); }
std::int64_t ActivationOffload::usedBytes() const { return m_state->used; }
std::int64_t ActivationOffload::touchedBytes() const { return m_state->backend->touchedBytes(); }
std::int64_t ActivationOffload::pinnedBytes() const { return m_state->backend->pinnedBytes(); }
std::string ActivationOffload::takeNote() { return m_state->backend->takeNote(); }
const OffloadBackend &ActivationOffload::backend() const { return *m_state->backend; }
void ActivationOffload::setTracer(Tracer tracer) { m_state->tracer = std::move(tracer); }

// --- A slot ---

OffloadSlot::OffloadSlot(std::shared_ptr<Entry> entry) : m_entry(std::move(entry)) {}

OffloadSlot::~OffloadSlot()
{
    if (!m_entry || m_entry->free)
        return;
    m_entry->free = true;
    m_entry->pending.clear();
    const auto owner = m_entry->owner.lock();
    if (owner && owner->step == m_entry->step)
        owner->shrink();
}

std::vector<Tensor> OffloadSlot::fetch()
{
    const auto owner = m_entry->owner.lock();
    TORCH_CHECK(owner && owner->step == m_entry->step, "an activation was offloaded in an earlier step, whose buffer has been given to the present one");
    TORCH_CHECK(!m_entry->free, "an offloaded activation was fetched twice: backward of a step with activation offload can run only once");
    ActivationOffload::State &state = *owner;
    ActivationOffload::State::beginLoading(*state.backend, *m_entry);
    std::vector<Tensor> tensors;
    for (const std::unique_ptr<PendingLoad> &load : m_entry->pending)
        tensors.push_back(load->finish());
    m_entry->pending.clear();
    state.counters.loadedBytes += m_entry->end - m_entry->begin;
    if (state.tracer) {
        for (auto slice = m_entry->slices.rbegin(); slice != m_entry->slices.rend(); ++slice)
            state.tracer(false, slice->sizes, state.elements(slice->offset + slice->bytes), state.elements(slice->offset));
    }
    m_entry->free = true;
    state.shrink();
    state.prefetch();
    return tensors;
}

} // namespace stagewright::memory
