// The media behind a table: measured where the table lacks numbers, compared where it has them.
#pragma once

#include "core/commands/command.h"
#include "core/table/measure.h"

namespace stagewright::commands {

// Opens every file on all CPUs with progress on standard error. Puts what cannot be read, what differs and what is odd into the object's `files` and into problems.
Result<table::MeasureReport> lookIntoFiles(const table::Table &table, Output &output);

// Measures what the table at `file` lacks and writes it beside it (NAME.probed.csv). Returns the new file.
Result<std::filesystem::path> probeTable(const std::filesystem::path &file, table::ReadOptions options, Output &output);

} // namespace stagewright::commands
