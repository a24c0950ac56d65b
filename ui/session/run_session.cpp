#include "ui/session/run_session.h"

#include <QCoreApplication>

#include "core/base/exit_code.h"

namespace stagewright::session {

RunSession::RunSession(QObject *parent) : QObject(parent), m_worker(new RunFollowerWorker)
{
    qRegisterMetaType<NewsPtr>();
    m_worker->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);
    connect(m_worker, &RunFollowerWorker::news, this, &RunSession::takeNews);
    connect(m_worker, &RunFollowerWorker::launched, this, [this](const QString &folder, int generation) {
        if (generation != m_generation)
            return;
        m_folder = folder;
        Q_EMIT launched(folder);
    });
    connect(m_worker, &RunFollowerWorker::failed, this, [this](const QString &sentence, int generation) {
        if (generation != m_generation)
            return;
        setPhase(RunPhase::Idle);
        Q_EMIT launchFailed(sentence);
    });
    m_thread.setObjectName(QStringLiteral("run follower"));
    m_thread.start();
}

RunSession::~RunSession()
{
    QMetaObject::invokeMethod(m_worker, &RunFollowerWorker::detach, Qt::QueuedConnection);
    m_thread.quit();
    m_thread.wait();                               // the follower never blocks, so this is short
}

QString RunSession::name() const { return QString::fromStdString(std::filesystem::path(m_folder.toStdString()).filename().string()); }

void RunSession::forget()
{
    ++m_generation;
    m_facts = {};
    m_series.clear();
    m_folder.clear();
    m_connection = client::Connection::Waiting;
    m_silent = m_stopAsked = false;
    Q_EMIT cleared();
}

void RunSession::launch(client::LaunchRequest request)
{
    forget();
    setPhase(RunPhase::Launching);
    auto shared = std::make_shared<client::LaunchRequest>(std::move(request));
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, shared, generation = m_generation] { worker->launch(shared, generation); }, Qt::QueuedConnection);
}

void RunSession::attach(const QString &folder)
{
    forget();
    m_folder = folder;
    setPhase(RunPhase::Launching);
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, folder, generation = m_generation] { worker->attach(folder, generation); }, Qt::QueuedConnection);
}

void RunSession::detach()
{
    QMetaObject::invokeMethod(m_worker, &RunFollowerWorker::detach, Qt::QueuedConnection);
    forget();
    setPhase(RunPhase::Idle);
}

void RunSession::saveNow()
{
    QMetaObject::invokeMethod(m_worker, [worker = m_worker] { worker->command(int(protocol::CommandKind::Save), 0); }, Qt::QueuedConnection);
}

void RunSession::stop(StopKind kind)
{
    const auto mode = kind == StopKind::AfterStepWithSave ? protocol::StopMode::SaveAndStop
        : kind == StopKind::AfterStep                     ? protocol::StopMode::WithoutSaving
                                                          : protocol::StopMode::Now;
    m_stopAsked = true;
    setPhase(RunPhase::Stopping);                  // shown at once, whatever the worker is busy with
    QMetaObject::invokeMethod(m_worker, [worker = m_worker, mode] { worker->command(int(protocol::CommandKind::Stop), int(mode)); }, Qt::QueuedConnection);
}

void RunSession::takeNews(const NewsPtr &news, int generation)
{
    if (generation != m_generation || m_phase == RunPhase::Idle)
        return;                                    // of a run that was let go of in the meantime
    m_connection = news->connection;
    m_silent = news->silent;
    for (const auto &record : news->records) {
        m_facts.take(record);
        m_series.append(record);
    }
    if (!news->records.empty())
        Q_EMIT recordsArrived(news->records);
    for (const auto &notice : news->notices)
        Q_EMIT noticed(QString::fromStdString(notice));
    for (const auto &reply : news->replies)
        if (reply.error) {
            m_stopAsked = false;
            Q_EMIT commandFailed(QString::fromStdString(reply.error->message()));
        }
    if (news->ending)
        m_facts.ending = news->ending;
    const bool justEnded = m_facts.ending && m_phase != RunPhase::Ended && !news->more;
    setPhase(phaseByFacts());
    Q_EMIT factsChanged();
    if (justEnded)
        Q_EMIT ended();
    QMetaObject::invokeMethod(m_worker, &RunFollowerWorker::taken, Qt::QueuedConnection);
}

RunPhase RunSession::phaseByFacts() const
{
    if (m_facts.ending)
        return RunPhase::Ended;
    if (m_stopAsked || m_facts.state == "stopping" || m_facts.state == "saving_last")
        return RunPhase::Stopping;
    if (!m_facts.started || m_facts.state == "starting" || m_facts.state.empty())
        return RunPhase::Launching;
    return m_facts.saveInProgress() ? RunPhase::Saving : RunPhase::Training;
}

void RunSession::setPhase(RunPhase phase)
{
    if (m_phase == phase)
        return;
    m_phase = phase;
    Q_EMIT phaseChanged();
}

QString wordOf(RunPhase phase)
{
    const auto translated = [](const char *text) { return QCoreApplication::translate("RunPhase", text); };
    switch (phase) {
    case RunPhase::Idle: return translated(QT_TRANSLATE_NOOP("RunPhase", "No run"));
    case RunPhase::Launching: return translated(QT_TRANSLATE_NOOP("RunPhase", "Starting"));
    case RunPhase::Training: return translated(QT_TRANSLATE_NOOP("RunPhase", "Training"));
    case RunPhase::Saving: return translated(QT_TRANSLATE_NOOP("RunPhase", "Training, saving"));
    case RunPhase::Stopping: return translated(QT_TRANSLATE_NOOP("RunPhase", "Stopping"));
    case RunPhase::Ended: return translated(QT_TRANSLATE_NOOP("RunPhase", "Ended"));
    }
    return {};
}

QString wordOfEnding(int exit)
{
    const auto translated = [](const char *text) { return QCoreApplication::translate("RunPhase", text); };
    switch (ExitCode(exit)) {
    case ExitCode::Done: return translated(QT_TRANSLATE_NOOP("RunPhase", "Finished"));
    case ExitCode::Stopped: return translated(QT_TRANSLATE_NOOP("RunPhase", "Stopped"));
    default: return translated(QT_TRANSLATE_NOOP("RunPhase", "Failed"));
    }
}

} // namespace stagewright::session
