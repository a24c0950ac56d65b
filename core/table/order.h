// The order in which an epoch's batches are trained, for any number of ranks: exactly Open-Sora 2.0's sampler
// (opensora/datasets/sampler.py), addressable at any index, so a resume needs no replay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/table/buckets.h"

namespace stagewright::table {

enum class Shuffle { On, Off };

// Holds the permuted rows of one epoch (about 4 bytes a row). Does not keep the plan; immutable, any thread.
class BatchOrder
{
public:
    // `epoch` seeds the shuffles together with the plan's seed; it may differ from plan.epoch (the original reuses a grouping once).
    BatchOrder(const BucketPlan &plan, std::int64_t epoch, std::int64_t worldSize, std::int64_t rank,
               Shuffle shuffle = Shuffle::On);                         // the plan's tail
    BatchOrder(const BucketPlan &plan, std::int64_t epoch, std::int64_t worldSize, std::int64_t rank, Shuffle shuffle, Tail tail);

    struct Entry {
        std::int32_t bucket = 0;                       // index into the plan's buckets
        std::span<const std::int32_t> rows;            // of the batch, in order; valid as long as this object
        std::int64_t firstInBucket = 0;                // position of rows[0] in bucketRows(bucket)
    };
    std::int64_t size() const { return m_size; }       // batches of this rank in the epoch
    Entry at(std::int64_t index) const;                // 0 ≤ index < size()
    std::span<const std::int32_t> bucketRows(std::int32_t bucket) const;   // all reachable rows of a bucket in the epoch's order

    std::int64_t samplesOfAllRanks() const;            // places in all batches of the epoch
    std::int64_t worldSize() const { return m_worldSize; }
    std::int64_t rank() const { return m_rank; }

private:
    std::int64_t m_worldSize, m_rank, m_size = 0;
    std::vector<std::int32_t> m_rows;                  // all buckets, one after another
    std::vector<std::int64_t> m_bucketBegin;           // into m_rows; one more than buckets
    std::vector<std::int32_t> m_batchSize;
    std::vector<std::int32_t> m_access;                // bucket of every batch, all ranks
    std::vector<std::int32_t> m_ordinal;               // of that batch inside its bucket
};

// Position arithmetic of the original's sampler state: last_micro_batch_access_index counts batches of all ranks.
inline std::int64_t accessIndex(std::int64_t batchIndex, std::int64_t worldSize) { return batchIndex * worldSize; }
inline std::int64_t batchIndexFromAccess(std::int64_t access, std::int64_t worldSize) { return access / worldSize; }

} // namespace stagewright::table
