#include "ui/session/long_task.h"

#include "core/base/host.h"

namespace stagewright::session {

static constexpr int kTaskLookMs = 100;

struct LongTask::Teller::State {
    std::atomic<bool> go = true;
    std::atomic<double> part = -1, heard = steadySeconds();
    QMutex mutex;
    QString words;                                     // by the mutex
};

bool LongTask::Teller::operator()(double part, const QString &words) const
{
    m_state->part = part;
    m_state->heard = steadySeconds();
    if (!words.isEmpty()) {
        const QMutexLocker locker(&m_state->mutex);
        m_state->words = words;
    }
    return m_state->go;
}

LongTask::LongTask(QObject *parent) : QObject(parent)
{
    m_timer.setInterval(kTaskLookMs);
    connect(&m_timer, &QTimer::timeout, this, &LongTask::look);
}

LongTask::~LongTask()
{
    if (m_state)
        m_state->go = false;
}

LongTask::Teller LongTask::begin(const QString &doing, int silenceSeconds)
{
    if (m_state)
        m_state->go = false;
    Teller teller;
    teller.m_state = m_state = std::make_shared<Teller::State>();
    m_doing = doing;
    m_silenceSeconds = silenceSeconds;
    m_timer.start();
    Q_EMIT busyChanged();
    return teller;
}

void LongTask::cancel()
{
    if (m_state)
        m_state->go = false;
}

void LongTask::end()
{
    m_timer.stop();
    m_state.reset();
    Q_EMIT busyChanged();
}

void LongTask::look()
{
    if (steadySeconds() - m_state->heard > m_silenceSeconds) {
        m_state->go = false;
        m_job.cancel();
        end();
        Q_EMIT gaveUp(tr("%1: no sign of life for %2 s, so this window no longer waits. The disk may not answer; look at it, then try again.").arg(m_doing).arg(m_silenceSeconds));
        return;
    }
    QString words;
    {
        const QMutexLocker locker(&m_state->mutex);
        words = m_state->words;
    }
    Q_EMIT progressed(m_state->part, words);
}

} // namespace stagewright::session
