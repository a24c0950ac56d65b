// Finding the worker, and asking it questions that need no run.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/base/paths.h"
#include "core/client/child_process.h"
#include "core/client/client.h"
#include "core/protocol/socket.h"

namespace stagewright::client {

namespace fs = std::filesystem;

namespace {

constexpr const char *kWorkerName = "stagewright-worker";
constexpr std::size_t kMaxAnswerBytes = 1 << 20;

fs::path candidate(const fs::path &asked)
{
    if (!asked.empty())
        return asked;
    if (const char *set = std::getenv("STAGEWRIGHT_WORKER"); set && *set)
        return set;
    return executableFolder() / kWorkerName;
}

// Everything that comes out until the end, the limit or the deadline.
std::string readUntil(int fd, double deadline, bool &inTime)
{
    std::string text;
    char buffer[16 << 10];
    while (text.size() < kMaxAnswerBytes) {
        const double left = deadline - steadySeconds();
        pollfd waiting{fd, POLLIN, 0};
        if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left * 1000) + 1) == 0) {
            inTime = false;
            return text;
        }
        const ssize_t got = ::read(fd, buffer, sizeof buffer);
        if (got == 0)
            break;
        if (got > 0)
            text.append(buffer, static_cast<std::size_t>(got));
    }
    inTime = true;
    return text;
}

} // namespace

Result<fs::path> workerProgram(const fs::path &asked)
{
    const fs::path program = candidate(asked);
    std::error_code ignored;
    if (!fs::exists(program, ignored)) {
        return Error(ExitCode::Other, "env.worker-missing", "the training program " + program.string() + " is missing; build or install it (packaging/run does), "
                         "or set STAGEWRIGHT_WORKER to where it is", program.string());
    }
    if (!fs::is_regular_file(program, ignored) || ::access(program.c_str(), X_OK) != 0)
        return Error(ExitCode::Other, "env.worker-missing", "the training program " + program.string() + " is not executable; reinstall or rebuild Stagewright", program.string());
    return fs::absolute(program, ignored);
}

Result<std::string> probeDevices(std::chrono::milliseconds deadline, const fs::path &worker)
{
    auto program = workerProgram(worker);
    if (!program)
        return program.error();
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return ioError("make a pipe for", *program, errno);
    const protocol::Descriptor reading(ends[0]);
    protocol::Descriptor writing(ends[1]);
    SpawnRequest request{{program->string(), "probe"}, {}, writing.get()};
    auto child = ChildProcess::spawn(request);
    writing.reset();
    if (!child)
        return child.error();
    bool inTime = false;
    const std::string text = readUntil(reading.get(), steadySeconds() + double(deadline.count()) / 1000, inTime);
    if (!inTime) {
        (*child)->kill();
        return Error(ExitCode::Other, "env.probe-failed", program->string() + " probe did not answer within " + std::to_string(deadline.count() / 1000)
                         + " s; the machine may be busy or a driver may hang");
    }
    // Libraries may print in front of it; the answer is the line that is an object.
    for (std::size_t begin = text.find('{'); begin != std::string::npos; begin = text.find("\n{", begin)) {
        begin += text[begin] == '\n';
        const std::string line = text.substr(begin, text.find('\n', begin) - begin);
        if (line.back() == '}')
            return line;
        ++begin;
    }
    return Error(ExitCode::Other, "env.probe-failed", program->string() + " probe did not say which devices there are"
                     + (text.empty() ? std::string() : ": " + text.substr(0, 300)) + "; reinstall or rebuild Stagewright");
}

} // namespace stagewright::client
