// Work off the GUI thread whose result is delivered back to it, unless it was superseded or its receiver died.
#pragma once

#include <QObject>
#include <QPointer>
#include <QThreadPool>
#include <memory>
#include <utility>

namespace stagewright::session {

// One line of work: a newer start() supersedes an older one, whose result is then dropped. GUI thread only.
class Job
{
public:
    // threads: more than one where work can hang on a disk that does not answer, so that what is asked next does not wait for it.
    explicit Job(int threads = 1) : m_pool(std::make_unique<QThreadPool>())
    {
        m_pool->setMaxThreadCount(threads);
        m_pool->setExpiryTimeout(5000);
    }
    ~Job()
    {
        cancel();
        m_pool->clear();
        if (!m_pool->waitForDone(kPatienceMs))
            static_cast<void>(m_pool.release());       // its thread hangs in the system: a window that closes does not wait for that
    }

    // `work` runs on another thread and must own what it uses; `done` runs on receiver's thread with its result.
    template <class Work, class Done>
    void start(QObject *receiver, Work work, Done done)
    {
        const auto id = ++*m_newest;
        m_pool->clear();
        m_pool->start([newest = m_newest, id, receiver = QPointer<QObject>(receiver), work = std::move(work), done = std::move(done)]() mutable {
            if (*newest != id)
                return;
            auto result = std::make_shared<decltype(work())>(work());
            if (QObject *application = qApp_()) {
                QMetaObject::invokeMethod(application, [newest, id, receiver, result, done = std::move(done)]() mutable {
                    if (*newest == id && receiver)
                        done(std::move(*result));
                }, Qt::QueuedConnection);
            }
        });
    }
    void cancel() { ++*m_newest; }

    static constexpr int kSlowDiskThreads = 4;

private:
    static constexpr int kPatienceMs = 5000;           // for the last work to come to its end
    static QObject *qApp_();
    std::shared_ptr<std::atomic<std::int64_t>> m_newest = std::make_shared<std::atomic<std::int64_t>>(0);
    std::unique_ptr<QThreadPool> m_pool;
};

} // namespace stagewright::session

#include <QCoreApplication>
inline QObject *stagewright::session::Job::qApp_() { return QCoreApplication::instance(); }
