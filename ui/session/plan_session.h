// Questions to the planning helper, asked from the window without waiting.
#pragma once

#include <QObject>
#include <QSocketNotifier>
#include <QThread>
#include <QTimer>
#include <map>
#include <memory>
#include <set>

#include "core/client/plan_helper.h"
#include "core/config/stage.h"
#include "ui/session/stage_snapshot.h"

namespace stagewright::session {

using PlanAnswerPtr = std::shared_ptr<const events::PlanAnswer>;
using StagePtr = std::shared_ptr<const config::Stage>;

// The first problem that keeps a stage from being planned, or null: what data or machine lack does not.
const Problem *problemAgainstPlanning(const StageSnapshot &snapshot);

// Lives on the planning thread; every slot is called there (queued). The helper's socket wakes it; a slow timer looks at deadlines.
class PlanWorker : public QObject
{
    Q_OBJECT
public Q_SLOTS:
    void ask(qint64 ticket, std::shared_ptr<events::PlanRequest> request, stagewright::session::StagePtr stage);
    void cancel(qint64 ticket);
    void stop();

Q_SIGNALS:
    void answered(qint64 ticket, stagewright::session::PlanAnswerPtr answer);
    void helperChanged(int pid);

private:
    void look();
    void watch();

    std::unique_ptr<client::PlanHelper> m_helper;
    std::unique_ptr<QSocketNotifier> m_notifier;
    QTimer *m_timer = nullptr;
    std::map<std::int64_t, qint64> m_tickets;          // the helper's id -> ours
    int m_descriptor = -1, m_pid = 0;
};

// GUI thread only. Every question gets exactly one answered(), also where the helper died (its answer holds a problem then), but for those that
// were cancelled: of these nothing is heard again. The helper is started by the first question.
class PlanSession : public QObject
{
    Q_OBJECT
public:
    explicit PlanSession(QObject *parent = nullptr);
    ~PlanSession() override;

    // request.config is written from the stage, on the other thread. The ticket is never 0.
    qint64 ask(events::PlanRequest request, StagePtr stage);
    void cancel(qint64 ticket);                        // 0: nothing
    int waiting() const { return int(m_open.size()); }
    int helperPid() const { return m_pid; }            // 0 while none runs

Q_SIGNALS:
    void answered(qint64 ticket, stagewright::session::PlanAnswerPtr answer);
    void waitingChanged(int waiting);

private:
    QThread m_thread;
    PlanWorker *m_worker;
    std::set<qint64> m_open;
    qint64 m_last = 0;
    int m_pid = 0;
};

} // namespace stagewright::session
