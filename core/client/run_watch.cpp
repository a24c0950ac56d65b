#include "core/client/run_watch.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
extern "C" {          // glibc 2.36 declares these without it
#include <sys/pidfd.h>
}
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/files.h"
#include "core/base/host.h"

namespace stagewright::client {

namespace {

void drain(int fd)
{
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(fd, &count, sizeof count);
}

} // namespace

Result<std::unique_ptr<RunWatch>> RunWatch::make(const std::filesystem::path &runFolder)
{
    std::unique_ptr<RunWatch> watch(new RunWatch);
    watch->m_folder = runFolder;
    watch->m_epoll = protocol::Descriptor(::epoll_create1(EPOLL_CLOEXEC));
    watch->m_timer = protocol::Descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
    watch->m_again = protocol::Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (watch->m_epoll.get() < 0 || watch->m_timer.get() < 0 || watch->m_again.get() < 0)
        return ioError("watch", runFolder, errno);
    const itimerspec everySecond{{1, 0}, {1, 0}};
    ::timerfd_settime(watch->m_timer.get(), 0, &everySecond, nullptr);
    watch->add(watch->m_timer.get(), EPOLLIN);
    watch->add(watch->m_again.get(), EPOLLIN);
    // Where the system has no watches left, the tick alone does: slower, but nothing is missed.
    watch->m_inotify = protocol::Descriptor(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (watch->m_inotify.get() >= 0)
        watch->add(watch->m_inotify.get(), EPOLLIN);
    return watch;
}

void RunWatch::add(int fd, unsigned events)
{
    epoll_event event{};
    event.events = events;
    event.data.fd = fd;
    ::epoll_ctl(m_epoll.get(), EPOLL_CTL_ADD, fd, &event);
}

void RunWatch::wait(int milliseconds)
{
    epoll_event events[8];
    [[maybe_unused]] const int count = ::epoll_wait(m_epoll.get(), events, 8, milliseconds);
}

RunWatch::Calls RunWatch::take()
{
    Calls calls;
    std::uint64_t ticks = 0;
    calls.tick = ::read(m_timer.get(), &ticks, sizeof ticks) == sizeof ticks;
    drain(m_again.get());
    alignas(inotify_event) char buffer[16 << 10];
    for (ssize_t got; m_inotify.get() >= 0 && (got = ::read(m_inotify.get(), buffer, sizeof buffer)) > 0;) {
        for (ssize_t at = 0; at < got;) {
            const auto *event = reinterpret_cast<const inotify_event *>(buffer + at);
            const bool isLease = event->len > 0 && std::strcmp(event->name, "lease") == 0;
            calls.leaseChanged = calls.leaseChanged || isLease;
            calls.filesChanged = calls.filesChanged || !isLease;
            at += static_cast<ssize_t>(sizeof(inotify_event)) + event->len;
        }
    }
    return calls;
}

void RunWatch::callAgain()
{
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(m_again.get(), &one, sizeof one);
}

void RunWatch::watchFiles(bool on)
{
    if (m_inotify.get() < 0 || on == (m_folderWatch >= 0))
        return;
    if (on) {
        m_folderWatch = ::inotify_add_watch(m_inotify.get(), m_folder.c_str(), IN_MODIFY | IN_CREATE | IN_MOVED_TO);
    } else {
        ::inotify_rm_watch(m_inotify.get(), m_folderWatch);
        m_folderWatch = -1;
    }
}

void RunWatch::watchSocket(int fd, bool writing)
{
    if (fd == m_socket && writing == m_socketWriting)
        return;
    epoll_event event{};
    event.events = EPOLLIN | (writing ? unsigned(EPOLLOUT) : 0U);
    event.data.fd = fd;
    if (m_socket >= 0 && fd != m_socket)
        ::epoll_ctl(m_epoll.get(), EPOLL_CTL_DEL, m_socket, nullptr);
    if (fd >= 0)
        ::epoll_ctl(m_epoll.get(), fd == m_socket ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    m_socket = fd;
    m_socketWriting = writing;
}

void RunWatch::watchProcess(const runlog::ProcessIdentity &process)
{
    if (m_process.get() >= 0 || runlog::livenessOf(process) != runlog::Liveness::Alive)
        return;
    protocol::Descriptor descriptor(::pidfd_open(process.pid, 0));
    // Asked again: between the look and the opening the pid could have been given to another process.
    if (descriptor.get() < 0 || runlog::livenessOf(process) != runlog::Liveness::Alive)
        return;
    m_process = std::move(descriptor);
    add(m_process.get(), EPOLLIN | EPOLLONESHOT);          // once is enough: its end does not go away
}

bool RunWatch::hasProcessEnded() const
{
    pollfd waiting{m_process.get(), POLLIN, 0};
    return m_process.get() >= 0 && ::poll(&waiting, 1, 0) == 1;
}

} // namespace stagewright::client
