// The file formats of a table. Files are absolute and known to be non-empty regular files.
#pragma once

#include "core/table/columns.h"
#include "core/table/table_builder.h"

namespace stagewright::table {

// Each adds all rows of a file as one part. root: see TableBuilder::beginPart.
Status readCsv(const std::filesystem::path &file, const ReadOptions &options, TableBuilder &builder, const std::filesystem::path &root = {});
Status readParquet(const std::filesystem::path &file, const ReadOptions &options, TableBuilder &builder, const std::filesystem::path &root = {});
// Open-Sora-Plan's annotations: a list of objects, or one object after another.
Status readJson(const std::filesystem::path &file, const ReadOptions &options, TableBuilder &builder, const std::filesystem::path &root = {});

// Open-Sora's caption shards for a table without captions, in its row order.
Result<TextColumn> readCaptionShards(const std::filesystem::path &table, const Table &rows);

// Reads the whole file again, strictly, and says on which line it goes wrong first: bytes that are not UTF-8, a row with another number of fields than
// the header, quotes that never close. `fallback` is the sentence where nothing of that kind is found.
Error diagnoseCsv(const std::filesystem::path &file, const std::string &fallback);

// The header's names, after checking what can be told from the first bytes (UTF-16, a byte order mark, no text at all).
Result<std::vector<std::string>> readCsvHeader(const std::filesystem::path &file);

} // namespace stagewright::table
