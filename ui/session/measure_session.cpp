#include "ui/session/measure_session.h"

namespace stagewright::session {

MeasureSession::MeasureSession(QObject *parent) : QObject(parent), m_worker(new QObject), m_go(std::make_shared<std::atomic<bool>>(true))
{
    m_worker->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
    m_thread.setObjectName(QStringLiteral("measuring"));
    m_thread.start();
}

MeasureSession::~MeasureSession()
{
    *m_go = false;
    m_thread.quit();
    m_thread.wait();
}

void MeasureSession::add(int id, StagePtr stage, int updates)
{
    m_queue.push_back({id, std::move(stage), updates});
    if (!m_busy)
        next();
}

void MeasureSession::stop()
{
    m_queue.clear();
    *m_go = false;                                     // of the point under way; the next one gets a new one
    Q_EMIT busyChanged();
}

void MeasureSession::next()
{
    if (m_queue.empty()) {
        m_busy = false;
        Q_EMIT busyChanged();
        return;
    }
    m_busy = true;
    const Waiting next = m_queue.front();
    m_queue.pop_front();
    m_go = std::make_shared<std::atomic<bool>>(true);
    QMetaObject::invokeMethod(m_worker, [this, next, go = m_go] {
        auto outcome = client::probeRun(*next.stage, next.updates, kDeadlineSeconds, [go] { return bool(*go); });
        MeasuredPoint point;
        if (outcome)
            point.outcome = *outcome;
        point.sentence = QString::fromStdString(outcome ? outcome->sentence : outcome.error().message());
        // This object outlives its thread's work: the destructor waits for it.
        QMetaObject::invokeMethod(this, [this, id = next.id, point, go] {
            if (*go)
                Q_EMIT measured(id, point);
            this->next();
        }, Qt::QueuedConnection);
    }, Qt::QueuedConnection);
    Q_EMIT busyChanged();
}

} // namespace stagewright::session
