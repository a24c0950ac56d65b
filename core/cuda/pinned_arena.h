// The activation buffer's host memory, page-locked piece by piece as it is first used, so that a buffer sized for the worst bucket locks no
// more than what the buckets that occur need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/memory/host_arena.h"

namespace stagewright::cuda {

class PinnedArena
{
public:
    explicit PinnedArena(std::int64_t capacityBytes) : m_arena(capacityBytes) {}
    ~PinnedArena();
    PinnedArena(const PinnedArena &) = delete;
    PinnedArena &operator=(const PinnedArena &) = delete;

    // [0, end) is about to be used. A piece that the system refuses to lock stays pageable, once said in takeNote().
    void touch(std::int64_t end);

    // Copies may not cross the border of a locked piece: calls part(host address, offset from begin, bytes) for each stretch.
    template <class Part>
    void forEachPart(std::int64_t begin, std::int64_t bytes, const Part &part)
    {
        for (std::int64_t done = 0; done < bytes;) {
            const std::int64_t at = begin + done, room = kPiece - at % kPiece, count = room < bytes - done ? room : bytes - done;
            part(m_arena.at(at), done, count);
            done += count;
        }
    }

    std::int64_t touchedBytes() const { return m_arena.touched(); }
    std::int64_t pinnedBytes() const { return m_pinned; }
    std::string takeNote();

private:
    static constexpr std::int64_t kPiece = 64 << 20;
    std::int64_t pieceBytes(std::size_t piece) const;

    memory::HostArena m_arena;
    std::vector<bool> m_locked;                // by piece, as far as touched
    std::int64_t m_pinned = 0;
    bool m_refused = false;
    std::string m_note;
};

} // namespace stagewright::cuda
