// The search of one row's bucket: the inner loop of the assignment, shared with the explanation of its failures.
#pragma once

#include <cstdint>
#include <vector>

#include "core/table/buckets.h"

namespace stagewright::table {

struct RowFacts {
    double frames = 0, height = 0, width = 0, fps = 0;
    bool unreadable = false;
};
RowFacts factsOf(const Table &table, std::int64_t row, bool unreadable);

struct SearchResult {
    std::int32_t bucket = -1;                          // number of the (resolution, frames, aspect), or -1
    DropReason reason = DropReason::NotDrawn;          // where bucket is -1
    bool retimed = false;                              // the policy Keep found the bucket; the original has none for this row
};

class LazyDraws;

// Numbers all (resolution, frames, aspect) in the order of the rules. Const functions may run in parallel. Keeps a reference to the rules.
class BucketSearch
{
public:
    explicit BucketSearch(const BucketRules &rules);
    std::int32_t count() const { return m_count; }
    Bucket describe(std::int32_t number) const;        // without rows
    // seed: of the row's own generator, which is asked only when a draw is needed.
    SearchResult find(const RowFacts &row, std::uint64_t seed) const;

private:
    std::int32_t attempt(const RowFacts &row, double frames, LazyDraws &draws) const;      // a bucket for that many frames, or -1
    std::int32_t keep(const RowFacts &row, std::int64_t stride, LazyDraws &draws) const;   // with less thinning, or stretched
    SearchResult failure(const RowFacts &row, double frames, std::int64_t stride) const;

    const BucketRules &m_rules;
    std::vector<std::vector<std::int32_t>> m_first;    // [resolution][frames]: number of the first aspect
    std::int32_t m_count = 0;
};

} // namespace stagewright::table
