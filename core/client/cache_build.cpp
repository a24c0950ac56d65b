#include "core/client/cache_build.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/client/child_process.h"
#include "core/client/client.h"
#include "core/events/json_reader.h"
#include "core/events/json_writer.h"
#include "core/protocol/frame.h"
#include "core/protocol/socket.h"

namespace stagewright::client {

namespace {

constexpr int kLookMilliseconds = 100;
constexpr double kEndSeconds = 5;              // from the end of its output to the end of the process

// Whole lines out of what comes in pieces; the last progress that they told.
class ProgressReader
{
public:
    // False: the connection is over.
    bool read(int socket)
    {
        char buffer[64 << 10];
        const long got = protocol::receiveSome(socket, buffer, sizeof buffer);
        if (got < 0)
            return false;
        m_unread.append(buffer, static_cast<std::size_t>(got));
        std::size_t begin = 0;
        for (std::size_t end = m_unread.find('\n'); end != std::string::npos; end = m_unread.find('\n', begin)) {
            events::CacheProgress progress;
            if (!events::fromJsonObject(std::string_view(m_unread).substr(begin, end - begin), progress))
                last = std::move(progress);
            begin = end + 1;
        }
        m_unread.erase(0, begin);
        return true;
    }
    events::CacheProgress last;

private:
    std::string m_unread;
};

Error workerGone(ChildProcess &child)
{
    std::optional<int> status;
    for (const double until = steadySeconds() + kEndSeconds; !(status = child.status()) && steadySeconds() < until;)
        ::poll(nullptr, 0, 20);
    const std::string how = !status ? "closed its connection" : WIFSIGNALED(*status) ? "was ended by " + signalName(WTERMSIG(*status))
                            + (WTERMSIG(*status) == SIGKILL ? " (the machine may have run out of memory)" : "") : "ended with code " + std::to_string(WEXITSTATUS(*status));
    return Error(ExitCode::WorkerDied, "run.encoder-lost", "the worker that encodes " + how + "; what it has made stays, and building again goes on from there");
}

} // namespace

Result<events::CacheProgress> buildCache(const events::CacheRequest &request, const std::function<bool(const events::CacheProgress &)> &progress, const std::filesystem::path &worker)
{
    const auto program = workerProgram(worker);
    if (!program)
        return program.error();
    int ends[2];                               // a socket: writing to a worker that is gone must not raise a signal
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return ioError("make a connection to", *program, errno);
    const protocol::Descriptor ours(ends[0]);
    protocol::Descriptor childs(ends[1]);
    SpawnRequest spawn;
    spawn.arguments = {program->string(), "cache", "--wire", std::to_string(protocol::kWireVersion)};
    spawn.input = spawn.output = childs.get();
    spawn.silentErrors = true;
    const auto child = ChildProcess::spawn(spawn);
    childs.reset();
    if (!child)
        return child.error();
    const std::string question = events::toJsonObject(request) + "\n";
    for (std::size_t sent = 0; sent < question.size();) {
        const long some = protocol::sendSome(ours.get(), question.data() + sent, question.size() - sent);
        if (some < 0)
            return workerGone(**child);
        sent += static_cast<std::size_t>(some);
    }
    ProgressReader reader;
    bool asked = false;
    while (!reader.last.finished) {
        pollfd waiting{ours.get(), POLLIN, 0};
        if (::poll(&waiting, 1, kLookMilliseconds) > 0 && !reader.read(ours.get()))
            return workerGone(**child);
        if (!asked && progress && !progress(reader.last)) {
            asked = true;
            ::shutdown(ours.get(), SHUT_WR);   // its input ends: it finishes what it works on
        }
    }
    if (reader.last.problem)
        return Error(static_cast<ExitCode>(reader.last.exit), *reader.last.problem);
    return std::move(reader.last);
}

} // namespace stagewright::client
