#include "ui/session/plan_sweep.h"

#include <algorithm>
#include <utility>

#include "core/base/host.h"

namespace stagewright::session {

PlanSweep::PlanSweep(PlanSession *planner, QObject *parent) : QObject(parent), m_planner(planner)
{
    connect(m_planner, &PlanSession::answered, this, &PlanSweep::takeAnswer);
}

void PlanSweep::ask(SweepQuestion question)
{
    for (const auto &[ticket, row] : m_asked)
        m_planner->cancel(ticket);
    m_planner->cancel(std::exchange(m_fitTicket, 0));
    m_asked.clear();
    m_toAsk.clear();
    m_points.clear();
    m_isKnown.clear();
    m_problem.reset();
    m_fit = Fit::NotAsked;
    m_known = 0;
    m_took = 0;
    m_began = steadySeconds();
    m_question = std::move(question);
    const std::int64_t count = m_question.stage ? std::int64_t(columns()) * rows() : 0;
    m_refused = count > kMostPoints ? count : 0;
    if (m_refused == 0) {
        m_points.resize(std::size_t(count));
        m_isKnown.resize(std::size_t(count));
        for (int row = 0; count > 0 && row < rows(); ++row)
            m_toAsk.insert(row);
    }
    m_looked = up() && up()->current >= 0 ? up()->current : 0;
    askRows();
    Q_EMIT fitChanged();
    Q_EMIT changed();
}

void PlanSweep::setShown(bool shown)
{
    m_shown = shown;
    askRows();
}

// The row that is looked at first, then its neighbours outwards.
void PlanSweep::askRows()
{
    while (m_shown && !m_toAsk.empty() && int(m_asked.size()) < kInFlight) {
        const int row = *std::min_element(m_toAsk.begin(), m_toAsk.end(), [this](int a, int b) { return std::abs(a - m_looked) < std::abs(b - m_looked); });
        m_toAsk.erase(row);
        events::PlanRequest request;
        request.ask = "sweep";
        request.fitDevice = m_question.device;
        request.bucket = m_question.bucket;
        request.vary = varyOfRow(*m_question.stage, m_question.x, up(), std::size_t(row));
        m_asked[m_planner->ask(std::move(request), m_question.stage)] = row;
    }
}

void PlanSweep::takeAnswer(qint64 ticket, const PlanAnswerPtr &answer)
{
    if (ticket == m_fitTicket) {
        m_fitTicket = 0;
        takeFit(*answer);
        return;
    }
    const auto asked = m_asked.find(ticket);
    if (asked == m_asked.end())
        return;
    const int row = asked->second;
    m_asked.erase(asked);
    takeRow(row, *answer);
    askRows();
    Q_EMIT changed();
}

void PlanSweep::takeRow(int row, const events::PlanAnswer &answer)
{
    if (answer.problem) {
        m_problem = answer.problem;
        m_toAsk.clear();
        return;
    }
    for (std::size_t column = 0; column < answer.points.size() && column < std::size_t(columns()); ++column) {
        const std::size_t at = std::size_t(row) * std::size_t(columns()) + column;
        m_known += !m_isKnown[at];
        m_isKnown[at] = true;
        m_points[at] = answer.points[column];
    }
    m_took = steadySeconds() - m_began;
}

void PlanSweep::askFit()
{
    if (!m_question.stage || m_points.empty())
        return;
    m_planner->cancel(m_fitTicket);
    m_fit = Fit::Looking;
    events::PlanRequest request;
    request.ask = "fit";
    request.fitDevice = m_question.device;
    request.bucket = m_question.bucket;
    const config::Stage &stage = *m_question.stage;
    if (up() && up()->path == m_question.x.path) {     // both depths are one option: its pairs are listed
        events::PlanVary pairs{m_question.x.path, {}};
        for (int row = 0; row < rows(); ++row) {
            const auto ofRow = varyOfRow(stage, m_question.x, up(), std::size_t(row));
            pairs.values.insert(pairs.values.end(), ofRow.back().values.begin(), ofRow.back().values.end());
        }
        request.vary.push_back(std::move(pairs));
    } else {
        request.vary.push_back(varyOfRow(stage, m_question.x, nullptr, 0).back());
        if (up())
            request.vary.push_back(varyOfRow(stage, *up(), nullptr, 0).back());
    }
    m_fitTicket = m_planner->ask(std::move(request), m_question.stage);
    Q_EMIT fitChanged();
}

void PlanSweep::takeFit(const events::PlanAnswer &answer)
{
    m_fitProblem = answer.problem;
    m_fit = answer.fit && !answer.problem ? Fit::Found : Fit::Failed;
    if (m_fit == Fit::Found)
        m_fitted = *answer.fit;
    Q_EMIT fitChanged();
}

int PlanSweep::ownCell() const
{
    if (m_points.empty() || m_question.x.current < 0 || (up() && up()->current < 0))
        return -1;
    return (up() ? up()->current : 0) * columns() + m_question.x.current;
}

std::vector<events::PlanValue> PlanSweep::valuesAt(int cell) const
{
    return session::valuesAt(*m_question.stage, m_question.x, std::size_t(cell % columns()), up(), std::size_t(cell / columns()));
}

Result<config::Stage> PlanSweep::stageAt(int cell) const { return stageWith(*m_question.stage, valuesAt(cell)); }

int PlanSweep::cellOf(const std::vector<events::PlanValue> &values) const
{
    const auto has = [&](const events::PlanValue &value) {
        return std::any_of(values.begin(), values.end(), [&](const auto &other) { return other.path == value.path && other.text == value.text; });
    };
    for (int cell = 0; cell < cells(); ++cell) {
        const auto own = valuesAt(cell);
        if (own.size() == values.size() && std::all_of(own.begin(), own.end(), has))
            return cell;
    }
    return -1;
}

} // namespace stagewright::session
