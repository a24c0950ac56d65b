#include <arrow/api.h>
#include <arrow/csv/api.h>
#include <arrow/io/api.h>

#include "core/table/readers.h"

namespace stagewright::table {

namespace {

constexpr int kBlockBytes = 16 << 20;                  // also the longest row
constexpr int kThreads = 2;

// The positions in `map` say where a column is in the file; batches have only the wanted ones, in this order.
struct Wanted {
    std::vector<std::string> names;
    int path = -1, caption = -1;
    std::array<int, kNumberColumns> numbers{-1, -1, -1, -1, -1};
    std::array<int, kFileColumns> files{-1, -1, -1};

    Wanted(const ColumnMap &map, const std::vector<std::string> &header)
    {
        const auto take = [&](int position) {
            if (position < 0)
                return -1;
            names.push_back(header[static_cast<std::size_t>(position)]);
            return static_cast<int>(names.size()) - 1;
        };
        path = take(map.path);
        caption = take(map.caption);
        for (std::size_t i = 0; i < kNumberColumns; ++i)
            numbers[i] = take(map.numbers[i]);
        for (std::size_t i = 0; i < kFileColumns; ++i)
            files[i] = take(map.files[i]);
    }
};

// Strict about everything: fields a row, UTF-8; every cell stays the text that it is.
arrow::Result<std::shared_ptr<arrow::csv::StreamingReader>> openReader(const std::string &file, const Wanted &wanted)
{
    ARROW_ASSIGN_OR_RAISE(auto input, arrow::io::ReadableFile::Open(file));
    auto read = arrow::csv::ReadOptions::Defaults();
    read.block_size = kBlockBytes;
    auto parse = arrow::csv::ParseOptions::Defaults();
    parse.newlines_in_values = true;
    auto convert = arrow::csv::ConvertOptions::Defaults();
    convert.check_utf8 = true;
    convert.strings_can_be_null = false;
    convert.include_columns = wanted.names;
    for (const std::string &name : wanted.names)
        convert.column_types[name] = arrow::utf8();
    return arrow::csv::StreamingReader::Make(arrow::io::default_io_context(), input, read, parse, convert);
}

Status addTexts(const arrow::RecordBatch &batch, int column, auto &&add)
{
    const auto &cells = static_cast<const arrow::StringArray &>(*batch.column(column));
    for (std::int64_t i = 0; i < cells.length(); ++i) {
        if (Status status = add(cells.GetView(i)); !status)
            return status;
    }
    return Done{};
}

Status addBatch(TableBuilder &builder, const arrow::RecordBatch &batch, const Wanted &wanted)
{
    if (Status status = addTexts(batch, wanted.path, [&](std::string_view text) { return builder.addPath(text); }); !status)
        return status;
    if (wanted.caption >= 0) {
        if (Status status = addTexts(batch, wanted.caption, [&](std::string_view text) { return builder.addCaption(text); }); !status)
            return status;
    }
    for (std::size_t i = 0; i < kFileColumns; ++i) {
        const auto column = static_cast<FileColumn>(i);
        if (wanted.files[i] < 0)
            continue;
        if (Status status = addTexts(batch, wanted.files[i], [&](std::string_view text) { return builder.addFile(column, text); }); !status)
            return status;
    }
    for (std::size_t i = 0; i < kNumberColumns; ++i) {
        if (wanted.numbers[i] < 0)
            continue;
        const auto &cells = static_cast<const arrow::StringArray &>(*batch.column(wanted.numbers[i]));
        for (std::int64_t row = 0; row < cells.length(); ++row)
            builder.addNumber(static_cast<NumberColumn>(i), cells.GetView(row));
    }
    return Done{};
}

} // namespace

Status readCsv(const std::filesystem::path &file, const ReadOptions &options, TableBuilder &builder, const std::filesystem::path &root)
{
    const auto header = readCsvHeader(file);
    if (!header)
        return header.error();
    const auto map = mapColumns(*header, file.string(), options);
    if (!map)
        return map.error();
    const Wanted wanted(*map, *header);
    (void)arrow::SetCpuThreadPoolCapacity(kThreads);
    auto reader = openReader(file.string(), wanted);
    if (!reader.ok())
        return diagnoseCsv(file, "cannot be read as CSV: " + reader.status().message());

    builder.beginPart(file, *map, root);
    for (;;) {
        std::shared_ptr<arrow::RecordBatch> batch;
        if (const arrow::Status read = (*reader)->ReadNext(&batch); !read.ok())
            return diagnoseCsv(file, "cannot be read as CSV: " + read.message());
        if (!batch)
            return builder.endPart();
        if (Status status = addBatch(builder, *batch, wanted); !status)
            return status;
    }
}

} // namespace stagewright::table
