// The worker's `cache` task: the builder between standard input and output.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <thread>

#include "core/base/files.h"
#include "core/events/json_reader.h"
#include "core/events/json_writer.h"
#include "core/service/cache_builder.h"

namespace stagewright::service {

namespace {

constexpr std::size_t kMostRequestBytes = 16 << 20;
constexpr int kLookMilliseconds = 100;

// One line, or nothing where the input ends before it.
std::string readLine(int input)
{
    std::string line;
    for (char byte; line.size() < kMostRequestBytes;) {
        const ssize_t got = ::read(input, &byte, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || byte == '\n')
            break;
        line += byte;
    }
    return line;
}

// Nobody listens any more, or somebody wants it to stop.
bool hasEnded(int input)
{
    pollfd waiting{input, POLLIN, 0};
    if (::poll(&waiting, 1, kLookMilliseconds) <= 0)
        return false;
    char byte;
    const ssize_t got = ::read(input, &byte, 1);
    return got == 0 || (got < 0 && errno != EINTR);
}

events::CacheProgress answerTo(const std::string &line, const std::atomic<bool> &stop, const CacheTold &told)
{
    events::CacheRequest request;
    events::CacheProgress answer;
    Result<events::CacheProgress> built = Error(ExitCode::Usage, "run.bad-message", "the worker was asked for a cache with a line that it cannot read");
    if (!events::fromJsonObject(line, request)) {
        try {
            built = buildCache(request, stop, told);
        } catch (const std::exception &error) {
            const std::string text = error.what();
            built = Error(ExitCode::Other, "run.failed", "encoding failed: " + text.substr(0, text.find('\n')));
        }
    }
    if (built)
        return std::move(*built);
    answer.finished = true;
    answer.exit = static_cast<std::int64_t>(built.error().exit);
    answer.problem = built.error().problem;
    return answer;
}

} // namespace

ExitCode runCacheTask()
{
    std::signal(SIGPIPE, SIG_IGN);
    const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    ::dup2(STDERR_FILENO, STDOUT_FILENO);              // whatever libraries print
    const std::string line = readLine(STDIN_FILENO);
    std::atomic<bool> stop{false}, done{false};
    std::jthread watch([&] {
        while (!done && !stop)
            stop = hasEnded(STDIN_FILENO);
    });
    const auto answer = answerTo(line, stop, [&](const events::CacheProgress &progress) {
        if (writeAll(output, events::toJsonObject(progress) + "\n") != 0)
            stop = true;
    });
    done = true;
    return writeAll(output, events::toJsonObject(answer) + "\n") == 0 ? static_cast<ExitCode>(answer.exit) : ExitCode::InputOutput;
}

} // namespace stagewright::service
