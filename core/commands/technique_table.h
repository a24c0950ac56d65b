// What each technique saves and costs, as points of a sweep and as lines for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/client/probe_run.h"
#include "core/client/techniques.h"
#include "core/commands/plan_question.h"

namespace stagewright::commands {

nlohmann::json measuredJson(const client::ProbeOutcome &outcome);

class TechniqueTable
{
public:
    // Every point of the bucket planned. One that cannot be planned says why; errors are those of the planner itself.
    static Result<TechniqueTable> predicted(const config::Stage &stage, const std::string &bucket, const PlanFlags &flags);

    std::size_t size() const { return m_rows.size(); }
    const config::Stage &stage(std::size_t row) const { return m_rows[row].point.stage; }
    void setMeasured(std::size_t row, const client::ProbeOutcome &outcome) { m_rows[row].measured = outcome; }

    // As `points` of a sweep, with "technique", "batch_size", and in "predicted" and "measured" "clip_seconds", "saved_bytes", "saved_part", "time_lost".
    nlohmann::json json() const;
    std::vector<std::string> lines() const;            // a table, the header first

private:
    struct Row {
        client::TechniquePoint point;
        std::optional<events::PlannedBucket> planned;
        std::string sentence;                          // why it was not planned
        std::optional<client::ProbeOutcome> measured;
        client::TechniqueFigures predictedFigures() const, measuredFigures() const;
    };
    static nlohmann::json gainJson(const client::TechniqueFigures &first, const client::TechniqueFigures &own);
    std::vector<std::string> cells(const Row &row) const;
    std::vector<Row> m_rows;
};

} // namespace stagewright::commands
