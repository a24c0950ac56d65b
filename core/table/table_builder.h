// Collects a table's cells as a file's reader meets them, and notes what is odd about them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/table/number_text.h"
#include "core/table/table.h"

namespace stagewright::table {

// Cells of each column come in row order; columns may be filled in any order between batches. One thread.
class TableBuilder
{
public:
    TableBuilder(std::filesystem::path absoluteFile, std::array<bool, kNumberColumns> present);

    Status addPath(std::string_view text) { return m_table->m_paths.append(text); }
    Status addCaption(std::string_view text) { return m_table->m_captions.append(text); }
    void addNumber(NumberColumn column, std::string_view text);
    void addNumber(NumberColumn column, double value, bool whole);     // from a typed column; NaN is an empty cell

    // Checks that all columns have the same number of rows.
    Result<std::shared_ptr<const Table>> finish();

private:
    void keep(NumberColumn column, double value, bool whole);
    Status checkLengths();
    void noteEmptyTexts();
    void addProblems();
    std::string computeFingerprint() const;
    struct Rows {
        std::int64_t count = 0;
        std::vector<std::int64_t> first;
        void add(std::int64_t row);
    };
    void warn(const std::string &code, const Rows &rows, const std::string &what);

    std::shared_ptr<Table> m_table;
    std::array<Rows, kNumberColumns> m_empty, m_unreadable, m_fractional, m_infinite;
    Rows m_emptyPaths, m_emptyCaptions;
};

} // namespace stagewright::table
