// Blocks of host memory between the snapshot and the disk: aligned for direct writes, reused, counted, bounded.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "core/checkpoint/snapshot_copier.h"

namespace stagewright::checkpoint {

// Any thread.
class StagingPool
{
public:
    // limit: most bytes held at once; 0: none. changed: told the bytes held after each change, called without the pool's lock.
    StagingPool(SnapshotCopier &copier, std::function<void(std::int64_t)> changed);
    ~StagingPool();
    StagingPool(const StagingPool &) = delete;
    StagingPool &operator=(const StagingPool &) = delete;

    struct Block {
        char *data = nullptr;                // null: not given (see take())
        std::int64_t bytes = 0;              // usable
    };
    void setLimit(std::int64_t bytes);
    // Waits while the limit is reached, until `cancelled` says true (asked now and then). Null data: cancelled, or the machine has no memory left
    // (then outOfMemory() is true).
    Block take(std::int64_t bytes, const std::function<bool()> &cancelled);
    void giveBack(Block block, bool keep);   // keep: full-size blocks stay for the next save
    // Makes blocks ready for a snapshot of `bytes`, as far as the limit and the machine's memory go: memory that was never touched is given by the
    // kernel page by page, for seconds a gigabyte on a virtual machine. Until `cancelled` says true (asked before each block).
    void makeReady(std::int64_t bytes, const std::function<bool()> &cancelled);
    void trim();                             // frees what is not in use
    std::int64_t heldBytes() const;
    std::int64_t peakBytes() const;
    bool isLimited() const;
    bool outOfMemory() const;

private:
    void tell(std::int64_t held) const { if (m_changed) m_changed(held); }

    SnapshotCopier &m_copier;
    const std::function<void(std::int64_t)> m_changed;
    mutable std::mutex m_mutex;
    std::condition_variable m_returned;
    std::vector<char *> m_free;              // of kBlockBytes each
    std::int64_t m_limit = 0, m_held = 0, m_used = 0, m_peak = 0;
    bool m_outOfMemory = false;
};

} // namespace stagewright::checkpoint
