#include "core/config/table_format.h"

#include <filesystem>

#include "core/base/text.h"

namespace stagewright::config {

std::optional<TableFormat> tableFormat(std::string_view path)
{
    const std::string extension = lowered(std::filesystem::path(path).extension().string());
    if (extension == ".csv")
        return TableFormat::Csv;
    if (extension == ".parquet")
        return TableFormat::Parquet;
    if (extension == ".json" || extension == ".jsonl")
        return TableFormat::Json;
    if (extension == ".txt")
        return TableFormat::Index;
    return std::nullopt;
}

std::string describeTableFormats()
{
    return "a .csv, .parquet, .json or .jsonl table, a .txt index of annotations, or a folder of tables";
}

} // namespace stagewright::config
