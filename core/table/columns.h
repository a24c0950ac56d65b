// Which columns of a file become which parts of a table.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/table/table.h"

namespace stagewright::table {

struct ColumnMap {
    int path = -1, caption = -1;                       // positions in the file; -1: not there
    std::array<int, kNumberColumns> numbers{-1, -1, -1, -1, -1};
    std::array<bool, kNumberColumns> present() const;
};

// Finds the columns by their names. Errors: one occurs twice, or one that is needed is missing (those found are listed, with the nearest name).
Result<ColumnMap> mapColumns(const std::vector<std::string> &names, const std::string &file, const ReadOptions &options);

} // namespace stagewright::table
