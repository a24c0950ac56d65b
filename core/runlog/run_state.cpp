#include "core/runlog/run_state.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/base/units.h"
#include "core/events/record.h"
#include "core/runlog/run_directory.h"

namespace stagewright::runlog {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kTailBytes = 64 << 10;
constexpr double kForeignSilenceSeconds = 60;          // clocks of two hosts may differ by some seconds

std::string tailOf(const fs::path &file)
{
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return {};
    struct stat info {};
    std::string tail;
    if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        tail.resize(static_cast<std::size_t>(std::min<std::int64_t>(info.st_size, kTailBytes)));
        const ssize_t got = ::pread(fd, tail.data(), tail.size(), info.st_size - static_cast<std::int64_t>(tail.size()));
        tail.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    }
    ::close(fd);
    return tail;
}

struct Ending {
    int exit = 0;
    std::string sentence;
};

// The end that the history tells, where it tells one: the last summary or closing state. Our lines begin with their event, so others need no parsing.
std::optional<Ending> endingInHistory(const fs::path &runFolder)
{
    const std::string tail = tailOf(historyPath(runFolder));
    std::optional<Ending> ending;
    for (std::size_t end = tail.rfind('\n'); end != std::string::npos && end > 0;) {
        const std::size_t before = tail.rfind('\n', end - 1);
        const std::size_t begin = before == std::string::npos ? 0 : before + 1;
        const std::string_view line = std::string_view(tail).substr(begin, end - begin);
        end = before;
        const bool isSummary = line.rfind(R"({"event":"summary")", 0) == 0;
        if (!isSummary && line.rfind(R"({"event":"state")", 0) != 0)
            continue;
        const auto record = events::parseRecord(line);
        if (!record)
            continue;
        if (const auto *summary = std::get_if<events::Summary>(&record->payload)) {
            ending = Ending{summary->exit, {}};
        } else if (const auto *state = std::get_if<events::State>(&record->payload)) {
            if (state->exit)
                return Ending{ending ? ending->exit : *state->exit, state->sentence};
            return ending;
        }
    }
    return ending;
}

RunState stateForExit(int exit)
{
    switch (exit) {
    case static_cast<int>(ExitCode::Done): return RunState::Finished;
    case static_cast<int>(ExitCode::Stopped): return RunState::Stopped;
    case static_cast<int>(ExitCode::WorkerDied): return RunState::Died;
    default: return RunState::Failed;
    }
}

void setEnding(RunCondition &condition, int exit, std::string sentence)
{
    condition.exit = exit;
    condition.state = stateForExit(exit);
    condition.sentence = std::move(sentence);
}

void setDied(RunCondition &condition, std::string sentence)
{
    setEnding(condition, static_cast<int>(ExitCode::WorkerDied), std::move(sentence));
}

// A list of a thousand dead runs asks the kernel once, not a thousand times.
std::int64_t recentOomKills()
{
    static std::atomic<double> asked{-1};
    static std::atomic<std::int64_t> count{-1};
    if (steadySeconds() - asked > 0.5) {
        count = oomKills();
        asked = steadySeconds();
    }
    return count;
}

// The signal that the worker itself noted while it crashed, in waitpid()'s form.
std::optional<int> notedDeath(const fs::path &runFolder)
{
    const auto text = readFile(deathPath(runFolder), 16);
    const int signal = text ? std::atoi(text->c_str()) : 0;
    return signal > 0 && signal < 64 ? std::optional<int>(signal) : std::nullopt;
}

void judgeGone(RunCondition &condition, const fs::path &runFolder)
{
    // It may have ended between our reading the lease and looking for its process.
    if (auto again = readLease(runFolder))
        condition.lease = *again;
    if (condition.lease->exit)
        setEnding(condition, *condition.lease->exit, condition.lease->sentence);
    else if (auto told = endingInHistory(runFolder))
        setEnding(condition, told->exit, told->sentence);
    else
        setDied(condition, describeDeath(condition.lease, notedDeath(runFolder), recentOomKills()).sentence);
}

void judgeForeign(RunCondition &condition)
{
    const double age = wallSeconds() - condition.lease->heartbeat;
    condition.state = RunState::Running;
    condition.silent = age > kSilentAfterSeconds;
    if (age > kForeignSilenceSeconds) {
        setDied(condition, "no sign of life for " + formatDuration(age) + " from process " + std::to_string(condition.lease->process.pid) + " on "
                    + condition.lease->process.host + "; it runs on another host or in another container, look there");
    }
}

void judgeAlive(RunCondition &condition)
{
    const Lease &lease = *condition.lease;
    const double age = wallSeconds() - lease.heartbeat;
    condition.state = lease.state == "starting" && lease.records == 0 ? RunState::Starting : RunState::Running;
    condition.silent = age > kSilentAfterSeconds;
    if (condition.silent) {
        condition.sentence = "process " + std::to_string(lease.process.pid) + " lives, but has given no sign of life for " + formatDuration(age)
            + "; it may be suspended, or its disk full or hanging";
    }
}

// Written to so lately that a process which does so cannot be called silent.
bool isYoung(const fs::path &file)
{
    std::error_code failed;
    const auto written = fs::last_write_time(file, failed);
    return !failed && fs::file_time_type::clock::now() - written < std::chrono::duration<double>(kSilentAfterSeconds);
}

} // namespace

fs::path deathPath(const fs::path &runFolder)
{
    return runFolder / "death";
}

const char *runStateName(RunState state)
{
    switch (state) {
    case RunState::Unknown: return "unknown";
    case RunState::Starting: return "starting";
    case RunState::Running: return "running";
    case RunState::Finished: return "finished";
    case RunState::Stopped: return "stopped";
    case RunState::Failed: return "failed";
    case RunState::Died: return "died";
    }
    return "unknown";
}

RunCondition conditionOf(const fs::path &runFolder)
{
    RunCondition condition;
    if (auto lease = readLease(runFolder)) {
        condition.lease = *lease;
        if (lease->exit) {
            setEnding(condition, *lease->exit, lease->sentence);
            return condition;
        }
        switch (livenessOf(lease->process)) {
        case Liveness::Alive: judgeAlive(condition); break;
        case Liveness::Gone: judgeGone(condition, runFolder); break;
        case Liveness::CannotTell: judgeForeign(condition); break;
        }
        return condition;
    }
    std::error_code ignored;
    if (auto told = endingInHistory(runFolder))
        setEnding(condition, told->exit, told->sentence);
    else if (isYoung(historyPath(runFolder)))
        condition.state = RunState::Starting;          // a worker makes its history before its first lease
    else if (fs::exists(historyPath(runFolder), ignored))
        setDied(condition, "the run has a history but no readable lease; its process cannot be found");
    else if (fs::exists(configPath(runFolder), ignored))
        condition.state = RunState::Starting;
    else
        condition.sentence = runFolder.string() + " is not the folder of a run";
    return condition;
}

} // namespace stagewright::runlog
