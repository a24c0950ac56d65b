// When each frame of a file is shown, from its packets alone: the way from a frame's number to a place to seek to.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/media/input.h"

namespace stagewright::media {

struct PacketIndex {
    struct Entry { std::int64_t time = 0; bool key = false; };         // presentation time in the stream's time base
    std::vector<Entry> frames;                         // in display order
    bool timesKnown = true;                            // every packet had a time, and no time occurred twice
    bool variableRate() const;                         // distances differ by more than rounding
};

// Reads all packets of the picture stream without decoding, then goes back to the start.
Result<PacketIndex> scanPackets(Input &input);

} // namespace stagewright::media
