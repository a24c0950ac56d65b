// Which columns of a file become which parts of a table.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/table/table.h"

namespace stagewright::table {

struct ColumnMap {
    int path = -1, caption = -1;                       // positions in the file; -1: not there
    std::array<int, kNumberColumns> numbers{-1, -1, -1, -1, -1};
    std::array<int, kFileColumns> files{-1, -1, -1};
    std::vector<std::pair<std::string, std::string>> renamed;          // columns that were found by another name: as written, as what they are read
};

// Finds the columns by their names: exactly, else by the names that other tools use for the same ("caption", "n_frames", any case). Errors: one occurs
// twice, two could be meant, or one that is needed is missing (those found are listed, with the nearest name).
Result<ColumnMap> mapColumns(const std::vector<std::string> &names, const std::string &file, const ReadOptions &options);

} // namespace stagewright::table
