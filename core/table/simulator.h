// What-if answers about buckets: how a table's rows would fall with other rules, fast enough for every keystroke in an editor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/table/buckets.h"

namespace stagewright::table {

// One cell of the grid resolution × frames × aspect.
struct SimulatedBucket {
    Bucket bucket;                                     // rows stay empty
    std::int64_t samples = 0;
    std::int64_t firstRow = -1;
    std::int64_t batches() const;                      // of all ranks together
};

// Counts of one epoch; the same numbers as assignBuckets and BucketPlan give. Rows = kept + sum of dropped.
struct Simulation {
    std::int64_t rows = 0, kept = 0, retimed = 0;
    std::array<std::int64_t, kDropReasons> dropped{};
    std::vector<SimulatedBucket> buckets;              // all cells of the rules in their order, those without samples too
    BucketPlan::Use use;                               // what the last batches lose or repeat
    std::int64_t batches = 0, batchesPerRank = 0;
    double seconds = 0;                                // that the simulation took
};

// Keeps two numbers a row and the first draws of the last seed: 32 bytes a row. One thread at a time; make it and ask it off the window's thread. 2 million rows
// take about a tenth of a second to prepare and less for each question (tests/bench).
class Simulator
{
public:
    explicit Simulator(std::shared_ptr<const Table> table, int threads = 2);
    ~Simulator();

    Simulation simulate(const BucketRules &rules, std::int64_t epoch = 0, std::int64_t worldSize = 1);

    // The rows behind a number, from the `from`-th on, at most `count`: of the cell with this position in Simulation::buckets, or of one reason.
    std::vector<std::int64_t> rowsOfBucket(const BucketRules &rules, std::int64_t epoch, std::size_t cell, std::int64_t from, std::int64_t count);
    std::vector<std::int64_t> droppedRows(const BucketRules &rules, std::int64_t epoch, DropReason reason, std::int64_t from, std::int64_t count);

private:
    class Run;
    void prepare();
    void prepareDraws(const BucketRules &rules, std::int64_t epoch);
    void prepareSizes(const BucketRules &rules);

    std::shared_ptr<const Table> m_table;
    int m_threads;
    struct Size { double height = 0, width = 0; };
    struct Length { double frames = 0, fps = 0; bool unreadable = false; };
    std::vector<Size> m_sizes;                         // those that occur
    std::vector<Length> m_lengths;
    std::vector<std::uint32_t> m_sizeOf, m_lengthOf;   // by row
    static constexpr std::size_t kDrawsKept = 3;
    std::vector<double> m_draws;                       // by row: the first draws of its generator
    std::uint64_t m_drawsSeed = 0, m_drawsStep = 0;    // that m_draws belong to; step 0: none
    std::vector<std::uint8_t> m_firstResolution;       // by size
    std::vector<std::int32_t> m_aspects;               // by size and resolution
    std::string m_sizesFor;                            // the resolutions that these two belong to
};

} // namespace stagewright::table
