#include "core/commands/look_into_files.h"

#include <thread>

#include "core/base/units.h"
#include "core/media/clip.h"

namespace stagewright::commands {

namespace {

constexpr std::chrono::minutes kFileDeadline{2};
constexpr std::size_t kListed = 20;

Result<table::Measured> measure(const std::filesystem::path &path)
{
    const auto info = media::probe(path, media::Count::Exactly, media::Limits::within(kFileDeadline));
    if (!info)
        return info.error();
    table::Measured measured;
    measured.frames = static_cast<double>(info->frames);
    measured.height = info->height;
    measured.width = info->width;
    measured.fps = info->isImage ? 0 : info->fps;
    const auto remark = [&](bool holds, std::string text) {
        if (holds)
            measured.remarks.push_back(std::move(text));
    };
    remark(info->variableRate, "variable frame rate");
    remark(info->rotation != 0, "rotated by " + std::to_string(info->rotation) + " degrees");
    remark(info->mirrored, "mirrored");
    remark(info->isHdr(), "HDR (" + info->transfer + "), shown as if it were not");
    remark(info->bitDepth > 8, std::to_string(info->bitDepth) + " bits a colour, read as 8");
    remark(info->hasAlpha, "transparency, which is dropped");
    remark(info->headerFrames > 0 && info->headerFrames != info->frames, "header claims another number of frames than there are");
    if (info->frames == 0)
        return Error(ExitCode::Data, "data.truncated", path.string() + ": has no frames");
    return measured;
}

nlohmann::json listed(const std::vector<table::Difference> &rows)
{
    auto list = nlohmann::json::array();
    for (std::size_t i = 0; i < std::min(rows.size(), kListed); ++i)
        list.push_back({{"row", rows[i].row}, {"message", rows[i].sentence}});
    return {{"count", rows.size()}, {"first", std::move(list)}};
}

void report(const table::Table &table, const table::MeasureReport &found, Output &output)
{
    auto remarks = nlohmann::json::object();
    for (const auto &[remark, rows] : found.remarks) {
        remarks[remark] = rows.size();
        output.line(formatCount(static_cast<std::int64_t>(rows.size())) + " files: " + remark + " (" + table::describeRows(rows, static_cast<std::int64_t>(rows.size())) + ")");
    }
    output.object()["files"] = {{"unreadable", listed(found.unreadable)}, {"different", listed(found.differences)}, {"remarks", std::move(remarks)}};
    const auto warn = [&](const char *code, const std::vector<table::Difference> &rows, const std::string &what) {
        if (rows.empty())
            return;
        Problem problem;
        problem.severity = Severity::Warning;
        problem.code = code;
        problem.file = table.file().string();
        problem.message = problem.file + ": " + formatCount(static_cast<std::int64_t>(rows.size())) + " of " + formatCount(table.rowCount()) + " files " + what + "; the first is row "
            + std::to_string(rows[0].row) + ", " + rows[0].sentence;
        output.problems().push_back(std::move(problem));
    };
    warn("data.bad-sample", found.unreadable, "cannot be used");
    warn("data.table-differs", found.differences, "are not what the table says");
}

} // namespace

Result<table::MeasureReport> lookIntoFiles(const table::Table &table, Output &output)
{
    table::MeasureOptions options;
    options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    int shown = 0;
    options.progress = [&](std::int64_t done, std::int64_t total) {
        const int tenths = static_cast<int>(done * 10 / total);
        if (tenths > shown)
            output.message("looked into " + formatCount(done) + " of " + formatCount(total) + " files");
        shown = std::max(shown, tenths);
    };
    auto found = table::measureFiles(table, measure, options);
    if (found)
        report(table, *found, output);
    return found;
}

Result<std::filesystem::path> probeTable(const std::filesystem::path &file, table::ReadOptions options, Output &output)
{
    options.needMeasures = false;
    auto bare = table::readTable(file, options);
    if (!bare)
        return bare.error();
    auto found = lookIntoFiles(**bare, output);
    if (!found)
        return found.error();
    const auto target = table::probedTablePath((*bare)->file());
    if (Status written = table::writeMeasured(target, **bare, *found); !written)
        return written.error();
    output.object()["probed"] = target.string();
    output.message("wrote " + target.string() + "; train on it with dataset.data_path");
    return target;
}

} // namespace stagewright::commands
