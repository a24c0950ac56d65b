#include "core/table/measure.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <mutex>
#include <thread>

#include "core/base/files.h"
#include "core/base/units.h"

namespace stagewright::table {

namespace fs = std::filesystem;

namespace {

constexpr double kSameRate = 0.01;                  // share by which two rates may differ and be the same: 29.97 and 30

std::string number(double value) { return formatNumber(value); }

// What the table says differently from the file.
std::string differenceOf(const Table &table, std::int64_t row, const Measured &file)
{
    std::string text;
    const auto compare = [&](NumberColumn column, double found, bool close) {
        const double said = table.number(column, row);
        if (std::isnan(said) || close)
            return;
        text += (text.empty() ? "" : "; ") + std::string(columnName(column)) + " is " + number(said) + " in the table and " + number(found) + " in the file";
    };
    const auto same = [&](NumberColumn column, double found) { compare(column, found, table.number(column, row) == found); };
    // An annotation may mean a part of a longer file.
    if (table.cutout(row).firstFrame == 0)
        same(NumberColumn::NumFrames, file.frames);
    same(NumberColumn::Height, file.height);
    same(NumberColumn::Width, file.width);
    const double fps = table.number(NumberColumn::Fps, row);
    if (file.fps > 0)
        compare(NumberColumn::Fps, file.fps, std::abs(fps - file.fps) <= kSameRate * file.fps);
    return text;
}

class Measuring
{
public:
    Measuring(const Table &table, const MeasureFile &measure, const MeasureOptions &options) : m_table(table), m_measure(measure), m_options(options)
    {
        m_report.files.resize(static_cast<std::size_t>(table.rowCount()));
        m_failures.resize(static_cast<std::size_t>(table.rowCount()));
    }

    Result<MeasureReport> run()
    {
        {
            std::vector<std::jthread> others;
            for (int i = 1; i < m_options.threads; ++i)
                others.emplace_back([this] { work(); });
            work();
        }
        if (isStopped())
            return Error(ExitCode::Stopped, "data.stopped", "looking into the files of " + m_table.file().string() + " was stopped; nothing was written", m_table.file().string());
        for (std::int64_t row = 0; row < m_table.rowCount(); ++row)
            conclude(row);
        return std::move(m_report);
    }

private:
    bool isStopped() const { return m_options.stop && m_options.stop->load(); }

    void work()
    {
        for (std::int64_t row = m_next++; row < m_table.rowCount() && !isStopped(); row = m_next++) {
            auto measured = m_measure(m_table.mediaPath(row));
            if (measured)
                m_report.files[static_cast<std::size_t>(row)] = std::move(*measured);
            else
                m_failures[static_cast<std::size_t>(row)] = measured.error().message();
            noteProgress();
        }
    }

    void noteProgress()
    {
        const std::int64_t done = ++m_done;
        const std::unique_lock lock(m_progress, std::try_to_lock);
        const auto now = std::chrono::steady_clock::now();
        if (!m_options.progress || !lock || (now - m_last < std::chrono::milliseconds(100) && done < m_table.rowCount()))
            return;
        m_last = now;
        m_options.progress(done, m_table.rowCount());
    }

    void conclude(std::int64_t row)
    {
        const Measured &file = m_report.files[static_cast<std::size_t>(row)];
        if (file.frames <= 0) {
            m_report.unreadable.push_back({row, m_failures[static_cast<std::size_t>(row)]});
            return;
        }
        if (std::string text = differenceOf(m_table, row, file); !text.empty())
            m_report.differences.push_back({row, std::move(text)});
        for (const std::string &remark : file.remarks)
            m_report.remarks[remark].push_back(row);
    }

    const Table &m_table;
    const MeasureFile &m_measure;
    const MeasureOptions &m_options;
    MeasureReport m_report;
    std::vector<std::string> m_failures;
    std::atomic<std::int64_t> m_next{0}, m_done{0};
    std::mutex m_progress;
    std::chrono::steady_clock::time_point m_last{};    // guarded by m_progress
};

std::string numberField(double value) { return std::isnan(value) ? std::string() : number(value); }

} // namespace

Result<MeasureReport> measureFiles(const Table &table, const MeasureFile &measure, const MeasureOptions &options)
{
    return Measuring(table, measure, options).run();
}

fs::path probedTablePath(const fs::path &table)
{
    fs::path result = table;
    result.replace_extension();
    return result.string() + ".probed.csv";
}

std::string csvField(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string(text);
    std::string field = "\"";
    for (const char c : text) {
        field += c;
        if (c == '"')
            field += '"';
    }
    return field + '"';
}

Status writeMeasured(const fs::path &file, const Table &table, const MeasureReport &report)
{
    const bool sameFolder = file.parent_path() == table.file().parent_path();
    const bool score = table.hasColumn(NumberColumn::MotionScore);
    const fs::path temporary = file.string() + ".part";
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out << "path,text,num_frames,height,width,fps" << (score ? ",score_vmafmotion" : "") << '\n';
    for (std::int64_t row = 0; row < table.rowCount() && out; ++row) {
        const Measured &found = report.files[static_cast<std::size_t>(row)];
        const auto cell = [&](NumberColumn column, double measured) {
            const double said = table.number(column, row);
            return "," + (std::isnan(said) && found.frames > 0 && measured > 0 ? number(measured) : numberField(said));
        };
        out << csvField(sameFolder && !table.isFolder() ? std::string(table.path(row)) : table.mediaPath(row).string()) << ',' << csvField(table.caption(row))
            << cell(NumberColumn::NumFrames, found.frames) << cell(NumberColumn::Height, found.height) << cell(NumberColumn::Width, found.width)
            << cell(NumberColumn::Fps, std::round(found.fps * 1000) / 1000);
        if (score)
            out << ',' << numberField(table.number(NumberColumn::MotionScore, row));
        out << '\n';
    }
    out.close();
    if (!out)
        return ioError("cannot write", temporary, errno);
    std::error_code error;
    fs::rename(temporary, file, error);
    return error ? Status(ioError("cannot write", file, error.value())) : Status(Done{});
}

} // namespace stagewright::table
