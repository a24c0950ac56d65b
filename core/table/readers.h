// The two file formats of a table. Files are absolute and known to be non-empty regular files.
#pragma once

#include "core/table/columns.h"

namespace stagewright::table {

Result<std::shared_ptr<const Table>> readCsv(const std::filesystem::path &file, const ReadOptions &options);
Result<std::shared_ptr<const Table>> readParquet(const std::filesystem::path &file, const ReadOptions &options);

// Reads the whole file again, strictly, and says on which line it goes wrong first: bytes that are not UTF-8, a row with another number of fields than
// the header, quotes that never close. `fallback` is the sentence where nothing of that kind is found.
Error diagnoseCsv(const std::filesystem::path &file, const std::string &fallback);

// The header's names, after checking what can be told from the first bytes (UTF-16, a byte order mark, no text at all).
Result<std::vector<std::string>> readCsvHeader(const std::filesystem::path &file);

} // namespace stagewright::table
