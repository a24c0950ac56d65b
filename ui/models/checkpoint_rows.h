// Checkpoints, their files and a resume plan as rows of a KeyedTableModel.
#pragma once

#include <QList>
#include <QStringList>
#include <vector>

#include "core/ckptfile/inspect.h"
#include "core/ckptfile/listing.h"
#include "core/ckptfile/resume_plan.h"
#include "ui/models/keyed_table_model.h"
#include "ui/session/run_facts.h"

namespace stagewright::models {

// current: the saves of the run that is shown, so that one being written is seen in the list. now: wall time, for "3 min ago".
QList<Row> checkpointRows(const std::vector<ckptfile::ListedCheckpoint> &checkpoints, const std::vector<session::SaveFacts> &current, double now);
QStringList checkpointHeaders();
Cell badgeCell(ckptfile::Badge badge, const std::string &sentence);

QList<Row> fileRows(const ckptfile::Inspection &inspection);
QStringList planHeaders();
QList<Row> itemRows(const std::vector<ckptfile::ResumeItem> &items);         // of a plan, or of a rehearsal
QStringList rehearsalHeaders();

} // namespace stagewright::models
