// Looks into every file of a table that lacks numbers and writes the table again beside it, with them.
#pragma once

#include <QObject>
#include <atomic>
#include <memory>

#include "core/base/result.h"
#include "core/config/stage.h"
#include "ui/session/job.h"

namespace stagewright::session {

struct ProbedTable {
    std::filesystem::path file;                        // what was written
    std::int64_t rows = 0, unreadable = 0;
    std::string firstUnreadable;                       // its sentence
};

// GUI thread only; the files are read on all CPUs of the machine. One at a time.
class TableProbe : public QObject
{
    Q_OBJECT
public:
    explicit TableProbe(QObject *parent = nullptr) : QObject(parent) {}
    ~TableProbe() override { cancel(); }
    void start(const std::shared_ptr<const config::Stage> &stage);
    void cancel();                                     // finished() comes with the code data.stopped, and nothing is written
    bool isRunning() const { return m_stop != nullptr; }

Q_SIGNALS:
    void progressed(qint64 done, qint64 total);
    void finished(const stagewright::Result<stagewright::session::ProbedTable> &result);

private:
    Job m_job;
    std::shared_ptr<std::atomic<bool>> m_stop;
};

} // namespace stagewright::session
