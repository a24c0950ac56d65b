// The wake-up calls of a follower: one descriptor for an event loop that is readable whenever there may be something to do.
#pragma once

#include <filesystem>
#include <memory>

#include "core/protocol/socket.h"
#include "core/runlog/lease.h"

namespace stagewright::client {

// One thread. Nothing here blocks but wait().
class RunWatch
{
public:
    static Result<std::unique_ptr<RunWatch>> make(const std::filesystem::path &runFolder);
    RunWatch(const RunWatch &) = delete;
    RunWatch &operator=(const RunWatch &) = delete;

    int descriptor() const { return m_epoll.get(); }
    void wait(int milliseconds);                           // until a wake-up call, at most so long
    struct Calls {
        bool tick = false;                                 // a second is over
        bool filesChanged = false, leaseChanged = false;
    };
    Calls take();                                          // what has called since; quiet again until the next

    void callAgain();                                      // readable at once, until take()
    void watchFiles(bool on);                              // off while a socket tells everything
    void watchSocket(int fd, bool writing);                // -1: none
    void watchProcess(const runlog::ProcessIdentity &process);    // readable as soon as it ends; nothing where it cannot be watched
    int processDescriptor() const { return m_process.get(); }
    bool hasProcessEnded() const;

private:
    RunWatch() = default;
    void add(int fd, unsigned events);

    std::filesystem::path m_folder;
    protocol::Descriptor m_epoll, m_timer, m_again, m_inotify, m_process;
    int m_folderWatch = -1;
    int m_socket = -1;
    bool m_socketWriting = false;
};

} // namespace stagewright::client
