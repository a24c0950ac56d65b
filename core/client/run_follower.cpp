extern "C" {          // glibc 2.36 declares these without it
#include <sys/pidfd.h>
}
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/client/child_process.h"
#include "core/client/client.h"
#include "core/client/last_words.h"
#include "core/client/run_watch.h"
#include "core/protocol/viewer_connection.h"
#include "core/runlog/event_reader.h"
#include "core/runlog/run_directory.h"

namespace stagewright::client {

namespace fs = std::filesystem;

class RunFollower::Implementation
{
public:
    Implementation(fs::path folder, std::shared_ptr<ChildProcess> child, Options options, std::unique_ptr<RunWatch> watch)
        : m_folder(std::move(folder)), m_child(std::move(child)), m_options(options), m_watch(std::move(watch)),
          m_reader(runlog::historyPath(m_folder), options.fromRecord)
    {
        m_watch->watchFiles(true);
        m_watch->callAgain();
    }

    News poll(std::chrono::milliseconds timeout);
    std::int64_t command(CommandKind kind, StopMode mode);

    const fs::path m_folder;
    std::shared_ptr<ChildProcess> m_child;
    const Options m_options;
    std::unique_ptr<RunWatch> m_watch;
    Connection m_connection = Connection::Waiting;
    int m_pid = 0;
    std::int64_t next() const { return m_reader.nextRecord(); }

private:
    struct Pending {
        Command command;
        double deadline = 0;
        bool sent = false;
    };

    News look();
    void refreshCondition();
    void readFile(News &news);
    void readSocket(News &news);
    void take(protocol::Incoming message, News &news);
    void takeRecord(protocol::Record record, News &news);
    void takeReply(protocol::Reply reply, News &news);
    void connectIfPossible(News &news);
    void disconnect(const Error &why, News &news);
    void sendPending(News &news);
    bool sendAsSignal(const Command &command);
    void answer(const Command &command, std::optional<Error> error, News &news);
    void expirePending(News &news);
    void findEnding(News &news);
    Ending endingOfChild(int status) const;

    bool isLive() const { return m_socket.has_value(); }

    runlog::EventReader m_reader;
    std::optional<protocol::ViewerConnection> m_socket;
    bool m_subscribed = false;             // records come from the socket; else from the file
    bool m_socketHopeless = false;         // refused or of another version: do not ask again
    std::string m_socketTried;             // path that did not answer, until the lease changes
    runlog::RunCondition m_condition;
    bool m_conditionKnown = false, m_isOver = false, m_fileAtEnd = false;
    std::map<std::int64_t, Pending> m_pending;
    std::int64_t m_nextId = 1;
    std::optional<Ending> m_ending;
};

News RunFollower::Implementation::poll(std::chrono::milliseconds timeout)
{
    const double deadline = steadySeconds() + static_cast<double>(timeout.count()) / 1000;
    while (true) {
        const Connection before = m_connection;
        const bool wasSilent = m_condition.silent;
        News news = look();
        const bool isNews = !news.records.empty() || !news.replies.empty() || !news.notices.empty() || news.ending || news.more
            || news.connection != before || news.silent != wasSilent;
        const double left = deadline - steadySeconds();
        if (isNews || left <= 0)
            return news;
        m_watch->wait(static_cast<int>(left * 1000) + 1);
    }
}

// One look at everything; bounded work, no waiting.
News RunFollower::Implementation::look()
{
    News news;
    const RunWatch::Calls calls = m_watch->take();
    news.first = next();
    if (!m_ending) {
        if (calls.tick || calls.leaseChanged || !m_conditionKnown || m_watch->hasProcessEnded() || (m_child && m_child->status()))
            refreshCondition();
        if (isLive())
            readSocket(news);
        if (!m_subscribed)
            readFile(news);
        connectIfPossible(news);
        sendPending(news);
        expirePending(news);
        findEnding(news);
    } else {
        expirePending(news);
    }
    if (m_ending && !m_pending.empty()) {
        for (const auto pending = std::exchange(m_pending, {}); const auto &[id, one] : pending)
            answer(one.command, Error(ExitCode::Other, "run.over", "the run is over" + (m_ending->sentence.empty() ? "" : ": " + m_ending->sentence)), news);
    }
    if (news.more)
        m_watch->callAgain();
    m_watch->watchSocket(isLive() ? m_socket->descriptor() : -1, isLive() && m_socket->wantsToWrite());
    news.ending = m_ending;
    m_connection = m_ending ? Connection::Ended
        : isLive() && m_subscribed ? Connection::Live
        : !m_fileAtEnd ? Connection::Replaying
        : next() > 0 || m_socketHopeless ? Connection::Tailing : Connection::Waiting;
    news.connection = m_connection;
    news.silent = m_condition.silent;
    return news;
}

void RunFollower::Implementation::refreshCondition()
{
    const bool processGone = m_watch->hasProcessEnded() || (m_child && m_child->status());
    m_condition = runlog::conditionOf(m_folder);
    m_conditionKnown = true;
    m_socketTried.clear();
    if (m_condition.lease) {
        m_pid = m_condition.lease->process.pid;
        m_watch->watchProcess(m_condition.lease->process);
    }
    if (runlog::isOver(m_condition.state) || (m_child && m_child->status() && processGone)) {
        if (!m_isOver)
            m_fileAtEnd = false;           // read once more: the last records may have come since
        m_isOver = true;
    }
}

void RunFollower::Implementation::readFile(News &news)
{
    auto batch = m_reader.read(m_options.recordsPerPoll);
    if (!batch) {
        if (!m_fileAtEnd)
            news.notices.push_back(batch.error().message());
        m_fileAtEnd = true;
        return;
    }
    std::move(batch->records.begin(), batch->records.end(), std::back_inserter(news.records));
    for (const Error &bad : batch->bad)
        news.notices.push_back(bad.message());
    if (batch->skipped > 0)
        news.notices.push_back(std::to_string(batch->skipped) + " events of a newer version of Stagewright were skipped");
    if (batch->lost > 0)
        news.notices.push_back(std::to_string(batch->lost) + " records are missing from the history: the disk was full when they came");
    m_fileAtEnd = batch->atEnd;
    news.more = !batch->atEnd;
}

void RunFollower::Implementation::connectIfPossible(News &news)
{
    if (isLive()) {
        if (!m_subscribed && m_fileAtEnd) {
            // The file was read up to here, so the worker still has what comes next, unless it is very fast; then it says Behind again.
            m_subscribed = true;
            if (auto sent = m_socket->send({0, CommandKind::Subscribe, {}, next()}); !sent)
                disconnect(sent.error(), news);
        }
        return;
    }
    const bool hasSocket = m_condition.lease && !m_condition.lease->socket.empty() && !m_condition.lease->exit;
    if (!hasSocket || m_isOver || m_socketHopeless || m_socketTried == m_condition.lease->socket)
        return;
    // Commands need the socket at once, records only when the file has been read.
    if (!m_fileAtEnd && m_pending.empty())
        return;
    auto opened = protocol::ViewerConnection::open(m_condition.lease->socket);
    if (!opened) {
        m_socketTried = m_condition.lease->socket;
        return;
    }
    m_socket = std::move(*opened);
    m_watch->watchFiles(false);
    m_watch->callAgain();
}

void RunFollower::Implementation::disconnect(const Error &why, News &news)
{
    m_watch->watchSocket(-1, false);
    m_socket.reset();
    m_subscribed = false;
    m_fileAtEnd = false;
    m_watch->watchFiles(true);
    m_watch->callAgain();
    if (why.problem.code != "run.connection-closed") {
        m_socketHopeless = true;
        news.notices.push_back(why.message());
    }
    for (auto one = m_pending.begin(); one != m_pending.end();) {
        if (!one->second.sent) {
            ++one;
            continue;
        }
        answer(one->second.command, Error(ExitCode::Other, "run.connection-closed", "the worker closed the connection before it answered"), news);
        one = m_pending.erase(one);
    }
    refreshCondition();
    m_socketTried = m_condition.lease ? m_condition.lease->socket : std::string();      // not again before the next tick
}

void RunFollower::Implementation::readSocket(News &news)
{
    auto messages = m_socket->receive();
    if (!messages)
        return disconnect(messages.error(), news);
    for (protocol::Incoming &message : *messages)
        take(std::move(message), news);
    if (isLive()) {
        if (auto sent = m_socket->flush(); !sent)
            disconnect(sent.error(), news);
    }
}

void RunFollower::Implementation::take(protocol::Incoming message, News &news)
{
    if (auto *record = std::get_if<protocol::Record>(&message)) {
        takeRecord(std::move(*record), news);
    } else if (auto *reply = std::get_if<protocol::Reply>(&message)) {
        takeReply(std::move(*reply), news);
    } else if (const auto *notice = std::get_if<protocol::Notice>(&message)) {
        news.notices.push_back(notice->sentence);
    } else if (std::holds_alternative<protocol::Behind>(message)) {
        m_subscribed = false;              // the file first, then again
        m_fileAtEnd = false;
    }
}

void RunFollower::Implementation::takeRecord(protocol::Record record, News &news)
{
    if (!m_subscribed || record.number < next())
        return;
    if (record.number > next()) {        // cannot be; if it is, the file knows
        m_subscribed = false;
        m_fileAtEnd = false;
        return;
    }
    m_reader.skipTo(record.number + 1);
    if (record.line.empty()) {
        news.notices.push_back("a record is missing: the disk was full when it came");
        return;
    }
    auto parsed = events::parseRecord(record.line);
    if (parsed)
        news.records.push_back(std::move(*parsed));
    else if (parsed.error().problem.code != "run.unknown-event")
        news.notices.push_back("record " + std::to_string(record.number) + ": " + parsed.error().message());
}

void RunFollower::Implementation::takeReply(protocol::Reply reply, News &news)
{
    const auto found = m_pending.find(reply.id);
    if (found == m_pending.end())
        return;                            // to our own Subscribe, or too late
    m_pending.erase(found);
    news.replies.push_back(std::move(reply));
}

std::int64_t RunFollower::Implementation::command(CommandKind kind, StopMode mode)
{
    const std::int64_t id = m_nextId++;
    m_pending[id] = {{id, kind, mode, 0}, steadySeconds() + m_options.replySeconds, false};
    m_watch->callAgain();
    return id;
}

void RunFollower::Implementation::answer(const Command &command, std::optional<Error> error, News &news)
{
    protocol::Reply reply;
    reply.id = command.id;
    reply.error = std::move(error);
    reply.records = next();
    if (m_condition.lease) {
        reply.state = m_condition.lease->state;
        reply.step = m_condition.lease->step;
        reply.records = std::max(reply.records, m_condition.lease->records);
    }
    news.replies.push_back(std::move(reply));
}

void RunFollower::Implementation::sendPending(News &news)
{
    const bool withoutSocket = m_socketHopeless || (m_condition.lease && m_condition.lease->socket.empty() && m_condition.lease->records > 0);
    for (auto one = m_pending.begin(); one != m_pending.end();) {
        Pending &pending = one->second;
        if (isLive() && !pending.sent) {
            pending.sent = true;
            if (auto sent = m_socket->send(pending.command); !sent)
                return disconnect(sent.error(), news);
        } else if (!isLive() && withoutSocket && !m_isOver) {
            std::optional<Error> error;
            if (!sendAsSignal(pending.command)) {
                error = Error(ExitCode::Other, "run.no-socket",
                              "this run cannot be told so: its worker does not take our commands, and signals can only say \"stop and save\" and \"stop at once\"");
            }
            answer(pending.command, error, news);
            one = m_pending.erase(one);
            continue;
        }
        ++one;
    }
}

// The worker takes the first signal for "stop and save", the second for "at once".
bool RunFollower::Implementation::sendAsSignal(const Command &command)
{
    const bool canBeSaid = command.kind == CommandKind::Stop && command.mode != StopMode::WithoutSaving;
    const int process = m_watch->processDescriptor();
    if (!canBeSaid || process < 0 || ::pidfd_send_signal(process, SIGTERM, nullptr, 0) != 0)
        return false;
    return command.mode != StopMode::Now || ::pidfd_send_signal(process, SIGINT, nullptr, 0) == 0;
}

void RunFollower::Implementation::expirePending(News &news)
{
    const double now = steadySeconds();
    for (auto one = m_pending.begin(); one != m_pending.end();) {
        if (one->second.deadline > now) {
            ++one;
            continue;
        }
        answer(one->second.command, Error(ExitCode::Other, "run.no-answer",
                                          "the worker has not answered within " + std::to_string(static_cast<int>(m_options.replySeconds))
                                              + " s; it may be suspended or stuck, its process is " + std::to_string(m_pid)), news);
        one = m_pending.erase(one);
    }
}

void RunFollower::Implementation::findEnding(News &news)
{
    if (isLive() && m_condition.lease && m_condition.lease->exit && next() >= m_condition.lease->records)
        disconnect(Error(ExitCode::Other, "run.connection-closed", {}), news);         // all is said; no need to wait for the worker's own end
    if (!m_isOver || isLive() || !m_fileAtEnd || news.more)
        return;
    const std::optional<int> status = m_child ? m_child->status() : std::nullopt;
    if (m_child && !status && m_condition.state == RunState::Died)
        return;                            // gone, but not reaped yet: its status says why, at the next look
    if (m_condition.state == RunState::Died || !runlog::isOver(m_condition.state)) {
        m_ending = status ? endingOfChild(*status) : Ending{RunState::Died, static_cast<int>(ExitCode::WorkerDied), m_condition.sentence + lastWords(m_folder)};
    } else {
        m_ending = Ending{m_condition.state, m_condition.exit.value_or(static_cast<int>(ExitCode::Other)), m_condition.sentence};
    }
}

// The child ended and the run directory does not say how.
Ending RunFollower::Implementation::endingOfChild(int status) const
{
    const std::string words = lastWords(m_folder);
    if (WIFEXITED(status) && WEXITSTATUS(status) >= 1 && WEXITSTATUS(status) <= 7)
        return {RunState::Failed, WEXITSTATUS(status), "the worker could not begin" + words};
    return {RunState::Died, static_cast<int>(ExitCode::WorkerDied), runlog::describeDeath(m_condition.lease, status, runlog::oomKills()).sentence + words};
}

const char *connectionName(Connection connection)
{
    switch (connection) {
    case Connection::Waiting: return "waiting";
    case Connection::Replaying: return "replaying";
    case Connection::Live: return "live";
    case Connection::Tailing: return "tailing";
    case Connection::Ended: return "ended";
    }
    return "waiting";
}

Result<std::unique_ptr<RunFollower>> RunFollower::follow(const RunHandle &run, Options options)
{
    auto watch = RunWatch::make(run.folder);
    if (!watch)
        return watch.error();
    auto implementation = std::make_unique<Implementation>(run.folder, run.child, options, std::move(*watch));
    implementation->m_pid = run.pid;
    return std::unique_ptr<RunFollower>(new RunFollower(std::move(implementation)));
}

Result<std::unique_ptr<RunFollower>> RunFollower::attach(const fs::path &runFolder, Options options)
{
    std::error_code ignored;
    if (!runlog::isRunFolder(runFolder) && !fs::exists(runlog::leasePath(runFolder), ignored) && !fs::exists(runlog::historyPath(runFolder), ignored))
        return Error(ExitCode::Usage, "run.not-found", runFolder.string() + " is not the folder of a run", runFolder.string());
    return follow({fs::absolute(runFolder).lexically_normal(), runFolder.filename().string(), 0, nullptr}, options);
}

RunFollower::RunFollower(std::unique_ptr<Implementation> implementation) : m_implementation(std::move(implementation)) {}
RunFollower::~RunFollower() = default;
int RunFollower::descriptor() const { return m_implementation->m_watch->descriptor(); }
News RunFollower::poll(std::chrono::milliseconds timeout) { return m_implementation->poll(timeout); }
std::int64_t RunFollower::command(CommandKind kind, StopMode mode) { return m_implementation->command(kind, mode); }
const fs::path &RunFollower::folder() const { return m_implementation->m_folder; }
Connection RunFollower::connection() const { return m_implementation->m_connection; }
int RunFollower::pid() const { return m_implementation->m_pid; }
std::int64_t RunFollower::nextRecord() const { return m_implementation->next(); }

} // namespace stagewright::client
