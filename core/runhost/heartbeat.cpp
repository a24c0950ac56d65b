#include "core/runhost/heartbeat.h"

#include <chrono>

#include "core/base/host.h"
#include "core/runlog/run_state.h"

namespace stagewright::runhost {

Heartbeat::Heartbeat(std::filesystem::path runFolder, std::function<runlog::Lease()> lease,
                     std::function<void(const std::optional<Error> &)> trouble)
    : m_runFolder(std::move(runFolder)), m_lease(std::move(lease)), m_trouble(std::move(trouble)), m_process(runlog::thisProcess())
{
    m_thread = std::thread([this] { run(); });
}

Heartbeat::~Heartbeat()
{
    if (m_thread.joinable())
        (void)stop(false);
}

void Heartbeat::beatNow()
{
    {
        const std::lock_guard lock(m_mutex);
        m_now = true;
    }
    m_wake.notify_one();
}

Status Heartbeat::stop(bool flush)
{
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
    }
    m_wake.notify_one();
    if (m_thread.joinable())
        m_thread.join();
    return write(flush);
}

Status Heartbeat::write(bool flush)
{
    runlog::Lease lease = m_lease();
    lease.process = m_process;
    lease.heartbeat = wallSeconds();
    lease.residentBytes = residentBytes();
    lease.hostAvailableBytes = hostAvailableBytes();
    lease.oomKills = runlog::oomKills();
    return runlog::writeLease(m_runFolder, lease, flush);
}

void Heartbeat::run()
{
    std::unique_lock lock(m_mutex);
    while (!m_stop) {
        m_now = false;
        lock.unlock();
        const Status written = write(false);
        if (written.ok() == m_inTrouble) {
            m_inTrouble = !written.ok();
            m_trouble(written.ok() ? std::optional<Error>() : written.error());
        }
        lock.lock();
        m_wake.wait_for(lock, std::chrono::duration<double>(runlog::kHeartbeatSeconds), [this] { return m_stop || m_now; });
    }
}

} // namespace stagewright::runhost
