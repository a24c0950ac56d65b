#include "core/base/text.h"
#include "core/base/paths.h"
#include "core/table/readers.h"

namespace stagewright::table {

namespace fs = std::filesystem;

Result<std::shared_ptr<const Table>> readTable(const fs::path &file, const ReadOptions &options)
{
    std::error_code error;
    const fs::path absolute = fs::absolute(expandUser(file.string())).lexically_normal();
    const std::string name = absolute.string();
    const auto failed = [&name](const char *code, const std::string &what) { return Error(ExitCode::Data, code, name + what, name); };
    const fs::file_status status = fs::status(absolute, error);
    if (!fs::exists(status))
        return failed("data.table-missing", " does not exist; set dataset.data_path to the table of your clips");
    if (fs::is_directory(status))
        return failed("data.table-folder", " is a folder; dataset.data_path must name a .csv or .parquet file");
    if (fs::is_regular_file(status) && fs::file_size(absolute, error) == 0)
        return failed("data.table-empty", " is empty; it must have a header and one row a clip");
    const std::string extension = lowered(absolute.extension().string());
    try {
        if (extension == ".csv")
            return readCsv(absolute, options);
        if (extension == ".parquet")
            return readParquet(absolute, options);
    } catch (const std::exception &exception) {        // Parquet's reader throws on some damaged files
        return failed("data.table-unreadable", std::string(" cannot be read: ") + exception.what() + "; write it again");
    }
    return failed("data.table-format", " is neither .csv nor .parquet; convert it, or rename it to what it is");
}

} // namespace stagewright::table
