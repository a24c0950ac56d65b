// Problems as rows of a KeyedTableModel, in the validator's order.
#pragma once

#include "core/base/problem.h"
#include "ui/models/keyed_table_model.h"

namespace stagewright::models {

QList<Row> problemRows(const Problems &problems);          // DataRole: the problem's index
QString placeOf(const Problem &problem);                   // "stage1.py:12", empty where unknown
struct ProblemCounts { int errors = 0, warnings = 0, hints = 0; };
ProblemCounts countsOf(const Problems &problems);

} // namespace stagewright::models
