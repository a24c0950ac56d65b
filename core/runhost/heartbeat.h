// Writes the lease once a second from a thread of its own, whatever the training thread does.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/runlog/lease.h"

namespace stagewright::runhost {

class Heartbeat
{
public:
    // `lease` is asked on the heartbeat's thread; process, time, memory and the kernel's counter are filled in here.
    // `trouble` is told once when a lease cannot be written and once (without an error) when it can again.
    Heartbeat(std::filesystem::path runFolder, std::function<runlog::Lease()> lease, std::function<void(const std::optional<Error> &)> trouble);
    ~Heartbeat();
    Heartbeat(const Heartbeat &) = delete;
    Heartbeat &operator=(const Heartbeat &) = delete;

    void beatNow();                        // from any thread: something worth knowing has changed
    Status stop(bool flush);               // ends the thread and writes the last lease

private:
    void run();
    Status write(bool flush);

    const std::filesystem::path m_runFolder;
    const std::function<runlog::Lease()> m_lease;
    const std::function<void(const std::optional<Error> &)> m_trouble;
    const runlog::ProcessIdentity m_process;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_stop = false, m_now = false;
    bool m_inTrouble = false;              // the heartbeat's thread only
    std::thread m_thread;
};

} // namespace stagewright::runhost
