#include "core/media/packet_index.h"

#include <algorithm>

namespace stagewright::media {

bool PacketIndex::variableRate() const
{
    if (!timesKnown || frames.size() < 3)
        return false;
    // The last frame's distance is that to the one before; rounding to a time base shifts a distance by one tick at most.
    std::int64_t least = frames[1].time - frames[0].time, most = least;
    for (std::size_t i = 2; i < frames.size(); ++i) {
        const std::int64_t step = frames[i].time - frames[i - 1].time;
        least = std::min(least, step);
        most = std::max(most, step);
    }
    return most - least > 1;
}

Result<PacketIndex> scanPackets(Input &input)
{
    PacketIndex index;
    PacketPtr packet(av_packet_alloc());
    while (input.read(packet.get())) {
        if (packet->flags & AV_PKT_FLAG_DISCARD)       // cut away by an edit list: decoded, never shown
            continue;
        index.timesKnown = index.timesKnown && packet->pts != AV_NOPTS_VALUE;
        index.frames.push_back({packet->pts, (packet->flags & AV_PKT_FLAG_KEY) != 0});
    }
    if (input.patience().isOver())
        return input.error("data.timeout", {});
    if (index.timesKnown) {
        std::stable_sort(index.frames.begin(), index.frames.end(), [](const auto &a, const auto &b) { return a.time < b.time; });
        index.timesKnown = std::adjacent_find(index.frames.begin(), index.frames.end(), [](const auto &a, const auto &b) { return a.time == b.time; })
            == index.frames.end();
    }
    if (!input.isImage()) {
        if (Status back = input.rewind(); !back)
            return back.error();
    }
    return index;
}

} // namespace stagewright::media
