#include "core/checkpoint/staging_pool.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/ckptfile/output_file.h"

namespace stagewright::checkpoint {

using ckptfile::kBlockBytes;

StagingPool::StagingPool(SnapshotCopier &copier, std::function<void(std::int64_t)> changed) : m_copier(copier), m_changed(std::move(changed)) {}
StagingPool::~StagingPool() { trim(); }

void StagingPool::setLimit(std::int64_t bytes)
{
    const std::lock_guard lock(m_mutex);
    m_limit = bytes;
}

StagingPool::Block StagingPool::take(std::int64_t bytes, const std::function<bool()> &cancelled)
{
    Block block{nullptr, ckptfile::alignedUp(bytes)};
    std::unique_lock lock(m_mutex);
    // One block is always given, however small the limit is: else nothing would ever move.
    while (m_limit > 0 && m_used > 0 && m_used + block.bytes > m_limit) {
        m_returned.wait_for(lock, std::chrono::milliseconds(100));
        if (cancelled())
            return block;
    }
    m_used += block.bytes;
    if (block.bytes == kBlockBytes && !m_free.empty()) {
        block.data = m_free.back();
        m_free.pop_back();
        return block;
    }
    m_held += block.bytes;
    m_peak = std::max(m_peak, m_held);
    const std::int64_t held = m_held;
    lock.unlock();
    block.data = static_cast<char *>(m_copier.allocate(block.bytes));
    if (!block.data) {
        lock.lock();
        m_held -= block.bytes;
        m_used -= block.bytes;
        m_outOfMemory = true;
        return block;
    }
    tell(held);
    return block;
}

void StagingPool::giveBack(Block block, bool keep)
{
    std::unique_lock lock(m_mutex);
    m_used -= block.bytes;
    const bool kept = keep && block.bytes == kBlockBytes;
    if (kept)
        m_free.push_back(block.data);
    else
        m_held -= block.bytes;
    const std::int64_t held = m_held;
    m_returned.notify_all();
    lock.unlock();
    if (!kept) {
        m_copier.release(block.data, block.bytes);
        tell(held);
    }
}

void StagingPool::makeReady(std::int64_t bytes, const std::function<bool()> &cancelled)
{
    while (!cancelled()) {
        std::unique_lock lock(m_mutex);
        const std::int64_t wanted = m_limit > 0 ? std::min(m_limit, bytes) : bytes;
        if (m_held + kBlockBytes > wanted)
            return;
        m_held += kBlockBytes;
        const std::int64_t held = m_held;
        lock.unlock();
        auto *block = static_cast<char *>(m_copier.allocate(kBlockBytes));
        if (block)
            std::memset(block, 0, static_cast<std::size_t>(kBlockBytes));
        lock.lock();
        if (!block) {
            m_held -= kBlockBytes;           // the save that needs it will say so
            return;
        }
        m_free.push_back(block);
        m_peak = std::max(m_peak, m_held);
        lock.unlock();
        tell(held);
    }
}

void StagingPool::trim()
{
    std::unique_lock lock(m_mutex);
    std::vector<char *> unused = std::move(m_free);
    m_free.clear();
    m_held -= static_cast<std::int64_t>(unused.size()) * kBlockBytes;
    m_outOfMemory = false;
    const std::int64_t held = m_held;
    lock.unlock();
    for (char *block : unused)
        m_copier.release(block, kBlockBytes);
    if (!unused.empty())
        tell(held);
}

std::int64_t StagingPool::heldBytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_held;
}

std::int64_t StagingPool::peakBytes() const
{
    const std::lock_guard lock(m_mutex);
    return m_peak;
}

bool StagingPool::isLimited() const
{
    const std::lock_guard lock(m_mutex);
    return m_limit > 0;
}

bool StagingPool::outOfMemory() const
{
    const std::lock_guard lock(m_mutex);
    return m_outOfMemory;
}

} // namespace stagewright::checkpoint
