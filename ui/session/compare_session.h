// The runs that are compared, read off the GUI thread and followed while they train.
#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <atomic>
#include <map>

#include "ui/session/job.h"
#include "ui/session/run_comparison.h"

namespace stagewright::session {

// GUI thread only.
class CompareSession : public QObject
{
    Q_OBJECT
public:
    static constexpr int kMostRuns = 8;    // can still be told apart
    static constexpr int kLookMs = 2000;   // at runs that go on

    explicit CompareSession(QObject *parent = nullptr);
    ~CompareSession() override;

    void choose(const QStringList &folders);           // the first kMostRuns of them, in this order
    void setShown(bool shown);                         // runs that go on are followed while somebody looks
    const QStringList &folders() const { return m_folders; }
    const std::vector<ComparedRunPtr> &runs() const { return m_runs; }     // as far as they are read, in the order of the folders
    bool isReading() const { return m_reading; }

Q_SIGNALS:
    void changed();

private:
    void read();
    void take(std::vector<ComparedRunPtr> runs);

    QStringList m_folders;
    std::map<QString, std::shared_ptr<RunReading>> m_readings;      // read by the job, one after the other
    std::vector<ComparedRunPtr> m_runs;
    QTimer m_timer;
    bool m_reading = false, m_shown = false;
    std::shared_ptr<std::atomic<bool>> m_go = std::make_shared<std::atomic<bool>>(true);
    Job m_job;
};

} // namespace stagewright::session
