// One update of the trainer's own engine on the meta device, with everything that its memory did written down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory/ledger.h"
#include "core/plan/work.h"

namespace stagewright::plan {

// Where in the journal something begins. The number of a mark is place * kMarkStride + block.
enum class Place : std::uint32_t { MicroStep, Forward, Backward, BackwardEnd, Update };
inline constexpr std::uint32_t kMarkStride = 1 << 16;
inline std::uint32_t markOf(Place place, int block = 0) { return static_cast<std::uint32_t>(place) * kMarkStride + static_cast<std::uint32_t>(block); }
inline Place placeOf(std::uint32_t mark) { return static_cast<Place>(mark / kMarkStride); }
inline int blockOf(std::uint32_t mark) { return static_cast<int>(mark % kMarkStride); }

// Bytes of one parameter's tensors while training.
struct ParameterBytes {
    int block = -1;                            // numbered through; -1: outside the blocks
    std::int64_t elements = 0;
    std::int64_t weight = 0, master = 0, moments = 0, average = 0;     // moments: both
    std::int64_t fixed() const { return weight + master + moments + average; }
};

struct DryRun {
    std::vector<memory::JournalEvent> journal; // of one update, from its first micro-step's batch to its end
    memory::KindBytes before{};                // in use when the journal begins: weights, masters, average, encoders
    std::vector<ParameterBytes> parameters;
    std::int64_t bufferBytes = 0;              // most of the activation buffer that was used
    std::int64_t offloadedBlocks = 0, keptBlocks = 0;
};

// Attaches the ledger to meta if it is not yet. One thread in a process at a time. Throws c10::Error where the model cannot take the shape.
DryRun dryRun(const Work &work, const ClipShape &shape);

} // namespace stagewright::plan
