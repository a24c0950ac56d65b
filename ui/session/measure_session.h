// Points of a sweep measured by short runs in workers that are thrown away, one after the other.
#pragma once

#include <QObject>
#include <QThread>
#include <atomic>
#include <deque>
#include <memory>

#include "core/client/probe_run.h"
#include "ui/session/plan_session.h"

namespace stagewright::session {

struct MeasuredPoint {
    client::ProbeOutcome outcome;
    QString sentence;                      // why there are no figures; empty where there are
};

// GUI thread only; the waiting happens on a thread of its own.
class MeasureSession : public QObject
{
    Q_OBJECT
public:
    explicit MeasureSession(QObject *parent = nullptr);
    ~MeasureSession() override;

    static constexpr int kUpdates = 3;                 // a point, beside the first
    static constexpr double kDeadlineSeconds = 300;    // a point

    void add(int id, StagePtr stage, int updates = kUpdates);      // measured when its turn comes
    void stop();                                       // what waits is dropped, what is under way is given up
    bool isBusy() const { return m_busy; }
    int waiting() const { return int(m_queue.size()); }

Q_SIGNALS:
    void measured(int id, const stagewright::session::MeasuredPoint &point);
    void busyChanged();                                // also with each point that is done

private:
    void next();

    QThread m_thread;
    QObject *m_worker;
    struct Waiting { int id; StagePtr stage; int updates; };
    std::deque<Waiting> m_queue;
    std::shared_ptr<std::atomic<bool>> m_go;
    bool m_busy = false;
};

} // namespace stagewright::session
