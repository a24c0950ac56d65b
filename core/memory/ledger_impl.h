// The inside of the ledger: what its allocators (ledger_allocators.cpp) and its functions (ledger.cpp) share.
#pragma once

#include <chrono>
#include <mutex>
#include <unordered_map>

#include "core/memory/ledger.h"

namespace stagewright::memory {

struct Ledger::Record {
    std::int64_t bytes = 0;
    std::uint8_t kind = 0;
    std::uint8_t phase = 0;
    std::int16_t block = -1;
    std::uint32_t id = 0;                  // counts allocations
};

class Ledger::Impl
{
public:
    // A record for an allocation by the calling thread, counted. Throws OutOfMemory when the budget does not allow it.
    Record add(std::int64_t bytes);
    void remove(const Record &record);
    void move(Record &record, MemoryKind kind);
    void phaseChanged();

    [[noreturn]] void deviceIsFull(std::int64_t requested);     // the real allocator refused

    mutable std::mutex mutex;
    std::int64_t total = 0, peakTotal = 0, budget = 0, allocations = 0;
    std::int64_t reserved = -1;                // -1: nobody says; then total
    KindBytes byKind{}, peakByKind{};
    PhaseBytes byPhase{}, peakInPhase{};
    Phase peakPhase = Phase::Idle;
    int peakBlock = -1;
    bool perBlock = false;
    std::vector<std::int64_t> byBlock, peakByBlock;
    std::unordered_map<const void *, Record> external;          // allocations that were only reported

    bool tracing = false;
    std::vector<TracePoint> trace;
    std::size_t traceCapacity = 0;
    std::int64_t traceStride = 1, traceSince = 0;
    TracePoint tracePending;
    std::int64_t tracePendingTotal = -1;
    std::chrono::steady_clock::time_point traceStart;
    void tracePoint();
    void traceFlush();

    bool journalling = false;
    std::vector<JournalEvent> journal;
    void note(JournalEvent::Type type, const Record &record, std::uint8_t kindBefore = 0);

private:
    OutOfMemoryFacts facts(const Record &record, std::int64_t limit) const;
    void countBlock(int block, std::int64_t bytes);
    void notePeak(int block);
};

// Puts the wrapping allocator in place (once a device type). Error where the type cannot be watched.
Status attachAllocator(torch::DeviceType type, Ledger &ledger);

// The counted record behind a storage, or null.
Ledger::Record *recordOf(const c10::Storage &storage);

} // namespace stagewright::memory
