// A long piece of work off the GUI thread: its progress, a way to cancel it, and a deadline for its silence.
#pragma once

#include <QMutex>
#include <QObject>
#include <QTimer>
#include <atomic>
#include <memory>

#include "ui/session/job.h"

namespace stagewright::session {

// One at a time. GUI thread only, but for the Teller.
class LongTask : public QObject
{
    Q_OBJECT
public:
    // What the work is handed: it tells how far it is, as often as it likes, from any thread.
    class Teller
    {
    public:
        // part: of 1, below 0 where it is not known. False: give up.
        bool operator()(double part, const QString &words = {}) const;

    private:
        friend class LongTask;
        struct State;
        std::shared_ptr<State> m_state;
    };

    explicit LongTask(QObject *parent = nullptr);
    ~LongTask() override;

    bool isBusy() const { return bool(m_state); }
    QString doing() const { return m_doing; }
    void cancel();                                     // asks the work to end; its result still comes

    // work(const Teller &) runs on another thread and must own what it uses; done(its result) runs on the GUI thread. A work that is silent
    // for so long that its disk seems not to answer is let go of: gaveUp() comes instead of its result.
    template <class Work, class Done>
    void start(const QString &doing, int silenceSeconds, Work work, Done done)
    {
        const Teller teller = begin(doing, silenceSeconds);
        m_job.start(this, [teller, work = std::move(work)]() mutable { return work(teller); }, [this, done = std::move(done)](auto result) mutable {
            end();
            done(std::move(result));
        });
    }

Q_SIGNALS:
    void busyChanged();
    void progressed(double part, const QString &words);
    void gaveUp(const QString &sentence);

private:
    Teller begin(const QString &doing, int silenceSeconds);
    void end();
    void look();

    std::shared_ptr<Teller::State> m_state;            // null: idle
    QString m_doing;
    int m_silenceSeconds = 0;
    QTimer m_timer;
    Job m_job{Job::kSlowDiskThreads};
};

} // namespace stagewright::session
