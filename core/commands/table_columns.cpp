#include "core/commands/table_columns.h"

#include <filesystem>

#include "core/base/paths.h"
#include "core/config/table_format.h"
#include "core/table/readers.h"

namespace stagewright::commands {

namespace fs = std::filesystem;

namespace {

Status readColumns(const fs::path &file, const table::ReadOptions &options)
{
    if (config::tableFormat(file.string()) == config::TableFormat::Csv && fs::is_regular_file(file)) {
        const auto names = table::readCsvHeader(file);
        if (!names)
            return names.error();
        const auto columns = table::mapColumns(*names, file.string(), options);
        return columns ? Status(Done{}) : Status(columns.error());
    }
    const auto read = table::readTable(file, options);
    return read ? Status(Done{}) : Status(read.error());
}

} // namespace

std::optional<Problem> columnProblem(const config::Stage &stage)
{
    const config::Value &path = stage.at("dataset.data_path");
    if (path.type() != config::Type::String)
        return std::nullopt;
    std::error_code ignored;
    const fs::path file = fs::absolute(expandUser(path.string()), ignored);
    if (!fs::exists(file, ignored) || (!config::tableFormat(file.string()) && file.has_extension()))
        return std::nullopt;
    const Status read = readColumns(file, table::readOptions(stage));
    if (read)
        return std::nullopt;
    Problem problem = read.error().problem;
    problem.path = "dataset.data_path";
    if (problem.file.empty())
        problem.file = file.string();
    return problem;
}

} // namespace stagewright::commands
