#include "core/runhost/stop_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace stagewright::runhost {

namespace {

constexpr int kStops[] = {SIGTERM, SIGINT};
constexpr char kEnd = 'e', kSignal = 's';

// The handler may only do what is safe in the middle of anything: write a byte.
std::atomic<int> wakeUpPipe{-1};
struct sigaction before[2];

void onSignal(int)
{
    const int saved = errno;
    const int fd = wakeUpPipe.load();
    if (fd >= 0) {
        [[maybe_unused]] const ssize_t written = ::write(fd, &kSignal, 1);
    }
    errno = saved;
}

} // namespace

StopSignals::StopSignals(std::function<void(int)> callback) : m_callback(std::move(callback))
{
    if (::pipe2(m_pipe, O_CLOEXEC) != 0)
        return;
    wakeUpPipe = m_pipe[1];
    m_thread = std::thread([this] { run(); });
    struct sigaction action {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    for (int at = 0; at < 2; ++at)
        ::sigaction(kStops[at], &action, &before[at]);
}

StopSignals::~StopSignals()
{
    if (!m_thread.joinable())
        return;
    for (int at = 0; at < 2; ++at)
        ::sigaction(kStops[at], &before[at], nullptr);
    wakeUpPipe = -1;
    [[maybe_unused]] const ssize_t written = ::write(m_pipe[1], &kEnd, 1);
    m_thread.join();
    ::close(m_pipe[0]);
    ::close(m_pipe[1]);
}

void StopSignals::run()
{
    int count = 0;
    char what = 0;
    while (true) {
        const ssize_t got = ::read(m_pipe[0], &what, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || what == kEnd)
            return;
        m_callback(++count);
    }
}

} // namespace stagewright::runhost
