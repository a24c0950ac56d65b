// What a table says about its files, found out from the files themselves. Knows nothing of media: whoever calls brings a function that looks into one.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "core/table/table.h"

namespace stagewright::table {

// What was found in one file.
struct Measured {
    double frames = 0;                                 // 1 for images
    int height = 0, width = 0;                         // as displayed
    double fps = 0;                                    // 0 for images
    std::vector<std::string> remarks;                  // "variable rate", "rotated by 90 degrees", "HDR (smpte2084)", …: equal words are counted together
};
using MeasureFile = std::function<Result<Measured>(const std::filesystem::path &)>;           // called by several threads

struct MeasureOptions {
    int threads = 2;
    std::function<void(std::int64_t done, std::int64_t total)> progress;                       // by one of the threads, at most ten times a second
    const std::atomic<bool> *stop = nullptr;
};

struct Difference {
    std::int64_t row = 0;
    std::string sentence;                              // "num_frames is 49 in the table and 48 in the file"
};

struct MeasureReport {
    std::vector<Measured> files;                       // one a row; frames 0 where it cannot be read
    std::vector<Difference> unreadable;                // with the reason
    std::vector<Difference> differences;               // of the numbers that the table has; fps within 1 %
    std::map<std::string, std::vector<std::int64_t>> remarks;          // rows of each
};

// Looks into every file. Error (Stopped): stop was set.
Result<MeasureReport> measureFiles(const Table &table, const MeasureFile &measure, const MeasureOptions &options = {});

// "data/meta.csv" → "data/meta.probed.csv"; a folder gets the file beside it.
std::filesystem::path probedTablePath(const std::filesystem::path &table);

// Writes the table again with what was measured in place of every number that it lacks: a CSV with absolute paths where the new file lies elsewhere. Rows
// that cannot be read keep empty numbers and are reported by whoever reads the table.
Status writeMeasured(const std::filesystem::path &file, const Table &table, const MeasureReport &report);

// CSV text of one field: quoted where it has to be.
std::string csvField(std::string_view text);

} // namespace stagewright::table
