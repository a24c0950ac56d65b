// The ledger: every byte that the training device's allocator hands out, by what it is for (kind) and what was going on (phase).
//
// One ledger a kind of device, process-wide. attachLedger() puts a wrapper around Torch's allocator of that device (CPU and meta), or
// listens to the caching allocator (CUDA, through the device module). From then on:
//  - an allocation gets the kind of the innermost KindScope of the allocating thread, or the phase's usual kind where there is none;
//  - it keeps its kind until it is freed, in whatever phase and thread, unless rekind() moves it;
//  - memory that existed before attaching is not counted.
// All functions may be called from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/base/memory_kind.h"
#include "core/base/result.h"

namespace stagewright::memory {

using KindBytes = std::array<std::int64_t, kMemoryKindNames.size()>;    // by MemoryKind
using PhaseBytes = std::array<std::int64_t, kPhaseNames.size()>;        // by Phase
using HostBytes = std::array<std::int64_t, kHostKindNames.size()>;      // by HostKind

// --- Where we are -------------------------------------------------------------------------------------------------------------------

// The training thread's phase. Process-wide while it lives: threads without a phase of their own (autograd's device threads) share it.
// Scopes nest; at most one thread (the training thread) may use this class at a time.
class PhaseScope
{
public:
    explicit PhaseScope(Phase phase);
    ~PhaseScope();
    PhaseScope(const PhaseScope &) = delete;
    PhaseScope &operator=(const PhaseScope &) = delete;

private:
    Phase m_previous;
};

// The phase of this thread only: for prefetchers (Data), checkpoint writers (Save) and other threads beside training.
class ThreadPhaseScope
{
public:
    explicit ThreadPhaseScope(Phase phase);
    ~ThreadPhaseScope();
    ThreadPhaseScope(const ThreadPhaseScope &) = delete;
    ThreadPhaseScope &operator=(const ThreadPhaseScope &) = delete;

private:
    int m_previous;
};

// The kind of what this thread allocates from now on. Without one: Activation in Forward, Encoder in Encode, else Workspace.
class KindScope
{
public:
    explicit KindScope(MemoryKind kind);
    ~KindScope();
    KindScope(const KindScope &) = delete;
    KindScope &operator=(const KindScope &) = delete;

private:
    int m_previous;
};

// The block (see blockName() in core/model) on whose behalf this thread allocates; -1: none.
class BlockScope
{
public:
    explicit BlockScope(int block);
    ~BlockScope();
    BlockScope(const BlockScope &) = delete;
    BlockScope &operator=(const BlockScope &) = delete;

private:
    int m_previous;
};

Phase currentPhase();          // of the calling thread
int currentBlock();            // of the calling thread

// --- Out of memory ------------------------------------------------------------------------------------------------------------------

struct OutOfMemoryFacts {
    std::int64_t requested = 0;        // bytes of the allocation that was refused
    std::int64_t inUse = 0;            // when it was refused
    std::int64_t limit = 0;            // the budget (memory_limit), or 0 where the device itself had no more
    KindBytes byKind{};
    MemoryKind kind = MemoryKind::Workspace;   // what the request was for
    Phase phase = Phase::Idle;
    int block = -1;
};

// Thrown by the allocator, through any Torch call and through backward. The allocation did not happen and nothing is counted for it.
class OutOfMemory : public c10::OutOfMemoryError
{
public:
    explicit OutOfMemory(OutOfMemoryFacts facts);
    const OutOfMemoryFacts &facts() const { return m_facts; }

private:
    OutOfMemoryFacts m_facts;
};

std::string describe(const OutOfMemoryFacts &facts);      // one sentence with numbers

// --- The ledger ---------------------------------------------------------------------------------------------------------------------

struct Snapshot {
    std::int64_t total = 0;            // bytes in use
    KindBytes byKind{};
    PhaseBytes byPhase{};              // bytes in use by the phase that allocated them
    HostBytes host{};                  // host memory that the device does not see (addHost)
    std::int64_t peakTotal = 0;        // since resetPeak()
    KindBytes peakByKind{};            // composition at the moment of the peak
    Phase peakPhase = Phase::Idle;     // at that moment
    int peakBlock = -1;
    PhaseBytes peakInPhase{};          // highest total seen while each phase was going on, since resetPeak()
    std::int64_t allocations = 0;      // since attaching
    std::int64_t reserved = 0;         // what the caching allocator holds (CUDA), else total
    // By block, with perBlock on, else empty: [0] outside the blocks, [i + 1] block i; shorter where later blocks allocated nothing.
    std::vector<std::int64_t> byBlock, peakByBlock;
};

struct TracePoint {
    double seconds = 0;                // since startTrace()
    Phase phase = Phase::Idle;
    KindBytes byKind{};
};

// One entry of the journal. Release and Rekind name the allocation by its id; it may be older than the journal.
struct JournalEvent {
    enum class Type : std::uint8_t { Allocate, Release, Rekind, Mark };
    Type type = Type::Allocate;
    MemoryKind kind = MemoryKind::Workspace;   // Rekind: the new one
    MemoryKind before = MemoryKind::Workspace; // Rekind only: the old one
    Phase phase = Phase::Idle;                 // that was going on
    std::int16_t block = -1;                   // on whose behalf; Allocate only
    std::uint32_t id = 0;                      // of the allocation; Mark: the caller's number
    std::int64_t bytes = 0;                    // of the allocation
};

class Ledger
{
public:
    Snapshot snapshot() const;
    std::int64_t total() const;        // bytes in use now; cheaper than a snapshot
    void resetPeak();

    // 0: no budget. An allocation that would lift the total above it throws OutOfMemory. Not for CUDA: there the caching allocator's own
    // limit is set through the device module.
    void setBudget(std::int64_t bytes);
    std::int64_t budget() const;

    // Per-block figures from here on. Off by default, since composing a peak then costs a copy of one number a block.
    void setPerBlock(bool on);

    // The memory timeline from now until takeTrace(), at most `capacity` points (at least 16). When it would get longer, neighbours of
    // the same phase are merged, and the higher of two is kept: peaks never disappear.
    void startTrace(std::size_t capacity = 2000);
    std::vector<TracePoint> takeTrace();       // ends it; empty where none was started

    // Every single event from now until takeJournal(), for planning: unbounded, so only for a few steps on meta.
    void startJournal();
    void mark(std::uint32_t number);           // puts a mark into the journal; nothing where none is kept
    std::vector<JournalEvent> takeJournal();

    // The memory behind the tensor is for `kind` from now on, all of its storage. Nothing where it is not counted here.
    void rekind(const torch::Tensor &tensor, MemoryKind kind);

    // For allocators that only report: an allocation or a release at an address (the device module feeds CUDA's). An unknown release
    // is ignored (it was allocated before attaching).
    void allocated(const void *address, std::int64_t bytes);
    void released(const void *address);
    void setReserved(std::int64_t bytes);

    Ledger();
    ~Ledger();
    Ledger(const Ledger &) = delete;
    Ledger &operator=(const Ledger &) = delete;

    struct Record;             // one allocation
    class Impl;
    Impl &impl() { return *m_impl; }

private:
    std::unique_ptr<Impl> m_impl;
};

// Attaches to the device's allocator, once (a second call answers the same ledger), and makes it the process's current ledger. Call
// early, before other threads use Torch. Error where the device has no allocator that can be watched.
Result<Ledger *> attachLedger(torch::Device device);

// The current ledger: the one attached last; before that an empty one that only knows host memory.
Ledger &ledger();

// Whenever a gradient has been added to one of these parameters, its memory counts as Gradient. Replaces an earlier such hook.
void trackGradients(const std::vector<torch::Tensor> &parameters);

// --- Host memory beside the device --------------------------------------------------------------------------------------------------

void addHost(HostKind kind, std::int64_t bytes);
void removeHost(HostKind kind, std::int64_t bytes);
HostBytes hostBytes();

// Counts `bytes` of host memory while it lives.
class HostEntry
{
public:
    HostEntry() = default;
    HostEntry(HostKind kind, std::int64_t bytes);
    ~HostEntry();
    HostEntry(HostEntry &&other) noexcept;
    HostEntry &operator=(HostEntry &&other) noexcept;
    void resize(std::int64_t bytes);

private:
    HostKind m_kind = HostKind::Other;
    std::int64_t m_bytes = 0;
};

} // namespace stagewright::memory
