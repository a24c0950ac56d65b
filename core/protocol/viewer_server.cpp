#include "core/protocol/viewer_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/protocol/viewer.h"

namespace stagewright::protocol {

class ViewerServer::Implementation
{
public:
    Implementation(Options options, Handler handler, Descriptor listener, Descriptor wake)
        : m_options(std::move(options)), m_handler(std::move(handler)), m_listener(std::move(listener)), m_wake(std::move(wake)),
          m_ring(m_options.ringRecords, m_options.ringBytes)
    {
        m_thread = std::thread([this] { run(); });
    }

    ~Implementation()
    {
        m_stop = true;
        poke();
        m_thread.join();
        ::unlink(m_options.socket.c_str());
    }

    void publish(std::int64_t number, RecordRing::Line line)
    {
        m_ring.push(number, std::move(line));
        if (m_viewerCount > 0)
            poke();
    }

    void notice(Notice notice)
    {
        {
            const std::lock_guard lock(m_mutex);
            m_notices.push_back(std::move(notice));
        }
        poke();
    }

    void drain(double seconds)
    {
        std::unique_lock lock(m_mutex);
        m_drained = false;
        m_drainWanted = true;
        poke();
        m_progress.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return m_drained; });
        m_drainWanted = false;
    }

    const std::filesystem::path &socket() const { return m_options.socket; }
    int viewerCount() const { return m_viewerCount; }

private:
    // Wakes the server's thread; cheap while it is awake already.
    void poke()
    {
        if (m_poked.exchange(true))
            return;
        const std::uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(m_wake.get(), &one, sizeof one);
    }

    void run();
    int waitTime() const;
    void takeWakeUp();
    void acceptViewers();
    void spreadNotices();
    void dropTheGone();
    void tellDrained();

    const Options m_options;
    const Handler m_handler;
    Descriptor m_listener, m_wake;
    RecordRing m_ring;
    std::list<Viewer> m_viewers;                           // the server's thread only
    std::atomic<int> m_viewerCount{0};
    std::atomic<bool> m_stop{false}, m_poked{false};

    std::mutex m_mutex;
    std::condition_variable m_progress;
    std::vector<Notice> m_notices;                         // guarded by m_mutex, as the next two
    bool m_drainWanted = false, m_drained = false;

    std::thread m_thread;
};

void ViewerServer::Implementation::run()
{
    while (!m_stop) {
        std::vector<pollfd> waiting{{m_listener.get(), POLLIN, 0}, {m_wake.get(), POLLIN, 0}};
        for (const Viewer &viewer : m_viewers)
            waiting.push_back({viewer.descriptor(), static_cast<short>(POLLIN | (viewer.wantsToWrite() ? POLLOUT : 0)), 0});
        if (::poll(waiting.data(), waiting.size(), waitTime()) < 0 && errno != EINTR)
            return;
        if (waiting[1].revents)
            takeWakeUp();
        std::size_t at = 2;
        for (Viewer &viewer : m_viewers) {
            if (waiting[at++].revents & (POLLIN | POLLHUP | POLLERR))
                viewer.readCommands(m_ring, m_handler);
        }
        if (waiting[0].revents)
            acceptViewers();
        spreadNotices();
        for (Viewer &viewer : m_viewers)
            viewer.pump(m_ring);
        dropTheGone();
        tellDrained();
    }
}

// Somebody who connects and says nothing must not keep a place for ever.
int ViewerServer::Implementation::waitTime() const
{
    const bool somebodyIsSilent = std::any_of(m_viewers.begin(), m_viewers.end(), [](const Viewer &v) { return !v.isGreeted(); });
    return somebodyIsSilent ? 200 : -1;
}

void ViewerServer::Implementation::takeWakeUp()
{
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(m_wake.get(), &count, sizeof count);
    m_poked = false;                                       // before the ring is looked at: a later record pokes again
}

void ViewerServer::Implementation::acceptViewers()
{
    while (true) {
        Descriptor connection(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (connection.get() < 0)
            return;
        Hello hello = m_options.hello;
        hello.records = m_ring.end();
        const bool trusted = isPeerTrusted(connection.get());
        m_viewers.emplace_back(std::move(connection), hello, steadySeconds());
        if (!trusted)
            m_viewers.back().refuse(Error(ExitCode::Other, "run.not-yours", "this run belongs to another user"));
        else if (m_viewers.size() > m_options.maxViewers)
            m_viewers.back().refuse(Error(ExitCode::Other, "run.too-many-viewers",
                                          std::to_string(m_options.maxViewers) + " viewers watch this run already; close one (the run's files can be watched all the same)"));
        m_viewerCount = static_cast<int>(m_viewers.size());
    }
}

void ViewerServer::Implementation::spreadNotices()
{
    std::vector<Notice> notices;
    {
        const std::lock_guard lock(m_mutex);
        notices.swap(m_notices);
    }
    for (const Notice &notice : notices) {
        for (Viewer &viewer : m_viewers)
            viewer.notice(notice);
    }
}

void ViewerServer::Implementation::dropTheGone()
{
    const double now = steadySeconds();
    m_viewers.remove_if([&](const Viewer &viewer) {
        return viewer.isGone() || (!viewer.isGreeted() && now - viewer.since() > m_options.handshakeSeconds);
    });
    m_viewerCount = static_cast<int>(m_viewers.size());
}

void ViewerServer::Implementation::tellDrained()
{
    const std::lock_guard lock(m_mutex);
    if (!m_drainWanted || m_drained)
        return;
    m_drained = std::all_of(m_viewers.begin(), m_viewers.end(), [this](const Viewer &v) { return v.hasAll(m_ring); });
    if (m_drained)
        m_progress.notify_all();
}

Result<std::unique_ptr<ViewerServer>> ViewerServer::start(Options options, Handler handler)
{
    auto listener = listenAt(options.socket);
    if (!listener)
        return listener.error();
    Descriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake.get() < 0)
        return ioError("make the wake-up descriptor of", options.socket, errno);
    return std::unique_ptr<ViewerServer>(new ViewerServer(
        std::make_unique<Implementation>(std::move(options), std::move(handler), std::move(*listener), std::move(wake))));
}

ViewerServer::ViewerServer(std::unique_ptr<Implementation> implementation) : m_implementation(std::move(implementation)) {}
ViewerServer::~ViewerServer() = default;
void ViewerServer::publish(std::int64_t number, std::shared_ptr<const std::string> line) { m_implementation->publish(number, std::move(line)); }
void ViewerServer::notice(Notice notice) { m_implementation->notice(std::move(notice)); }
void ViewerServer::drain(double seconds) { m_implementation->drain(seconds); }
const std::filesystem::path &ViewerServer::socket() const { return m_implementation->socket(); }
int ViewerServer::viewerCount() const { return m_implementation->viewerCount(); }

} // namespace stagewright::protocol
