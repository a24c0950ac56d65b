// Compared runs as tables: what differs between them, and what their pictures show.
#pragma once

#include <QStringList>
#include <vector>

#include "ui/models/keyed_table_model.h"
#include "ui/session/run_comparison.h"

namespace stagewright::pages {

using ComparedRuns = std::vector<session::ComparedRunPtr>;

enum class CompareView { BySteps, ByBuckets, ByKinds, Techniques };   // the last is of the open stage, not of runs

// One column a run behind the names: the runs' figures, then the settings in which they differ. Percentages are against the first run.
QStringList differenceHeaders(const ComparedRuns &runs);
QList<models::Row> differenceRows(const ComparedRuns &runs);

// What a view shows, the header first. Memory in GiB, times in seconds. Of long runs the steps are thinned to about `mostSteps`: of each stretch its highest and
// lowest values stay.
QList<QStringList> viewRows(const ComparedRuns &runs, CompareView view, std::size_t mostSteps);

QString bucketTitle(const session::BucketName &bucket);        // "256px × 17 frames", translated
double firstStep(const ComparedRuns &runs);                    // of any run that has one; 0 where none has
double lastStep(const ComparedRuns &runs);

} // namespace stagewright::pages
