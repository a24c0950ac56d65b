// The search of one row's bucket: the inner loop of the assignment, shared with the explanation of its failures.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/table/buckets.h"
#include "core/table/random.h"

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

// Makes a row's generator when it is first asked: most rows of most stages need no draw, and seeding costs more than drawing.
class LazyDraws
{
public:
    explicit LazyDraws(std::uint64_t seed) : m_seed(seed) {}
    // With the generator's first draws at hand.
    LazyDraws(std::uint64_t seed, const double *known, int count) : m_seed(seed), m_known(known), m_knownCount(count) {}
    double next()
    {
        if (m_used < m_knownCount)
            return m_known[m_used++];
        if (!m_generator) {
            m_generator.emplace(m_seed);
            for (int i = 0; i < m_used; ++i)
                m_generator->next();
        }
        return m_generator->uniform();
    }
    bool atMost(double probability) { return probability >= 1 || next() <= probability; }

private:
    std::uint64_t m_seed;
    const double *m_known = nullptr;
    int m_knownCount = 0, m_used = 0;                  // m_used: of the known ones
    std::optional<Pcg64> m_generator;
};

// What only the picture's size decides.
struct SizeFacts {
    std::size_t firstResolution = 0;                   // rules are in order of pixels, so this one and all behind it are small enough
    const std::int32_t *aspects = nullptr;             // nearest aspect, by resolution
};

// Numbers all (resolution, frames, aspect) in the order of the rules. Const functions may run in parallel. Keeps a reference to the rules.
class BucketSearch
{
public:
    explicit BucketSearch(const BucketRules &rules);
    std::int32_t count() const { return m_count; }
    Bucket describe(std::int32_t number) const;        // without rows
    // seed: of the row's own generator, which is asked only when a draw is needed.
    SearchResult find(const RowFacts &row, std::uint64_t seed) const;

    // The same in two steps, for callers that see the same sizes and lengths many times.
    std::size_t firstResolution(double height, double width) const;
    std::int32_t nearestAspect(std::size_t resolution, double ratio) const;
    // rate: mapFrameRate of the row's fps.
    SearchResult find(double frames, const std::optional<FrameRate> &rate, const SizeFacts &size, LazyDraws &draws) const;

private:
    std::int32_t attempt(double frames, const SizeFacts &size, LazyDraws &draws) const;    // a bucket for that many frames, or -1
    std::int32_t keep(double frames, std::int64_t stride, const SizeFacts &size, LazyDraws &draws) const;      // with less thinning, or stretched
    DropReason failure(double frames, std::int64_t stride, const SizeFacts &size) const;

    const BucketRules &m_rules;
    std::vector<std::vector<std::int32_t>> m_first;    // [resolution][frames]: number of the first aspect
    std::int32_t m_count = 0;
};

} // namespace stagewright::table
