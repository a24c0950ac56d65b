#include "core/commands/technique_table.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/units.h"

namespace stagewright::commands {

using client::TechniqueFigures;

namespace {

double clipsOfUpdate(const client::TechniquePoint &point)
{
    return static_cast<double>(point.batchSize * point.stage.integer("accumulation_steps"));
}

std::string percent(double part) { return fmt::format("{:+.1f} %", 100 * part); }

} // namespace

nlohmann::json measuredJson(const client::ProbeOutcome &outcome)
{
    nlohmann::json json{{"peak_bytes", outcome.peakBytes}, {"step_seconds", outcome.stepSeconds}, {"updates", outcome.updates}, {"out_of_memory", outcome.outOfMemory}};
    if (!outcome.sentence.empty())
        json["sentence"] = outcome.sentence;
    return json;
}

Result<TechniqueTable> TechniqueTable::predicted(const config::Stage &stage, const std::string &bucket, const PlanFlags &flags)
{
    auto points = client::techniquePoints(stage, bucket);
    if (!points)
        return points.error();
    TechniqueTable table;
    client::PlanHelper helper;
    for (client::TechniquePoint &point : *points) {
        auto request = flags.request("plan");
        request.bucket = bucket;
        auto answer = askPlanner(helper, point.stage, std::move(request));
        if (!answer && answer.error().exit == ExitCode::Stopped)
            return answer.error();
        Row row{std::move(point), {}, {}, {}};
        if (answer && answer->plan && !answer->plan->buckets.empty())
            row.planned = answer->plan->buckets.front();
        else
            row.sentence = answer ? "the planner's answer holds no bucket" : answer.error().message();
        table.m_rows.push_back(std::move(row));
    }
    return table;
}

TechniqueFigures TechniqueTable::Row::predictedFigures() const
{
    return planned ? TechniqueFigures{planned->peakBytes, planned->stepSeconds / clipsOfUpdate(point)} : TechniqueFigures{};
}

TechniqueFigures TechniqueTable::Row::measuredFigures() const
{
    return measured && measured->sentence.empty() ? TechniqueFigures{measured->peakBytes, measured->stepSeconds / clipsOfUpdate(point)} : TechniqueFigures{};
}

nlohmann::json TechniqueTable::gainJson(const TechniqueFigures &first, const TechniqueFigures &own)
{
    const auto gain = client::gainOf(first, own);
    return {{"clip_seconds", own.clipSeconds}, {"saved_bytes", gain.savedBytes}, {"saved_part", gain.savedPart}, {"time_lost", gain.timeLost}};
}

nlohmann::json TechniqueTable::json() const
{
    auto points = nlohmann::json::array();
    for (const Row &row : m_rows) {
        nlohmann::json json{{"technique", client::nameOf(row.point.techniques)}, {"values", valuesJson(row.point.values)}, {"batch_size", row.point.batchSize}, {"predicted", nullptr}, {"measured", nullptr}};
        if (row.planned) {
            json["predicted"] = {{"peak_bytes", row.planned->peakBytes}, {"step_seconds", row.planned->stepSeconds}, {"fits", row.planned->fits}};
            json["predicted"].update(gainJson(m_rows.front().predictedFigures(), row.predictedFigures()));
        } else {
            json["sentence"] = row.sentence;
        }
        if (row.measured) {
            json["measured"] = measuredJson(*row.measured);
            if (row.measured->sentence.empty())
                json["measured"].update(gainJson(m_rows.front().measuredFigures(), row.measuredFigures()));
        }
        points.push_back(std::move(json));
    }
    return points;
}

// Measured figures where there are any, else those that were predicted.
std::vector<std::string> TechniqueTable::cells(const Row &row) const
{
    const std::string name = client::nameOf(row.point.techniques);
    if (row.measured && !row.measured->sentence.empty())
        return {name, row.measured->outOfMemory ? "out of memory" : row.measured->sentence};
    if (!row.measured && !row.planned)
        return {name, row.sentence};
    const TechniqueFigures own = row.measured ? row.measuredFigures() : row.predictedFigures();
    const auto gain = client::gainOf(row.measured ? m_rows.front().measuredFigures() : m_rows.front().predictedFigures(), own);
    std::vector<std::string> cells{name, formatBytes(static_cast<double>(own.peakBytes)), formatBytes(static_cast<double>(gain.savedBytes)), percent(gain.savedPart),
                                   fmt::format("{:.4g} s", own.clipSeconds), percent(gain.timeLost)};
    if (row.measured && row.planned)
        cells.push_back(percent(static_cast<double>(row.planned->peakBytes) / static_cast<double>(own.peakBytes) - 1));
    return cells;
}

std::vector<std::string> TechniqueTable::lines() const
{
    std::vector<std::vector<std::string>> all{{"technique", "peak", "saved", "", "a clip takes", "lost"}};
    if (std::any_of(m_rows.begin(), m_rows.end(), [](const Row &row) { return row.measured.has_value(); }))
        all.front().push_back("predicted peak");
    for (const Row &row : m_rows)
        all.push_back(cells(row));
    std::vector<std::size_t> widths(all.front().size());
    for (const auto &line : all) {
        const bool isSentence = line.size() == 2;
        for (std::size_t i = 0; i < (isSentence ? 1 : line.size()); ++i)
            widths[i] = std::max(widths[i], line[i].size());
    }
    std::vector<std::string> lines;
    for (const auto &line : all) {
        std::string text = fmt::format("{:<{}}", line.front(), widths.front());
        for (std::size_t i = 1; i < line.size(); ++i)
            text += "  " + fmt::format("{:>{}}", line[i], line.size() == 2 ? 0 : widths[i]);
        lines.push_back(std::move(text));
    }
    return lines;
}

} // namespace stagewright::commands
