// Whether the table of a stage has the columns that the stage needs.
#pragma once

#include <optional>

#include "core/base/problem.h"
#include "core/config/stage.h"

namespace stagewright::commands {

// An error at dataset.data_path: a column is missing or there twice, or the table cannot be read at all. Of a CSV file only the header is read,
// of the other formats all. Nothing where no table is set or it does not exist (rules say that).
std::optional<Problem> columnProblem(const config::Stage &stage);

} // namespace stagewright::commands
