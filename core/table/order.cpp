#include "core/table/order.h"

#include <algorithm>

#include "core/table/random.h"

namespace stagewright::table {

namespace {

// The rows of a bucket that fill whole batches, before the shuffle.
std::vector<std::int32_t> wholeBatches(const Bucket &bucket, Tail tail)
{
    std::vector<std::int32_t> rows = bucket.rows;
    const auto size = static_cast<std::size_t>(bucket.batchSize);
    const std::size_t rest = rows.size() % size;
    if (rest == 0)
        return rows;
    if (tail == Tail::Drop) {
        rows.resize(rows.size() - rest);
        return rows;
    }
    // Pad repeats each row once at most, so a bucket of fewer than half a batch still fills none.
    const std::size_t own = rows.size(), wanted = size - rest;
    for (std::size_t i = 0; i < (tail == Tail::Fill ? wanted : std::min(wanted, own)); ++i)
        rows.push_back(rows[i % own]);
    return rows;
}

template <class T>
std::vector<T> permuted(const std::vector<T> &items, TorchPermuter &permuter)
{
    const auto order = permuter.permutation(static_cast<std::int64_t>(items.size()));
    std::vector<T> result(items.size());
    for (std::size_t i = 0; i < items.size(); ++i)
        result[i] = items[static_cast<std::size_t>(order[i])];
    return result;
}

} // namespace

BatchOrder::BatchOrder(const BucketPlan &plan, std::int64_t epoch, std::int64_t worldSize, std::int64_t rank, Shuffle shuffle)
    : BatchOrder(plan, epoch, worldSize, rank, shuffle, plan.tail)
{
}

BatchOrder::BatchOrder(const BucketPlan &plan, std::int64_t epoch, std::int64_t worldSize, std::int64_t rank, Shuffle shuffle, Tail tail)
    : m_worldSize(worldSize), m_rank(rank)
{
    TorchPermuter permuter(static_cast<std::uint64_t>(plan.seed + epoch));
    m_bucketBegin.push_back(0);
    for (std::size_t i = 0; i < plan.buckets.size(); ++i) {
        std::vector<std::int32_t> rows = wholeBatches(plan.buckets[i], tail);
        if (shuffle == Shuffle::On)
            rows = permuted(rows, permuter);
        m_rows.insert(m_rows.end(), rows.begin(), rows.end());
        m_bucketBegin.push_back(static_cast<std::int64_t>(m_rows.size()));
        m_batchSize.push_back(static_cast<std::int32_t>(plan.buckets[i].batchSize));
        m_access.insert(m_access.end(), rows.size() / static_cast<std::size_t>(plan.buckets[i].batchSize), static_cast<std::int32_t>(i));
    }
    if (shuffle == Shuffle::On)
        m_access = permuted(m_access, permuter);
    const auto all = static_cast<std::int64_t>(m_access.size());
    m_size = tail == Tail::Drop ? all / worldSize : (all + worldSize - 1) / worldSize;
    m_access.resize(static_cast<std::size_t>(m_size * worldSize));
    for (std::int64_t i = all; i < static_cast<std::int64_t>(m_access.size()); ++i)
        m_access[static_cast<std::size_t>(i)] = m_access[static_cast<std::size_t>(i - all)];       // Pad: Pad, Fill: the first batches once more
    m_ordinal.reserve(m_access.size());
    std::vector<std::int64_t> next(plan.buckets.size(), 0);
    for (const std::int32_t bucket : m_access) {
        const auto at = static_cast<std::size_t>(bucket);
        const std::int64_t batches = (m_bucketBegin[at + 1] - m_bucketBegin[at]) / m_batchSize[at];
        m_ordinal.push_back(static_cast<std::int32_t>(next[at]++ % batches));
    }
}

BatchOrder::Entry BatchOrder::at(std::int64_t index) const
{
    const auto access = static_cast<std::size_t>(index * m_worldSize + m_rank);
    const std::int32_t bucket = m_access[access];
    const std::int64_t size = m_batchSize[static_cast<std::size_t>(bucket)];
    const std::int64_t first = m_ordinal[access] * size;
    return {bucket, bucketRows(bucket).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size)), first};
}

std::span<const std::int32_t> BatchOrder::bucketRows(std::int32_t bucket) const
{
    const auto at = static_cast<std::size_t>(bucket);
    return std::span(m_rows).subspan(static_cast<std::size_t>(m_bucketBegin[at]), static_cast<std::size_t>(m_bucketBegin[at + 1] - m_bucketBegin[at]));
}

std::int64_t BatchOrder::samplesOfAllRanks() const
{
    std::int64_t samples = 0;
    for (const std::int32_t bucket : m_access)
        samples += m_batchSize[static_cast<std::size_t>(bucket)];
    return samples;
}

BucketPlan::Use BucketPlan::use(std::int64_t worldSize) const
{
    const std::int64_t places = BatchOrder(*this, epoch, worldSize, 0).samplesOfAllRanks();
    return {std::max<std::int64_t>(kept - places, 0), std::max<std::int64_t>(places - kept, 0)};
}

} // namespace stagewright::table
