// What the Data page says about a dataset: rows of its tables, in the current language. Pure functions.
#pragma once

#include <QString>
#include <map>
#include <optional>

#include "core/events/plan.h"
#include "ui/models/keyed_table_model.h"
#include "ui/session/data_session.h"

namespace stagewright::pages {

QString dataBucketWords(const std::string &resolution, std::int64_t frames);   // "256px × 33 frames", "256px images"
QString reasonWords(table::DropReason reason);         // "too short"
QString reasonHelp(table::DropReason reason);          // a sentence: what it means, and what would keep such rows

// "7.4 %"; a share that is not zero never reads as zero, one that is not everything never as everything.
QString percent(std::int64_t part, std::int64_t whole);

// What a bucket costs, by bucketName() and "HEIGHTxWIDTH"; the bucket's own entry (without a size) is its worst.
using PlannedCosts = std::map<std::string, events::PlannedBucket>;
PlannedCosts costsOf(const events::Plan &plan);

struct GridOptions {
    bool aspects = false;                              // every aspect beneath its bucket
    const PlannedCosts *costs = nullptr;               // null: not known
};
QStringList gridHeaders();
inline constexpr int kSizeColumnOfGrid = 1;            // says nothing without aspects
inline constexpr int kFirstNumberOfGrid = 3;           // column; those from here on are right-aligned
// A row for each resolution × frames (DataRole: resolution and frames), and beneath it, where asked for, each aspect that has rows (DataRole: also the index of the cell).
QList<models::Row> gridRows(const session::DataSession &data, const GridOptions &options);

QStringList lossHeaders();
// Why rows never train, the most frequent first; then what an epoch leaves over. DataRole: index of the reason, or kTailRow.
QList<models::Row> lossRows(const table::Simulation &simulation);
inline constexpr int kTailRow = 1000;

// "As tried: 96.1 % train (93.2 % in the stage), 12 steps an epoch (11)". Empty where nothing is tried.
QString trialWords(const session::DataSession &data);
// What the other data_policy would make of the same rows; empty before it is counted.
QString policyWords(const session::DataSession &data);

} // namespace stagewright::pages
