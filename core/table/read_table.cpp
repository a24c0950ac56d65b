#include <cerrno>
#include <fstream>

#include "core/base/files.h"
#include "core/base/paths.h"
#include "core/base/text.h"
#include "core/config/table_format.h"
#include "core/table/readers.h"

namespace stagewright::table {

namespace fs = std::filesystem;

namespace {

using config::TableFormat;

Error failed(const fs::path &file, const char *code, const std::string &what) { return Error(ExitCode::Data, code, file.string() + what, file.string()); }

Status checkFile(const fs::path &file)
{
    std::error_code error;
    const fs::file_status status = fs::status(file, error);
    if (!fs::exists(status))
        return failed(file, "data.table-missing", " does not exist; set dataset.data_path to the table of your clips");
    if (fs::is_regular_file(status) && fs::file_size(file, error) == 0)
        return failed(file, "data.table-empty", " is empty; it must have a header and one row a clip");
    return Done{};
}

Status readPart(const fs::path &file, TableFormat format, const ReadOptions &options, TableBuilder &builder, const fs::path &root);

// Lines of "root folder,annotation file"; further numbers (how often to repeat) are not supported. Relative folders start at the index.
Status readIndex(const fs::path &index, const ReadOptions &options, TableBuilder &builder)
{
    std::ifstream stream(index);
    if (!stream)
        return ioError("cannot read", index, errno);
    std::string line;
    int number = 0, parts = 0;
    while (std::getline(stream, line)) {
        ++number;
        const std::string_view text = trimmed(line);
        if (text.empty() || text.front() == '#')
            continue;
        const auto wrong = [&](const std::string &what) {
            return Error(ExitCode::Data, "data.index-line", index.string() + ":" + std::to_string(number) + ": " + what, index.string(), number);
        };
        const auto fields = split(text, ',');
        if (fields.size() != 2)
            return wrong("a line must be \"root folder,annotation file\", without further commas; this one has " + std::to_string(fields.size()) + " fields");
        const auto absolute = [&](std::string_view written) {
            const fs::path path = expandUser(trimmed(written));
            return (path.is_absolute() ? path : index.parent_path() / path).lexically_normal();
        };
        const fs::path root = absolute(fields[0]), file = absolute(fields[1]);
        const auto format = config::tableFormat(file.string());
        if (!format || *format == TableFormat::Index)
            return wrong(file.string() + " is no .json, .jsonl, .csv or .parquet file; pickled annotations are not read, write them as JSON");
        if (Status status = readPart(file, *format, options, builder, root); !status)
            return status;
        ++parts;
    }
    return parts > 0 ? Status(Done{}) : failed(index, "data.table-empty", " names no annotation file; each line must be \"root folder,annotation file\"");
}

Status readPart(const fs::path &file, TableFormat format, const ReadOptions &options, TableBuilder &builder, const fs::path &root)
{
    if (Status status = checkFile(file); !status)
        return status;
    try {
        switch (format) {
        case TableFormat::Csv: return readCsv(file, options, builder, root);
        case TableFormat::Parquet: return readParquet(file, options, builder, root);
        case TableFormat::Json: return readJson(file, options, builder, root);
        case TableFormat::Index: return readIndex(file, options, builder);
        }
    } catch (const std::exception &exception) {        // Parquet's reader throws on some damaged files
        return failed(file, "data.table-unreadable", std::string(" cannot be read: ") + exception.what() + "; write it again");
    }
    return Done{};
}

// The tables in a folder, in the order of their names. Marks of other programs ("_SUCCESS", hidden files) are passed over, other strangers are named.
Status readFolder(const fs::path &folder, const ReadOptions &options, TableBuilder &builder)
{
    std::error_code error;
    std::vector<fs::path> tables;
    std::vector<std::string> strangers;
    for (const auto &entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with('.') || name.starts_with('_') || !entry.is_regular_file(error))
            continue;
        const auto format = config::tableFormat(name);
        if (format && *format != TableFormat::Index)
            tables.push_back(entry.path());
        else
            strangers.push_back(name);
    }
    if (tables.empty())
        return failed(folder, "data.table-folder", " is a folder without a .csv, .parquet, .json or .jsonl file; dataset.data_path must name a table or a folder of tables");
    std::sort(tables.begin(), tables.end());
    for (const fs::path &table : tables) {
        if (Status status = readPart(table, *config::tableFormat(table.string()), options, builder, {}); !status)
            return status;
    }
    if (!strangers.empty()) {
        std::sort(strangers.begin(), strangers.end());
        const std::string rest = strangers.size() > 3 ? " and " + std::to_string(strangers.size() - 3) + " more" : "";
        strangers.resize(std::min<std::size_t>(strangers.size(), 3));
        builder.addProblem(Severity::Warning, "data.stray-file", "files in this folder are no tables and were passed over: " + joined(strangers, ", ") + rest);
    }
    return Done{};
}

Result<std::shared_ptr<const Table>> readWhole(const fs::path &path, const ReadOptions &options, TextColumn *captions)
{
    std::error_code error;
    const bool isFolder = fs::is_directory(path, error);
    const auto format = config::tableFormat(path.string());
    if (Status status = checkFile(path); !status)
        return status.error();
    if (!isFolder && !format)
        return failed(path, "data.table-format", " is not " + config::describeTableFormats() + "; convert it, or rename it to what it is");
    TableBuilder builder(path, isFolder);
    if (Status status = isFolder ? readFolder(path, options, builder) : readPart(path, *format, options, builder, {}); !status)
        return status.error();
    if (captions)
        builder.setCaptions(std::move(*captions));
    return builder.finish();
}

} // namespace

Result<std::shared_ptr<const Table>> readTable(const fs::path &file, const ReadOptions &options)
{
    const fs::path absolute = fs::absolute(expandUser(file.string())).lexically_normal();
    auto table = readWhole(absolute, options, nullptr);
    if (!table || !options.captionShards)
        return table;
    auto captions = readCaptionShards(absolute, **table);
    if (!captions)
        return captions.error();
    return readWhole(absolute, options, &*captions);
}

ReadOptions readOptions(const config::Stage &stage)
{
    ReadOptions options;
    options.captionShards = stage.boolean("dataset.memory_efficient");
    options.needCaptions = !stage.boolean("cached_text");
    return options;
}

Result<std::shared_ptr<const Table>> readTable(const config::Stage &stage) { return readTable(stage.string("dataset.data_path"), readOptions(stage)); }

} // namespace stagewright::table
