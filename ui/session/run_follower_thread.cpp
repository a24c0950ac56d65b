#include "ui/session/run_follower_thread.h"

namespace stagewright::session {

void RunFollowerWorker::launch(std::shared_ptr<client::LaunchRequest> request, int generation)
{
    detach();
    m_generation = generation;
    auto run = client::launch(*request);
    if (!run) {
        Q_EMIT failed(QString::fromStdString(run.error().message()), m_generation);
        return;
    }
    Q_EMIT launched(QString::fromStdString(run->folder.string()), m_generation);
    auto follower = client::RunFollower::follow(*run);
    if (!follower) {
        Q_EMIT failed(QString::fromStdString(follower.error().message()), m_generation);
        return;
    }
    m_follower = std::move(*follower);
    watch();
}

void RunFollowerWorker::attach(const QString &folder, int generation)
{
    detach();
    m_generation = generation;
    auto follower = client::RunFollower::attach(folder.toStdString());
    if (!follower) {
        Q_EMIT failed(QString::fromStdString(follower.error().message()), m_generation);
        return;
    }
    m_follower = std::move(*follower);
    watch();
}

void RunFollowerWorker::detach()
{
    m_notifier.reset();
    if (m_timer)
        m_timer->stop();
    m_follower.reset();
    m_underWay = m_more = m_endTold = false;
}

void RunFollowerWorker::watch()
{
    if (!m_timer) {
        m_timer = new QTimer(this);
        m_timer->setSingleShot(true);
        connect(m_timer, &QTimer::timeout, this, &RunFollowerWorker::look);
    }
    m_notifier = std::make_unique<QSocketNotifier>(m_follower->descriptor(), QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &RunFollowerWorker::look);
    look();
}

static bool isNews(const client::News &news)
{
    return !news.records.empty() || !news.replies.empty() || !news.notices.empty() || news.ending;
}

void RunFollowerWorker::look()
{
    if (!m_follower || m_underWay || m_endTold)
        return;
    m_notifier->setEnabled(false);
    auto news = std::make_shared<client::News>(m_follower->poll(std::chrono::milliseconds(0)));
    m_more = news->more;
    if (isNews(*news)) {
        m_underWay = true;
        m_endTold = news->ending.has_value() && !news->more;
        Q_EMIT this->news(news, m_generation);
    } else if (!m_more) {
        m_notifier->setEnabled(true);
    } else {
        m_timer->start(0);
    }
}

void RunFollowerWorker::taken()
{
    m_underWay = false;
    if (m_follower && !m_endTold)
        m_timer->start(m_more ? 0 : kBatchMs);
}

void RunFollowerWorker::command(int kind, int mode)
{
    if (m_follower)
        m_follower->command(protocol::CommandKind(kind), protocol::StopMode(mode));
}

} // namespace stagewright::session
