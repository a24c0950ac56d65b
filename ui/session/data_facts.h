// What the Data page is told: a dataset's rows by bucket, asked at one moment. Immutable, shared, made off the GUI thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/table/buckets.h"
#include "core/table/simulator.h"

namespace stagewright::session {

// A table with its simulator, which one thread asks at a time. Row lists of any length point into it.
struct OpenTable {
    explicit OpenTable(std::shared_ptr<const table::Table> read) : table(std::move(read)), simulator(table) {}
    const std::shared_ptr<const table::Table> table;
    std::mutex mutex;                                  // of simulator
    table::Simulator simulator;
};

// What rows are lost for: the drops by reason, and those that no batch of the epoch reaches.
struct Losses {
    std::int64_t dropped = 0, notDrawn = 0, tail = 0;  // notDrawn is of this epoch alone and not part of dropped
    std::int64_t never() const { return dropped + tail; }
};
Losses lossesOf(const table::Simulation &simulation);

// Which rows a person wants to see.
struct RowChoice {
    enum class Kind { Nothing, Cell, Bucket, Reason, Tail } kind = Kind::Nothing;
    std::size_t index = 0;                             // Cell: into Simulation::buckets; Reason: a DropReason
    std::string resolution;                            // Bucket: every aspect of resolution × frames
    std::int64_t frames = 0;
    bool operator==(const RowChoice &) const = default;
};

struct RowList {
    std::shared_ptr<OpenTable> open;                   // null: no table
    table::BucketRules rules;
    RowChoice choice;
    std::vector<std::int64_t> rows;                    // ascending within a cell; those whose path or caption holds the searched words
    std::int64_t found = 0;                            // before the search
    table::BucketPlan nowhere;                         // in which no row has a bucket: what explainDrop() asks for
    std::string why(std::int64_t row) const;           // for dropped rows, without the row's number; empty for others
};

// Every row of the choice that `words` (lower case, may be empty) is found in. Seconds for millions of rows with words.
std::shared_ptr<const RowList> findRows(const std::shared_ptr<OpenTable> &open, const table::BucketRules &rules, std::int64_t epoch,
                                        const RowChoice &choice, const std::string &words);

// CSV with row number, path, reason and sentence of each row. Error: the file cannot be written.
Status exportRows(const RowList &list, const std::filesystem::path &file);

} // namespace stagewright::session
