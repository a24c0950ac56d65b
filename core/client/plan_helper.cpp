#include "core/client/plan_helper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/client/client.h"
#include "core/events/json_reader.h"
#include "core/events/json_writer.h"
#include "core/protocol/frame.h"

namespace stagewright::client {

namespace {

constexpr std::size_t kMostAnswerBytes = std::size_t(64) << 20;

std::string howItEnded(const std::optional<int> &status)
{
    if (!status)
        return "closed its connection";
    if (WIFSIGNALED(*status)) {
        return "was ended by " + signalName(WTERMSIG(*status)) + (WTERMSIG(*status) == SIGKILL ? " (the machine may have run out of memory)" : "");
    }
    return "ended with code " + std::to_string(WEXITSTATUS(*status));
}

} // namespace

PlanHelper::~PlanHelper() { stop(); }

void PlanHelper::stop()
{
    m_socket.reset();                          // its input ends: it cancels what it does and goes
    if (!m_child)
        return;
    const double until = steadySeconds() + m_options.endSeconds;
    while (!m_child->status() && steadySeconds() < until)
        ::poll(nullptr, 0, 5);
    m_child->kill();
    m_child.reset();
    m_unsent.clear();
    m_unread.clear();
}

Status PlanHelper::start()
{
    auto program = workerProgram(m_options.worker);
    if (!program)
        return program.error();
    int ends[2];                               // a socket, not pipes: writing to a helper that is gone must not raise a signal
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return ioError("make a connection to", *program, errno);
    protocol::Descriptor ours(ends[0]), childs(ends[1]);
    SpawnRequest request;
    request.arguments = {program->string(), "plan", "--wire", std::to_string(protocol::kWireVersion)};
    request.input = request.output = childs.get();
    request.silentErrors = true;
    auto child = ChildProcess::spawn(request);
    if (!child)
        return child.error();
    ::fcntl(ours.get(), F_SETFL, ::fcntl(ours.get(), F_GETFL) | O_NONBLOCK);
    m_child = std::move(*child);
    m_socket = std::move(ours);
    return Done{};
}

Result<std::int64_t> PlanHelper::ask(events::PlanRequest request)
{
    if (!m_child) {
        if (auto started = start(); !started)
            return started.error();
    }
    request.id = ++m_lastId;
    m_waiting[request.id] = steadySeconds() + m_options.answerSeconds;
    m_unsent += events::toJsonObject(request) + "\n";
    flush();
    return request.id;
}

void PlanHelper::cancel(std::int64_t id)
{
    if (!m_child || !m_waiting.contains(id))
        return;
    events::PlanRequest request;
    request.ask = "cancel";
    request.cancels = id;
    m_unsent += events::toJsonObject(request) + "\n";
    flush();
}

// A helper that is gone is noticed by reading.
void PlanHelper::flush()
{
    while (!m_unsent.empty()) {
        const long sent = protocol::sendSome(m_socket.get(), m_unsent.data(), m_unsent.size());
        if (sent <= 0)
            return;
        m_unsent.erase(0, static_cast<std::size_t>(sent));
    }
}

void PlanHelper::loseHelper(const std::string &why, std::vector<events::PlanAnswer> &answers)
{
    for (const auto &[id, deadline] : m_waiting) {
        events::PlanAnswer answer;
        answer.id = id;
        answer.problem = Error(ExitCode::WorkerDied, "memory.planner-lost", "the planning helper " + why + ", so there is no answer; it is started anew with the next question").problem;
        answers.push_back(std::move(answer));
    }
    m_waiting.clear();
    stop();
}

void PlanHelper::readAnswers(std::vector<events::PlanAnswer> &answers)
{
    char buffer[64 << 10];
    bool ended = false;
    while (m_unread.size() < kMostAnswerBytes) {
        const long got = protocol::receiveSome(m_socket.get(), buffer, sizeof buffer);
        ended = got < 0;
        if (got <= 0)
            break;
        m_unread.append(buffer, static_cast<std::size_t>(got));
    }
    std::size_t begin = 0;
    for (std::size_t end = m_unread.find('\n'); end != std::string::npos; end = m_unread.find('\n', begin)) {
        events::PlanAnswer answer;
        const auto wrong = events::fromJsonObject(std::string_view(m_unread).substr(begin, end - begin), answer);
        begin = end + 1;
        if (!wrong && m_waiting.erase(answer.id) > 0)
            answers.push_back(std::move(answer));
    }
    m_unread.erase(0, begin);
    if (!ended && m_unread.size() < kMostAnswerBytes)
        return;
    std::optional<int> status;
    for (int i = 0; m_child && i < 40 && !(status = m_child->status()); ++i)
        ::poll(nullptr, 0, 5);
    loseHelper(ended ? howItEnded(status) : "answers more than it should", answers);
}

std::vector<events::PlanAnswer> PlanHelper::poll(std::chrono::milliseconds timeout)
{
    std::vector<events::PlanAnswer> answers;
    if (!m_child)
        return answers;
    flush();
    pollfd waiting{m_socket.get(), static_cast<short>(m_unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    ::poll(&waiting, 1, static_cast<int>(timeout.count()));
    flush();
    readAnswers(answers);
    const double now = steadySeconds();
    for (const auto &[id, deadline] : m_waiting) {
        if (now < deadline)
            continue;
        loseHelper("did not answer within " + std::to_string(static_cast<int>(m_options.answerSeconds)) + " s", answers);
        break;
    }
    return answers;
}

Result<events::PlanAnswer> PlanHelper::answerTo(events::PlanRequest request, const std::function<bool()> &keepWaiting)
{
    const auto id = ask(std::move(request));
    if (!id)
        return id.error();
    while (true) {
        for (auto &answer : poll(std::chrono::milliseconds(100))) {
            if (answer.id != *id)
                continue;
            if (!answer.problem)
                return std::move(answer);
            const auto exit = answer.problem->code == "memory.no-fit" ? ExitCode::OutOfMemory : answer.problem->code == "memory.planner-lost" ? ExitCode::WorkerDied
                                  : answer.problem->code == "memory.plan-cancelled" ? ExitCode::Stopped : ExitCode::Usage;
            return Error(exit, std::move(*answer.problem));
        }
        if (keepWaiting && !keepWaiting())
            return Error(ExitCode::Stopped, "memory.plan-cancelled", "stopped waiting for the plan, as asked");
    }
}

} // namespace stagewright::client
