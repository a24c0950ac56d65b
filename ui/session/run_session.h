// The run that the window shows: launched here, found running, or read from its folder.
#pragma once

#include <QObject>
#include <QThread>
#include <QVector>
#include <filesystem>
#include <memory>

#include "core/runlog/series.h"
#include "ui/session/run_facts.h"
#include "ui/session/run_follower_thread.h"

namespace stagewright::session {

enum class RunPhase { Idle, Launching, Training, Saving, Stopping, Ended };
enum class StopKind { AfterStepWithSave, AfterStep, AtOnce };

// GUI thread only; all waiting happens on a thread of its own. A run that is let go of (detach, destruction) goes on by itself.
class RunSession : public QObject
{
    Q_OBJECT
public:
    explicit RunSession(QObject *parent = nullptr);
    ~RunSession() override;

    RunPhase phase() const { return m_phase; }
    bool isActive() const { return m_phase != RunPhase::Idle && m_phase != RunPhase::Ended; }
    bool isReplaying() const { return m_connection == client::Connection::Replaying; }
    // True where stopping now loses nothing but the steps since the last checkpoint: no save is between its begin and its commit.
    bool isSafeToStop() const { return !m_facts.saveInProgress(); }
    bool isSilent() const { return m_silent; }
    const RunFacts &facts() const { return m_facts; }
    const runlog::SeriesStore &series() const { return m_series; }
    QString folder() const { return m_folder; }
    QString name() const;

    void launch(client::LaunchRequest request);
    void attach(const QString &folder);            // running: follow it; over: read its history
    void detach();                                 // to Idle; the run is not touched
    void saveNow();
    void stop(StopKind kind);

Q_SIGNALS:
    void cleared();                                // another run (or none): forget what was shown
    void launched(const QString &folder);
    void recordsArrived(const std::vector<stagewright::events::Record> &records);     // up to 30 times a second, in order
    void phaseChanged();
    void factsChanged();                           // after each batch
    void noticed(const QString &sentence);
    void launchFailed(const QString &sentence);
    void commandFailed(const QString &sentence);
    void ended();

private:
    void takeNews(const NewsPtr &news, int generation);
    void setPhase(RunPhase phase);
    RunPhase phaseByFacts() const;
    void forget();

    QThread m_thread;
    RunFollowerWorker *m_worker;
    RunPhase m_phase = RunPhase::Idle;
    client::Connection m_connection = client::Connection::Waiting;
    bool m_silent = false, m_stopAsked = false;
    int m_generation = 0;                          // news of a run that was let go of are dropped
    RunFacts m_facts;
    runlog::SeriesStore m_series;
    QString m_folder;
};

QString wordOf(RunPhase phase);                    // translated
QString wordOfEnding(int exit);                    // "Finished", "Stopped", "Failed"; by exit code

} // namespace stagewright::session
