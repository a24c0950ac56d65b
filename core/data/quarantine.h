// Clips that cannot be used: remembered with the reason, in later epochs and by the run that resumes, until their files change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/table/table.h"

namespace stagewright::data {

struct BadRow {
    std::int64_t row = 0;
    std::int64_t frames = 0;                           // of the bucket that it was bad for; it may be good for one of fewer
    std::string path, reason;
    std::string stamp;                                 // sizes and times of the row's files when it was tried
};

// The file of a run, one JSON object a line in the order of discovery. A file that does not exist holds nothing. An incomplete last line, as a crash
// leaves it, is left out; any other line that is not of this kind is an error that names it.
Result<std::vector<BadRow>> readQuarantine(const std::filesystem::path &file);

// Sizes and modification times of the clip and of the files with computed tensors that a row names; what is missing counts as "-".
std::string stampOf(const table::Table &table, std::int64_t row);

// Any thread.
class Quarantine
{
public:
    // known: what a former run found. Taken over where the row still names the same path and its files are as they were; file: where new ones are
    // written, and those taken over; empty: nowhere.
    Quarantine(std::shared_ptr<const table::Table> table, const std::vector<BadRow> &known, std::filesystem::path file);

    // A row that is bad at this moment only (a time limit) is remembered, but not written.
    enum class Lasts { ThisRun, UntilItsFilesChange };
    void add(std::int64_t row, std::int64_t frames, const std::string &reason, Lasts lasts = Lasts::UntilItsFilesChange);
    std::optional<std::string> reason(std::int64_t row, std::int64_t frames) const;
    std::int64_t size() const;

private:
    void write(const BadRow &bad);

    const std::shared_ptr<const table::Table> m_table;
    const std::filesystem::path m_file;
    mutable std::mutex m_mutex;                        // guards the rest
    std::map<std::pair<std::int64_t, std::int64_t>, std::string> m_bad;
    bool m_saidItCannotWrite = false;
};

} // namespace stagewright::data
