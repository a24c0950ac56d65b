// What each technique saves and costs on the open stage: predicted at once, measured when it is asked for.
#pragma once

#include <QObject>
#include <map>
#include <optional>

#include "core/client/techniques.h"
#include "ui/session/measure_session.h"
#include "ui/session/plan_session.h"

namespace stagewright::session {

struct TechniqueRow {
    client::TechniquePoint point;
    bool isAnswered = false;               // by the planner
    std::optional<events::PlannedBucket> planned;
    std::optional<Problem> problem;        // why it was not
    std::optional<MeasuredPoint> measured;
    client::TechniqueFigures predictedFigures() const;     // zeros where there are none
    client::TechniqueFigures measuredFigures() const;
};

// GUI thread only. A new stage drops everything. The bucket is the one that takes most.
class TechniqueSession : public QObject
{
    Q_OBJECT
public:
    static constexpr int kUpdates = 10;                // of a measured point, beside the first

    explicit TechniqueSession(PlanSession *planner, QObject *parent = nullptr);

    void setStage(StagePtr stage);                     // one that can be planned; null: nothing
    void measure();                                    // every point, one after the other
    void stop() { m_measuring.stop(); }
    bool isMeasuring() const { return m_measuring.isBusy(); }
    bool isPlanning() const { return m_firstTicket != 0 || !m_tickets.empty(); }
    int measured() const;
    const std::vector<TechniqueRow> &rows() const { return m_rows; }       // the first has no technique
    const std::string &bucket() const { return m_bucket; }                 // "256px/129"; empty: not known yet
    const std::optional<Problem> &problem() const { return m_problem; }    // why there is no row

Q_SIGNALS:
    void changed();

private:
    void clear();
    void takeAnswer(qint64 ticket, const PlanAnswerPtr &answer);
    void takeFirst(const events::PlanAnswer &answer);

    PlanSession *m_planner;
    MeasureSession m_measuring;
    StagePtr m_stage;
    std::string m_stageText;                           // as YAML: tells whether a new snapshot is a new stage
    std::string m_bucket;
    std::vector<TechniqueRow> m_rows;
    std::optional<Problem> m_problem;
    qint64 m_firstTicket = 0;                          // which bucket takes most?
    std::map<qint64, std::size_t> m_tickets;           // ticket -> row
};

} // namespace stagewright::session
