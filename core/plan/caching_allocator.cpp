#include "core/plan/caching_allocator.h"

#include <algorithm>

namespace stagewright::plan {

namespace {

constexpr std::int64_t kMiB = std::int64_t(1) << 20;
constexpr std::int64_t kMinBlock = 512, kSmallSize = kMiB, kSmallSegment = 2 * kMiB, kLargeSegment = 20 * kMiB, kMinLarge = 10 * kMiB, kRoundLarge = 2 * kMiB;
constexpr std::int64_t kPoolDistance = std::int64_t(1) << 50;  // of the two growing segments' addresses

std::int64_t roundedUp(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

std::int64_t segmentSize(std::int64_t bytes)
{
    if (bytes <= kSmallSize)
        return kSmallSegment;
    return bytes < kMinLarge ? kLargeSegment : roundedUp(bytes, kRoundLarge);
}

} // namespace

int CachingAllocator::newBlock(const Block &block)
{
    if (m_unused.empty()) {
        m_blocks.push_back(block);
        return static_cast<int>(m_blocks.size()) - 1;
    }
    const int place = m_unused.back();
    m_unused.pop_back();
    m_blocks[static_cast<std::size_t>(place)] = block;
    return place;
}

void CachingAllocator::setFree(int index, bool free)
{
    Block &block = m_blocks[static_cast<std::size_t>(index)];
    block.free = free;
    const Free entry{block.bytes, block.address, index};
    if (free)
        m_free[block.small].insert(entry);
    else
        m_free[block.small].erase(entry);
}

int CachingAllocator::addSegment(std::int64_t bytes, bool small)
{
    if (!m_expandable) {
        const std::int64_t size = segmentSize(bytes), address = m_nextAddress;
        m_nextAddress += size;
        m_reserved += size;
        const int block = newBlock({size, address, -1, -1, true, small});
        setFree(block, true);
        return block;
    }
    // The pool's segment grows at its end, together with the free block there.
    const std::int64_t page = small ? kSmallSegment : kLargeSegment;
    int &last = m_last[small];
    const bool grows = last >= 0 && m_blocks[static_cast<std::size_t>(last)].free;
    const std::int64_t more = roundedUp(bytes - (grows ? m_blocks[static_cast<std::size_t>(last)].bytes : 0), page);
    m_reserved += more;
    if (grows) {
        setFree(last, false);
        m_blocks[static_cast<std::size_t>(last)].bytes += more;
    } else {
        const std::int64_t address = last >= 0 ? m_blocks[static_cast<std::size_t>(last)].address + m_blocks[static_cast<std::size_t>(last)].bytes : small ? 0 : kPoolDistance;
        const int block = newBlock({more, address, last, -1, true, small});
        if (last >= 0)
            m_blocks[static_cast<std::size_t>(last)].after = block;
        last = block;
    }
    setFree(last, true);
    return last;
}

CachingAllocator::Handle CachingAllocator::allocate(std::int64_t bytes)
{
    const std::int64_t size = std::max(kMinBlock, roundedUp(bytes, kMinBlock));
    const bool small = size <= kSmallSize;
    const auto found = m_free[small].lower_bound({size, -1, -1});
    const int index = found != m_free[small].end() ? found->block : addSegment(size, small);
    setFree(index, false);
    const std::int64_t rest = m_blocks[static_cast<std::size_t>(index)].bytes - size;
    const bool splits = small || m_expandable ? rest >= kMinBlock : rest > kSmallSize;
    if (splits) {
        const Block whole = m_blocks[static_cast<std::size_t>(index)];
        const int tail = newBlock({rest, whole.address + size, index, whole.after, true, small});
        m_blocks[static_cast<std::size_t>(index)].bytes = size;
        m_blocks[static_cast<std::size_t>(index)].after = tail;
        if (whole.after >= 0)
            m_blocks[static_cast<std::size_t>(whole.after)].before = tail;
        if (m_last[small] == index)
            m_last[small] = tail;
        setFree(tail, true);
    }
    return index;
}

void CachingAllocator::joinWithNext(int index)
{
    Block &block = m_blocks[static_cast<std::size_t>(index)];
    const int next = block.after;
    block.bytes += m_blocks[static_cast<std::size_t>(next)].bytes;
    block.after = m_blocks[static_cast<std::size_t>(next)].after;
    if (block.after >= 0)
        m_blocks[static_cast<std::size_t>(block.after)].before = index;
    if (m_last[block.small] == next)
        m_last[block.small] = index;
    m_unused.push_back(next);
}

void CachingAllocator::release(Handle handle)
{
    int index = handle;
    if (const int next = m_blocks[static_cast<std::size_t>(index)].after; next >= 0 && m_blocks[static_cast<std::size_t>(next)].free) {
        setFree(next, false);
        joinWithNext(index);
    }
    if (const int before = m_blocks[static_cast<std::size_t>(index)].before; before >= 0 && m_blocks[static_cast<std::size_t>(before)].free) {
        setFree(before, false);
        joinWithNext(before);
        index = before;
    }
    setFree(index, true);
}

} // namespace stagewright::plan
