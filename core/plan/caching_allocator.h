// How much a caching allocator reserves for a sequence of allocations: CUDA's, as Torch implements it (c10/cuda/CUDACachingAllocator.cpp).
//
// Sizes are rounded to 512 B. Up to 1 MiB come from segments of 2 MiB; up to 10 MiB from segments of 20 MiB; larger ones get a segment of their own,
// rounded to 2 MiB. The smallest free block that is large enough is taken, the lowest address among equals; what is left of it stays free where it is
// worth it; freed neighbours join. Segments are not given back. With expandable segments each of the two pools is one segment that grows.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace stagewright::plan {

class CachingAllocator
{
public:
    explicit CachingAllocator(bool expandable = false) : m_expandable(expandable) {}

    using Handle = int;
    Handle allocate(std::int64_t bytes);
    void release(Handle handle);                               // once
    std::int64_t reserved() const { return m_reserved; }       // never shrinks

private:
    struct Block {
        std::int64_t bytes = 0, address = 0;
        int before = -1, after = -1;                           // neighbours in the same segment
        bool free = true, small = false;
    };
    int newBlock(const Block &block);
    int addSegment(std::int64_t bytes, bool small);            // a free block that is large enough
    void setFree(int block, bool free);
    void joinWithNext(int block);                              // which is free as well; neither is in the list of free ones

    bool m_expandable;
    std::vector<Block> m_blocks;
    std::vector<int> m_unused;                                 // places in m_blocks
    struct Free {
        std::int64_t bytes, address;
        int block;
        bool operator<(const Free &other) const { return std::pair(bytes, address) < std::pair(other.bytes, other.address); }
    };
    std::set<Free> m_free[2];                                  // large, small
    int m_last[2] = {-1, -1};                                  // expandable: the block at the pool's end
    std::int64_t m_reserved = 0, m_nextAddress = 0;
};

} // namespace stagewright::plan
