// Follows a run on a thread of its own and hands its news over in batches that the window can keep up with.
#pragma once

#include <QObject>
#include <QSocketNotifier>
#include <QThread>
#include <QTimer>
#include <memory>

#include "core/client/client.h"

namespace stagewright::session {

using NewsPtr = std::shared_ptr<const client::News>;

// Lives on the follower thread; every slot is called there (queued). One batch is under way at a time: the next is read only after
// taken(), so a long history cannot flood the window, and batches come no faster than kBatchMs apart.
class RunFollowerWorker : public QObject
{
    Q_OBJECT
public:
    static constexpr int kBatchMs = 33;

public Q_SLOTS:
    void launch(std::shared_ptr<client::LaunchRequest> request, int generation);
    void attach(const QString &folder, int generation);
    void detach();
    void command(int kind, int mode);              // protocol::CommandKind, protocol::StopMode
    void taken();

Q_SIGNALS:
    // generation: as given to launch() or attach(), so that late words about an earlier run can be told apart.
    void launched(const QString &folder, int generation);     // the folder exists, the worker was started
    void failed(const QString &sentence, int generation);
    void news(stagewright::session::NewsPtr news, int generation);

private:
    void watch();
    void look();

    std::unique_ptr<client::RunFollower> m_follower;
    std::unique_ptr<QSocketNotifier> m_notifier;
    QTimer *m_timer = nullptr;
    int m_generation = 0;
    bool m_underWay = false, m_more = false, m_endTold = false;
};

} // namespace stagewright::session
