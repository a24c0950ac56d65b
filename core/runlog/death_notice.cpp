// What can be said about a worker that had no chance to say it itself.
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "core/base/host.h"
#include "core/base/units.h"
#include "core/runlog/run_state.h"

namespace stagewright::runlog {

namespace {

std::string lastSigns(const std::optional<Lease> &lease)
{
    if (!lease || lease->residentBytes <= 0)
        return {};
    return "; a moment before, it held " + formatBytes(double(lease->residentBytes)) + " and the machine had "
        + formatBytes(double(lease->hostAvailableBytes)) + " left";
}

std::string after(const std::optional<Lease> &lease)
{
    return lease && lease->step >= 0 ? " after step " + std::to_string(lease->step) : "";
}

std::string sharedMemoryLeft()
{
    struct statvfs info {};
    if (::statvfs("/dev/shm", &info) != 0)
        return {};
    return "; shared memory (/dev/shm) has " + formatBytes(double(info.f_bavail) * double(info.f_frsize)) + " free";
}

const char *kWantOfMemoryAdvice = "; take a smaller batch, less prefetching or a smaller activation buffer, or close other programs, and resume from the last checkpoint";
const char *kLogsAdvice = "; train.log and console.log in the run's folder have its last words";

DeathNotice bySignal(int signal, const std::optional<Lease> &lease, std::int64_t oomKillsNow)
{
    const std::string name = signalName(signal);
    if (signal == SIGKILL && lease && lease->oomKills >= 0 && oomKillsNow > lease->oomKills)
        return {true, "the kernel killed the worker for want of memory (" + name + ")" + after(lease) + lastSigns(lease) + kWantOfMemoryAdvice};
    if (signal == SIGKILL)
        return {false, "the worker was killed by " + name + after(lease) + lastSigns(lease) + "; somebody or some supervisor ended it, resume from the last checkpoint"};
    if (signal == SIGBUS) {
        return {false, "the worker died of " + name + after(lease) + sharedMemoryLeft() + lastSigns(lease)
                    + "; this happens when shared memory or the disk under a mapped file runs out"};
    }
    return {false, "the worker died of " + name + after(lease) + lastSigns(lease) + kLogsAdvice};
}

} // namespace

std::int64_t oomKills()
{
    std::ifstream file("/proc/vmstat");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("oom_kill ", 0) == 0)
            return std::strtoll(line.c_str() + 9, nullptr, 10);
    }
    return -1;
}

DeathNotice describeDeath(const std::optional<Lease> &lease, std::optional<int> waitStatus, std::int64_t oomKillsNow)
{
    if (waitStatus && WIFSIGNALED(*waitStatus))
        return bySignal(WTERMSIG(*waitStatus), lease, oomKillsNow);
    if (waitStatus && WIFEXITED(*waitStatus)) {
        return {false, "the worker ended with code " + std::to_string(WEXITSTATUS(*waitStatus)) + after(lease) + " without saying why" + kLogsAdvice};
    }
    const bool sameBoot = lease && lease->process.bootId == thisProcess().bootId;
    if (lease && !sameBoot && lease->process.host == thisProcess().host)
        return {false, "the machine was restarted while the worker ran" + (after(lease).empty() ? "" : "," + after(lease)) + "; resume from the last checkpoint"};
    if (sameBoot && lease->oomKills >= 0 && oomKillsNow > lease->oomKills) {
        return {false, "the worker is gone" + after(lease) + " and could not say why, but the kernel has killed a process for want of memory since"
                    + lastSigns(lease) + kWantOfMemoryAdvice};
    }
    return {false, "the worker is gone" + after(lease) + " and could not say why" + lastSigns(lease) + kLogsAdvice};
}

} // namespace stagewright::runlog
