#include "ui/session/technique_session.h"

#include <algorithm>
#include <utility>

namespace stagewright::session {

static double clipsOfUpdate(const client::TechniquePoint &point) { return double(point.batchSize * point.stage.integer("accumulation_steps")); }

client::TechniqueFigures TechniqueRow::predictedFigures() const
{
    return planned ? client::TechniqueFigures{planned->peakBytes, planned->stepSeconds / clipsOfUpdate(point)} : client::TechniqueFigures{};
}

client::TechniqueFigures TechniqueRow::measuredFigures() const
{
    const bool any = measured && measured->sentence.isEmpty();
    return any ? client::TechniqueFigures{measured->outcome.peakBytes, measured->outcome.stepSeconds / clipsOfUpdate(point)} : client::TechniqueFigures{};
}

TechniqueSession::TechniqueSession(PlanSession *planner, QObject *parent) : QObject(parent), m_planner(planner)
{
    connect(m_planner, &PlanSession::answered, this, &TechniqueSession::takeAnswer);
    connect(&m_measuring, &MeasureSession::busyChanged, this, &TechniqueSession::changed);
    connect(&m_measuring, &MeasureSession::measured, this, [this](int row, const MeasuredPoint &point) {
        if (std::size_t(row) < m_rows.size())
            m_rows[std::size_t(row)].measured = point;
        Q_EMIT changed();
    });
}

void TechniqueSession::clear()
{
    m_measuring.stop();
    m_planner->cancel(std::exchange(m_firstTicket, 0));
    for (const auto &[ticket, row] : m_tickets)
        m_planner->cancel(ticket);
    m_tickets.clear();
    m_rows.clear();
    m_bucket.clear();
    m_problem.reset();
}

void TechniqueSession::setStage(StagePtr stage)
{
    std::string text = stage ? config::toYaml(stage->values()) : std::string();
    if (text == m_stageText)
        return;
    m_stageText = std::move(text);
    m_stage = std::move(stage);
    clear();
    if (m_stage) {
        events::PlanRequest request;
        request.ask = "plan";
        m_firstTicket = m_planner->ask(std::move(request), m_stage);
    }
    Q_EMIT changed();
}

void TechniqueSession::takeAnswer(qint64 ticket, const PlanAnswerPtr &answer)
{
    if (ticket == m_firstTicket && ticket != 0) {
        m_firstTicket = 0;
        takeFirst(*answer);
        Q_EMIT changed();
        return;
    }
    const auto asked = m_tickets.find(ticket);
    if (asked == m_tickets.end())
        return;
    TechniqueRow &row = m_rows[asked->second];
    m_tickets.erase(asked);
    row.isAnswered = true;
    row.problem = answer->problem;
    if (answer->plan && !answer->plan->buckets.empty())
        row.planned = answer->plan->buckets.front();
    Q_EMIT changed();
}

void TechniqueSession::takeFirst(const events::PlanAnswer &answer)
{
    m_problem = answer.problem;
    if (!answer.plan || answer.plan->buckets.empty())
        return;
    const auto worst = std::clamp<std::int64_t>(answer.plan->worstBucket, 0, std::int64_t(answer.plan->buckets.size()) - 1);
    const auto &bucket = answer.plan->buckets[std::size_t(worst)];
    m_bucket = events::bucketName(bucket.resolution, bucket.frames);
    auto points = client::techniquePoints(*m_stage, m_bucket);
    if (!points) {
        m_problem = points.error().problem;
        return;
    }
    for (client::TechniquePoint &point : *points) {
        events::PlanRequest request;
        request.ask = "plan";
        request.bucket = m_bucket;
        m_tickets[m_planner->ask(std::move(request), std::make_shared<const config::Stage>(point.stage))] = m_rows.size();
        m_rows.push_back({std::move(point), false, {}, {}, {}});
    }
}

void TechniqueSession::measure()
{
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        m_rows[i].measured.reset();
        m_measuring.add(int(i), std::make_shared<const config::Stage>(m_rows[i].point.stage), kUpdates);
    }
    Q_EMIT changed();
}

int TechniqueSession::measured() const
{
    return int(std::count_if(m_rows.begin(), m_rows.end(), [](const TechniqueRow &row) { return row.measured.has_value(); }));
}

} // namespace stagewright::session
