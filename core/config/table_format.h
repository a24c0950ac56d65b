// The kinds of files that can hold a dataset's table, told apart by name: one list for rules, readers and file dialogs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stagewright::config {

enum class TableFormat {
    Csv,           // .csv
    Parquet,       // .parquet
    Json,          // .json: a list of objects; .jsonl: one object a line (Open-Sora-Plan's annotations)
    Index          // .txt: Open-Sora-Plan's list of annotations, one "root folder,annotation file" a line
};

// By the extension, whatever its case. Nothing for other names, those of folders among them.
std::optional<TableFormat> tableFormat(std::string_view path);

// "a .csv, .parquet, .json or .jsonl table, a .txt index of annotations, or a folder of tables"
std::string describeTableFormats();

} // namespace stagewright::config
