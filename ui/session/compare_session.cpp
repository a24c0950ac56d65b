#include "ui/session/compare_session.h"

#include <algorithm>

namespace stagewright::session {

CompareSession::CompareSession(QObject *parent) : QObject(parent)
{
    m_timer.setSingleShot(true);
    m_timer.setInterval(kLookMs);
    connect(&m_timer, &QTimer::timeout, this, &CompareSession::read);
}

CompareSession::~CompareSession() { *m_go = false; }

void CompareSession::choose(const QStringList &folders)
{
    const QStringList chosen = folders.mid(0, kMostRuns);
    if (chosen == m_folders)
        return;
    m_folders = chosen;
    std::erase_if(m_readings, [&](const auto &known) { return !chosen.contains(known.first); });
    std::erase_if(m_runs, [&](const ComparedRunPtr &run) { return !chosen.contains(QString::fromStdString(run->folder)); });
    Q_EMIT changed();
    read();
}

void CompareSession::setShown(bool shown)
{
    m_shown = shown;
    shown ? read() : m_timer.stop();
}

// What an earlier reading of the same run got to is not lost where a new choice supersedes it.
void CompareSession::read()
{
    *m_go = false;
    m_go = std::make_shared<std::atomic<bool>>(true);
    m_timer.stop();
    m_reading = !m_folders.isEmpty();
    if (!m_reading)
        return m_job.cancel();
    std::vector<std::shared_ptr<RunReading>> readings;
    for (const QString &folder : std::as_const(m_folders)) {
        auto &reading = m_readings[folder];
        if (!reading)
            reading = std::make_shared<RunReading>(folder.toStdString());
        readings.push_back(reading);
    }
    m_job.start(this, [readings = std::move(readings), go = m_go] {
        std::vector<ComparedRunPtr> runs;
        for (const auto &reading : readings) {
            reading->readMore(*go);
            runs.push_back(reading->snapshot());
        }
        return runs;
    }, [this](std::vector<ComparedRunPtr> runs) { take(std::move(runs)); });
}

void CompareSession::take(std::vector<ComparedRunPtr> runs)
{
    m_reading = false;
    const bool isSame = runs == m_runs;
    m_runs = std::move(runs);
    const bool goesOn = std::any_of(m_runs.begin(), m_runs.end(), [](const ComparedRunPtr &run) { return !runlog::isOver(run->state); });
    if (m_shown && goesOn)
        m_timer.start();
    if (!isSame)
        Q_EMIT changed();
}

} // namespace stagewright::session
