#include "core/base/host.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

namespace stagewright {

namespace {

std::int64_t meminfo(const char *field)
{
    std::ifstream file("/proc/meminfo");
    std::string name;
    std::int64_t kib = 0;
    std::string rest;
    while (file >> name >> kib && std::getline(file, rest)) {
        if (name == field)
            return kib * 1024;
    }
    return 0;
}

// Number in a control-group file, or fallback where there is none or it says "max".
std::int64_t cgroupNumber(const char *path, std::int64_t fallback)
{
    std::ifstream file(path);
    std::int64_t number = 0;
    return file >> number ? number : fallback;
}

// Fields of /proc/PID/stat after the name, which may hold spaces and parentheses: field 3 (state) is index 0.
std::string statAfterName(int pid)
{
    std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    std::getline(file, line);
    const auto close = line.rfind(')');
    return close == std::string::npos ? std::string() : line.substr(close + 2);
}

} // namespace

double wallSeconds()
{
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

double steadySeconds()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t hostTotalBytes()
{
    const std::int64_t total = meminfo("MemTotal:");
    return std::min(total, cgroupNumber("/sys/fs/cgroup/memory.max", total));
}

std::int64_t hostAvailableBytes()
{
    const std::int64_t available = meminfo("MemAvailable:");
    const std::int64_t limit = cgroupNumber("/sys/fs/cgroup/memory.max", -1);
    if (limit < 0)
        return available;
    return std::min(available, std::max<std::int64_t>(0, limit - cgroupNumber("/sys/fs/cgroup/memory.current", 0)));
}

std::int64_t residentBytes()
{
    std::ifstream file("/proc/self/statm");
    std::int64_t size = 0, resident = 0;
    file >> size >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

std::uint64_t processStartTicks(int pid)
{
    std::istringstream fields(statAfterName(pid));
    std::string skipped;
    for (int i = 0; i < 19; ++i)
        fields >> skipped;
    std::uint64_t ticks = 0;
    fields >> ticks;
    return fields ? ticks : 0;
}

bool isSameProcessAlive(int pid, std::uint64_t startTicks)
{
    if (pid <= 0)
        return false;
    const std::string fields = statAfterName(pid);
    return !fields.empty() && fields[0] != 'Z' && fields[0] != 'X' && processStartTicks(pid) == startTicks;
}

std::string signalName(int signal)
{
    if (const char *name = sigabbrev_np(signal))
        return std::string("SIG") + name;
    return "signal " + std::to_string(signal);
}

} // namespace stagewright
