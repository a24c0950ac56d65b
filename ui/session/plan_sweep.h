// Predicted points over one or two settings of a stage, asked row by row, and the fastest of them that fits.
#pragma once

#include <QObject>
#include <map>
#include <optional>
#include <set>

#include "ui/session/plan_axes.h"
#include "ui/session/plan_session.h"

namespace stagewright::session {

struct SweepQuestion {
    StagePtr stage;
    PlanAxis x;
    std::optional<PlanAxis> y;             // none: a curve over x
    std::string bucket;                    // "256px/129"; empty: all of them
    std::string device;                    // as the planner is asked; empty: the one here
    int columns() const { return int(x.values.size()); }
    int rows() const { return y ? int(y->values.size()) : 1; }
};

// GUI thread only. Cells are numbered row by row. A new question drops the answers of the last one.
class PlanSweep : public QObject
{
    Q_OBJECT
public:
    static constexpr int kMostPoints = 4000;           // of one question
    static constexpr int kInFlight = 2;                // rows: more would keep other questions waiting

    explicit PlanSweep(PlanSession *planner, QObject *parent = nullptr);

    void ask(SweepQuestion question);      // without a stage or a value: nothing
    void setShown(bool shown);             // nothing is asked while nobody looks
    void lookAt(int row) { m_looked = row; }           // is asked first, then its neighbours
    void askFit();                         // over what can be seen

    const SweepQuestion &question() const { return m_question; }
    int columns() const { return m_question.columns(); }
    int rows() const { return m_question.rows(); }
    int cells() const { return int(m_points.size()); }
    bool isCell(int cell) const { return cell >= 0 && cell < cells(); }
    bool isKnown(int cell) const { return isCell(cell) && m_isKnown[std::size_t(cell)]; }
    bool isPredicted(int cell) const { return isKnown(cell) && m_points[std::size_t(cell)].peakBytes > 0; }
    bool isComplete() const { return m_known == cells() && m_known > 0; }
    int known() const { return m_known; }
    double seconds() const { return m_took; }          // from the question to the newest answer
    const std::vector<events::PlannedPoint> &points() const { return m_points; }
    const events::PlannedPoint &point(int cell) const { return m_points[std::size_t(cell)]; }
    std::int64_t refusedPoints() const { return m_refused; }               // more than kMostPoints; 0: the question was taken
    const std::optional<Problem> &problem() const { return m_problem; }

    int ownCell() const;                   // what the stage has; -1: not among the cells
    std::vector<events::PlanValue> valuesAt(int cell) const;
    Result<config::Stage> stageAt(int cell) const;
    int cellOf(const std::vector<events::PlanValue> &values) const;        // -1: none

    enum class Fit { NotAsked, Looking, Found, Failed };
    Fit fit() const { return m_fit; }
    const events::PlannedFit &fitted() const { return m_fitted; }          // where fit() is Found
    const std::optional<Problem> &fitProblem() const { return m_fitProblem; }

Q_SIGNALS:
    void changed();                        // points, or the question
    void fitChanged();

private:
    void askRows();
    void takeAnswer(qint64 ticket, const PlanAnswerPtr &answer);
    void takeRow(int row, const events::PlanAnswer &answer);
    void takeFit(const events::PlanAnswer &answer);
    const PlanAxis *up() const { return m_question.y ? &*m_question.y : nullptr; }

    PlanSession *m_planner;
    SweepQuestion m_question;
    std::vector<events::PlannedPoint> m_points;
    std::vector<bool> m_isKnown;
    std::set<int> m_toAsk;                 // rows
    std::map<qint64, int> m_asked;         // ticket -> row
    std::int64_t m_refused = 0;
    std::optional<Problem> m_problem, m_fitProblem;
    events::PlannedFit m_fitted;
    Fit m_fit = Fit::NotAsked;
    qint64 m_fitTicket = 0;
    int m_known = 0, m_looked = 0;
    double m_began = 0, m_took = 0;
    bool m_shown = false;
};

} // namespace stagewright::session
