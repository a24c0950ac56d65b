// A dataset's table: one row a clip or image, held once, column by column, read-only and shared by everybody who needs it.
// Columns and their meaning are Open-Sora's (README.md); row numbers count from 0 without the header.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/stage.h"
#include "core/table/text_column.h"

namespace stagewright::table {

// Columns that hold numbers. All but MotionScore are needed to put a row into a bucket.
enum class NumberColumn { NumFrames, Height, Width, Fps, MotionScore };
inline constexpr std::size_t kNumberColumns = 5;
const char *columnName(NumberColumn column);           // as in the file: "num_frames", … "score_vmafmotion"

// Columns that name files with what was computed before: those of the original's cached datasets.
enum class FileColumn { Latents, TextT5, TextClip };
inline constexpr std::size_t kFileColumns = 3;
const char *columnName(FileColumn column);             // "latents_path", "text_t5_path", "text_clip_path"

// A part of a long clip that an annotation of Open-Sora-Plan means.
struct Cutout {
    std::int64_t firstFrame = 0;                       // the row's num_frames are counted from here
    int left = 0, top = 0, width = 0, height = 0;      // pixels as displayed; width 0: the whole picture
    bool isWhole() const { return firstFrame == 0 && width == 0; }
};

// A cell that could not be used as its column wants it.
struct BadCell {
    std::int64_t row = 0;
    NumberColumn column = NumberColumn::NumFrames;
    std::string text;                                  // as written, cut at 80 bytes
};

bool isImagePath(std::string_view path);               // by the extension, as the original decides: .jpg .jpeg .png .ppm .bmp .pgm .tif .tiff .webp

// Immutable once read; every function may be called from any thread. About 60 bytes of memory a row; paths and captions beyond
// 256 MiB lie in a nameless temporary file that is mapped, so their memory can be taken back by the system at any time.
class Table
{
public:
    std::int64_t rowCount() const { return m_rows; }
    const std::filesystem::path &file() const { return m_file; }           // absolute
    bool isFolder() const { return m_isFolder; }                           // file() is a folder of tables, and relative paths start in it
    bool isImage(std::int64_t row) const { return isImagePath(path(row)); }
    std::string_view path(std::int64_t row) const { return m_paths.at(row); }          // as written
    // Absolute: "~" expanded, relative paths taken from the folder of the table.
    std::filesystem::path mediaPath(std::int64_t row) const;
    std::string_view caption(std::int64_t row) const { return m_captions.at(row); }    // literal; empty where the cell is empty
    // Annotations may give several captions, of which a sample uses one; captions(row)[0] is caption(row).
    std::int64_t captionCount(std::int64_t row) const;
    std::string_view caption(std::int64_t row, std::int64_t which) const;  // 0 ≤ which < captionCount(row)
    Cutout cutout(std::int64_t row) const;                                 // the whole clip for most tables
    bool hasColumn(FileColumn column) const { return m_files[static_cast<std::size_t>(column)].size() > 0; }
    // Absolute, by the rule of mediaPath; empty where the cell is. Needs hasColumn.
    std::filesystem::path cachedFile(FileColumn column, std::int64_t row) const;

    // NaN where the cell is empty (or one of the usual words for it: nan, NA, null, None …), and where it is unreadable.
    double number(NumberColumn column, std::int64_t row) const { return m_numbers[static_cast<std::size_t>(column)][row]; }
    bool hasColumn(NumberColumn column) const { return m_present[static_cast<std::size_t>(column)]; }
    // Whether every cell is a whole number written as one: the original then shows "15 FPS", otherwise "15.0 FPS".
    bool isIntegerColumn(NumberColumn column) const { return m_integer[static_cast<std::size_t>(column)]; }

    // Rows in which a cell that buckets need is neither a number nor empty ("12 frames"), ascending; they get no bucket.
    const std::vector<std::int64_t> &unreadableRows() const { return m_unreadableRows; }
    const std::vector<BadCell> &badCells() const { return m_badCells; }    // the first 100 such cells
    const Problems &problems() const { return m_problems; }                // warnings: odd cells, empty captions, … with their rows

    // 32 hexadecimal digits (XXH3-128) over paths, captions and numbers of all rows in order; equal for equal data whatever the file's format.
    const std::string &fingerprint() const { return m_fingerprint; }

private:
    friend class TableBuilder;
    std::filesystem::path m_file;
    bool m_isFolder = false;
    std::int64_t m_rows = 0;
    std::filesystem::path resolved(std::string_view written) const;
    TextColumn m_paths, m_captions;
    TextColumn m_otherCaptions;                        // the second and later captions of the rows that have them, end to end
    std::vector<std::int64_t> m_otherCaptionRows;      // row of each of those, ascending; empty for most tables
    std::array<TextColumn, kFileColumns> m_files;      // empty, or one a row
    std::map<std::int64_t, Cutout> m_cutouts;          // of the rows that have one
    std::array<std::vector<double>, kNumberColumns> m_numbers;
    std::array<bool, kNumberColumns> m_present{}, m_integer{};
    std::vector<std::int64_t> m_unreadableRows;
    std::vector<BadCell> m_badCells;
    Problems m_problems;
    std::string m_fingerprint;
};

struct ReadOptions {
    bool needCaptions = true;                          // a table without `text` is an error
    bool needMeasures = true;                          // so is one without num_frames, height, width or fps
    // Open-Sora's memory-efficient layout: the table has no captions; they lie in Parquet shards in the folder named as the table without
    // ".parquet". Matched by path, whatever the shards' sizes and order; a row without a caption there is an error.
    bool captionShards = false;
};

// Reads a table: CSV, Parquet, Open-Sora-Plan's annotations (JSON list or lines, or an index of "root,annotation" lines), or a folder whose
// tables are read in the order of their names. Columns may have the usual other names ("caption"); a hint says what was taken for what. Errors (exit code Data, codes data.*) name file and line or row: missing, a folder, empty, not UTF-8 (line, byte
// and the likely encoding), UTF-16, another separator, a row with too many or too few fields, a double or missing column (those found are
// listed), a text column where numbers must be.
Result<std::shared_ptr<const Table>> readTable(const std::filesystem::path &file, const ReadOptions &options = {});

// As the stage says: dataset.data_path and dataset.memory_efficient.
ReadOptions readOptions(const config::Stage &stage);
Result<std::shared_ptr<const Table>> readTable(const config::Stage &stage);

// Row numbers whose media file does not exist or is not a regular file, ascending. Looks at every file: seconds for a million on a local disk.
std::vector<std::int64_t> missingFiles(const Table &table, int threads = 2);

// "rows 3, 17, 20 and 5 more"
std::string describeRows(const std::vector<std::int64_t> &firstRows, std::int64_t count);

} // namespace stagewright::table
