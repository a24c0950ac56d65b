#include "core/data/quarantine.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/log.h"

namespace stagewright::data {

namespace fs = std::filesystem;

namespace {

std::string stampOf(const fs::path &file)
{
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    if (error)
        return "-";
    const auto modified = fs::last_write_time(file, error);
    return error ? "-" : std::to_string(bytes) + ":" + std::to_string(modified.time_since_epoch().count());
}

std::optional<BadRow> parsed(std::string_view line)
{
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object())
        return std::nullopt;
    const auto whole = [&](const char *key) { return json.contains(key) && json[key].is_number_integer(); };
    const auto text = [&](const char *key) { return json.contains(key) && json[key].is_string(); };
    if (!whole("row") || !whole("frames") || !text("path") || !text("reason") || !text("stamp"))
        return std::nullopt;
    return BadRow{json["row"], json["frames"], json["path"], json["reason"], json["stamp"]};
}

} // namespace

std::string stampOf(const table::Table &table, std::int64_t row)
{
    std::string stamp = stampOf(table.mediaPath(row));
    for (const auto column : {table::FileColumn::Latents, table::FileColumn::TextT5, table::FileColumn::TextClip}) {
        if (table.hasColumn(column))
            stamp += " " + stampOf(table.cachedFile(column, row));
    }
    return stamp;
}

Result<std::vector<BadRow>> readQuarantine(const fs::path &file)
{
    std::vector<BadRow> rows;
    std::error_code error;
    if (!fs::exists(file, error) && !error)
        return rows;
    const auto content = readFile(file);
    if (!content)
        return content.error();
    std::int64_t number = 0;
    for (std::size_t begin = 0, end; (end = content->find('\n', begin)) != std::string::npos; begin = end + 1) {
        ++number;
        auto row = parsed(std::string_view(*content).substr(begin, end - begin));
        if (!row) {
            return Error(ExitCode::InputOutput, "data.quarantine", file.string() + ", line " + std::to_string(number) + ": not a record of a bad clip; remove the file "
                         "to have all clips tried again", file.string(), static_cast<int>(number));
        }
        rows.push_back(std::move(*row));
    }
    return rows;
}

Quarantine::Quarantine(std::shared_ptr<const table::Table> table, const std::vector<BadRow> &known, fs::path file) : m_table(std::move(table)), m_file(std::move(file))
{
    for (const BadRow &bad : known) {
        const bool sameRow = bad.row >= 0 && bad.row < m_table->rowCount() && m_table->mediaPath(bad.row).string() == bad.path;
        if (sameRow && stampOf(*m_table, bad.row) == bad.stamp && m_bad.emplace(std::pair(bad.row, bad.frames), bad.reason).second)
            write(bad);
    }
}

void Quarantine::add(std::int64_t row, std::int64_t frames, const std::string &reason, Lasts lasts)
{
    BadRow bad{row, frames, m_table->mediaPath(row).string(), reason, {}};
    if (lasts == Lasts::UntilItsFilesChange && !m_file.empty())
        bad.stamp = stampOf(*m_table, row);
    const std::lock_guard lock(m_mutex);
    if (m_bad.emplace(std::pair(row, frames), reason).second && lasts == Lasts::UntilItsFilesChange)
        write(bad);
}

std::optional<std::string> Quarantine::reason(std::int64_t row, std::int64_t frames) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_bad.find({row, frames});
    return found == m_bad.end() ? std::nullopt : std::optional(found->second);
}

std::int64_t Quarantine::size() const
{
    const std::lock_guard lock(m_mutex);
    return static_cast<std::int64_t>(m_bad.size());
}

// Rare, and small: opened for each line, so that no descriptor is held for a run's length.
void Quarantine::write(const BadRow &bad)
{
    if (m_file.empty())
        return;
    const nlohmann::json json{{"row", bad.row}, {"frames", bad.frames}, {"path", bad.path}, {"reason", bad.reason}, {"stamp", bad.stamp}};
    std::ofstream out(m_file, std::ios::app);
    out << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
    out.flush();
    if (!out && !std::exchange(m_saidItCannotWrite, true))
        logger("core.data")->warn("{} cannot be written: a run that resumes this one will try its bad clips again", m_file.string());
}

} // namespace stagewright::data
