// Collects a table's cells as a file's reader meets them, and notes what is odd about them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/table/columns.h"
#include "core/table/number_text.h"
#include "core/table/table.h"

namespace stagewright::table {

// A table is made of one file or of several parts, each between beginPart() and endPart(). Cells of each column come in row order; columns may be filled
// in any order within a part. One thread.
class TableBuilder
{
public:
    // isFolder: relative paths start in it, not beside it.
    explicit TableBuilder(std::filesystem::path absoluteFile, bool isFolder = false);

    // root: folder that the part's relative paths start at, where that is not the table's own.
    void beginPart(const std::filesystem::path &file, const ColumnMap &columns, const std::filesystem::path &root = {});
    Status addPath(std::string_view text);
    Status addCaption(std::string_view text) { return m_table->m_captions.append(text); }
    Status addOtherCaption(std::string_view text);     // one more of the row whose caption came last
    Status addFile(FileColumn column, std::string_view text);
    void addNumber(NumberColumn column, std::string_view text);
    void addNumber(NumberColumn column, double value, bool whole);     // from a typed column; NaN is an empty cell
    void addCutout(std::int64_t row, const Cutout &cutout) { m_table->m_cutouts[row] = cutout; }
    // Fills columns that the part does not have, and checks that the others have the same number of rows.
    Status endPart();

    std::int64_t rowCount() const { return m_table->m_paths.size(); }
    std::int64_t fileCount(FileColumn column) const { return m_table->m_files[static_cast<std::size_t>(column)].size(); }
    void addProblem(Severity severity, const std::string &code, const std::string &message);
    // Captions of a table that was read without them, in its row order.
    void setCaptions(TextColumn captions) { m_table->m_captions = std::move(captions); }

    Result<std::shared_ptr<const Table>> finish();

private:
    void keep(NumberColumn column, double value, bool whole);
    Status checkSize() const;
    void noteEmptyTexts();
    void addProblems();
    void noteRenamed();
    std::string computeFingerprint() const;
    struct Rows {
        std::int64_t count = 0;
        std::vector<std::int64_t> first;
        void add(std::int64_t row);
    };
    void warn(const std::string &code, const Rows &rows, const std::string &what);

    std::shared_ptr<Table> m_table;
    std::filesystem::path m_part, m_root;
    std::string m_resolved;                            // scratch of addPath
    std::map<std::string, std::string> m_renamed;
    std::array<Rows, kNumberColumns> m_empty, m_unreadable, m_fractional, m_infinite;
    Rows m_emptyPaths, m_emptyCaptions;
};

} // namespace stagewright::table
