#include <filesystem>
#include <unordered_map>

#include "core/base/units.h"
#include "core/table/readers.h"

namespace stagewright::table {

namespace fs = std::filesystem;

namespace {

bool sameOrder(const Table &rows, const Table &shards)
{
    if (rows.rowCount() != shards.rowCount())
        return false;
    for (std::int64_t row = 0; row < rows.rowCount(); ++row) {
        if (rows.path(row) != shards.path(row))
            return false;
    }
    return true;
}

Error noCaption(const fs::path &folder, const Table &rows, std::int64_t first, std::int64_t count)
{
    return Error(ExitCode::Data, "data.shard-mismatch", folder.string() + ": no shard has a caption for " + formatCount(count) + " of the "
                 + formatCount(rows.rowCount()) + " rows, the first one row " + std::to_string(first) + " (" + std::string(rows.path(first))
                 + "); make the shards again from this table", folder.string());
}

} // namespace

Result<TextColumn> readCaptionShards(const fs::path &table, const Table &rows)
{
    fs::path folder = table;
    folder.replace_extension();
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        return Error(ExitCode::Data, "data.shards-missing", folder.string() + " is not a folder; dataset.memory_efficient reads the captions of " + table.string()
                     + " from Parquet shards there. Make them, or switch it off where the table has a column text", folder.string());
    }
    ReadOptions options;
    options.needMeasures = false;
    const auto read = readTable(folder, options);
    if (!read)
        return read.error().during("reading the captions of " + table.string());
    const Table &shards = **read;
    TextColumn captions;
    const auto add = [&](std::int64_t shardRow) { return captions.append(shards.caption(shardRow)); };
    if (sameOrder(rows, shards)) {
        for (std::int64_t row = 0; row < rows.rowCount(); ++row) {
            if (Status status = add(row); !status)
                return status.error();
        }
        return captions;
    }
    // By path; clips that are there several times take theirs in order.
    std::unordered_multimap<std::string_view, std::int64_t> byPath;
    byPath.reserve(static_cast<std::size_t>(shards.rowCount()));
    for (std::int64_t row = shards.rowCount() - 1; row >= 0; --row)
        byPath.emplace(shards.path(row), row);
    std::int64_t missing = 0, first = -1;
    for (std::int64_t row = 0; row < rows.rowCount(); ++row) {
        const auto [begin, end] = byPath.equal_range(rows.path(row));
        if (begin == end) {
            first = missing++ == 0 ? row : first;
            continue;
        }
        auto least = begin;
        for (auto at = begin; at != end; ++at)
            least = at->second < least->second ? at : least;
        if (Status status = add(least->second); !status)
            return status.error();
        if (std::next(begin) != end)
            byPath.erase(least);
    }
    if (missing > 0)
        return noCaption(folder, rows, first, missing);
    return captions;
}

} // namespace stagewright::table
