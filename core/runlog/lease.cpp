#include "core/runlog/lease.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/events/json_reader.h"
#include "core/events/json_writer.h"

namespace stagewright::runlog {

namespace fs = std::filesystem;

namespace {

std::string firstLine(const char *path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::string hostName()
{
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

// As replaceFile, but without waiting for the disk: a heartbeat that is lost in a power cut has nothing left to say.
Status replaceWithoutFlush(const fs::path &path, const std::string &content)
{
    const fs::path temporary = path.string() + ".tmp-" + std::to_string(::getpid());
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return ioError("write", temporary, errno);
    const ssize_t written = ::write(fd, content.data(), content.size());
    int failed = written == static_cast<ssize_t>(content.size()) ? 0 : written < 0 ? errno : ENOSPC;
    if (::close(fd) != 0 && failed == 0)
        failed = errno;
    if (failed == 0 && ::rename(temporary.c_str(), path.c_str()) != 0)
        failed = errno;
    if (failed == 0)
        return Done{};
    ::unlink(temporary.c_str());
    return ioError("write", path, failed);
}

} // namespace

void fields(events::Is<Lease> auto &l, auto &visit)
{
    visit("pid", l.process.pid);
    visit("start_ticks", l.process.startTicks);
    visit("boot_id", l.process.bootId);
    visit("pid_namespace", l.process.pidNamespace);
    visit("host", l.process.host);
    visit("run_id", l.runId);
    visit("socket", l.socket);
    visit("heartbeat", l.heartbeat);
    visit("training_sign", l.trainingSign);
    visit("state", l.state);
    visit("step", l.step);
    visit("records", l.records);
    visit("resident_bytes", l.residentBytes);
    visit("host_available_bytes", l.hostAvailableBytes);
    visit("oom_kills", l.oomKills);
    visit("exit", l.exit);
    visit("sentence", l.sentence);
}

ProcessIdentity thisProcess()
{
    static const ProcessIdentity machine = [] {
        ProcessIdentity identity;
        identity.bootId = firstLine("/proc/sys/kernel/random/boot_id");
        identity.host = hostName();
        std::error_code ignored;
        identity.pidNamespace = fs::read_symlink("/proc/self/ns/pid", ignored).string();
        return identity;
    }();
    ProcessIdentity identity = machine;
    identity.pid = ::getpid();                          // after a fork another
    identity.startTicks = processStartTicks(identity.pid);
    return identity;
}

Liveness livenessOf(const ProcessIdentity &process)
{
    static const ProcessIdentity here = thisProcess();
    if (process.bootId != here.bootId)
        return process.host == here.host ? Liveness::Gone : Liveness::CannotTell;       // this machine was restarted since
    if (process.pidNamespace != here.pidNamespace)
        return Liveness::CannotTell;
    return isSameProcessAlive(process.pid, process.startTicks) ? Liveness::Alive : Liveness::Gone;
}

fs::path leasePath(const fs::path &runFolder)
{
    return runFolder / "lease";
}

Status writeLease(const fs::path &runFolder, const Lease &lease, bool flush)
{
    const std::string text = events::toJsonObject(lease) + "\n";
    return flush ? replaceFile(leasePath(runFolder), text) : replaceWithoutFlush(leasePath(runFolder), text);
}

Result<Lease> readLease(const fs::path &runFolder)
{
    const fs::path file = leasePath(runFolder);
    auto text = readFile(file, 64 << 10);
    if (!text)
        return text.error();
    Lease lease;
    auto wrong = events::fromJsonObject(*text, lease);
    if (!wrong && lease.process.pid <= 0)
        wrong = "it names no process";
    if (wrong)
        return Error(ExitCode::InputOutput, "run.bad-lease", file.string() + " is not the lease of a run: " + *wrong, file.string());
    return lease;
}

} // namespace stagewright::runlog
