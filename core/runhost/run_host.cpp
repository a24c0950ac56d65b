#include "core/runhost/run_host.h"

#include <atomic>
#include <mutex>

#include "core/base/host.h"
#include "core/base/log.h"
#include "core/base/version.h"
#include "core/protocol/viewer_server.h"
#include "core/runhost/fatal_signals.h"
#include "core/runhost/heartbeat.h"
#include "core/runhost/stop_signals.h"
#include "core/runlog/event_writer.h"
#include "core/runlog/lease.h"
#include "core/runlog/run_state.h"
#include "core/runlog/tensorboard.h"

namespace stagewright::runhost {

namespace {

constexpr double kFlushSeconds = 20;                   // how long the end of a run waits for a slow disk
constexpr double kCloseSeconds = 2;

const char *closingState(int exit)
{
    return exit == static_cast<int>(ExitCode::Done) || exit == static_cast<int>(ExitCode::Stopped) ? "finished" : "failed";
}

// The run's folder must be nobody else's: neither a living process's nor one with a history.
Status ensureFree(const std::filesystem::path &folder)
{
    const auto lease = runlog::readLease(folder);
    const bool isMine = lease && lease->process == runlog::thisProcess();
    if (lease && !isMine && !lease->exit && runlog::livenessOf(lease->process) == runlog::Liveness::Alive) {
        return Error(ExitCode::InputOutput, "run.folder-occupied",
                     folder.string() + " belongs to a run that process " + std::to_string(lease->process.pid)
                         + " is training; attach to it, stop it, or start a run with another exp_name", folder.string());
    }
    return Done{};
}

} // namespace

class RunHost::Implementation
{
public:
    explicit Implementation(Options options) : m_options(std::move(options)) {}
    ~Implementation();

    Status start();
    void report(events::Record record);
    void note(const std::string &level, const std::string &sentence, const std::string &code);
    train::Requests poll();
    void finish(events::Summary summary, const std::string &sentence);
    void requestStop(train::StopRequest stop);
    void requestSave() { m_saveWanted = true; }
    Status updateIdentity(const std::function<void(runlog::RunIdentity &)> &change);

    Options m_options;
    std::string m_socket;
    std::atomic<std::int64_t> m_step{-1}, m_steps{0};
    std::atomic<train::StopRequest> m_stop{train::StopRequest::None};

private:
    Status startServer();
    void onWritten(const runlog::WrittenLine &line);
    void onHistoryTrouble(const std::optional<Error> &error);
    void onSignal(int count);
    protocol::Reply answer(const protocol::Command &command);
    runlog::Lease currentLease();
    std::string stateNow();

    std::mutex m_identityMutex;
    std::mutex m_mutex;
    std::string m_state = "starting";                  // guarded by m_mutex, as the next two
    std::optional<int> m_exit;
    std::string m_endSentence;
    std::atomic<bool> m_saveWanted{false};
    std::atomic<double> m_trainingSign{0};
    bool m_closingStateReported = false;               // guarded by m_mutex
    std::atomic<bool> m_finished{false};

    // In the order in which they are started; they end the other way round.
    std::unique_ptr<runlog::TensorBoardWriter> m_tensorboard;       // the history writer's thread only
    std::unique_ptr<protocol::ViewerServer> m_server;
    std::unique_ptr<runlog::EventWriter> m_history;
    std::unique_ptr<Heartbeat> m_heartbeat;
    std::unique_ptr<StopSignals> m_signals;
};

Status RunHost::Implementation::start()
{
    m_options.folder = std::filesystem::absolute(m_options.folder).lexically_normal();
    if (auto free = ensureFree(m_options.folder); !free)
        return free;
    runlog::RunIdentity &identity = m_options.identity;
    if (identity.id.empty())
        identity.id = runlog::newRunId();
    if (identity.name.empty())
        identity.name = m_options.folder.filename().string();
    if (identity.started == 0)
        identity.started = wallSeconds();
    identity.programVersion = programVersion();
    identity.host = runlog::thisProcess().host;
    m_trainingSign = wallSeconds();

    // The history is made exclusively: of two workers on one folder only one gets past here. Nothing is reported before server and TensorBoard
    // file are in place, since the history's thread uses them.
    auto history = runlog::EventWriter::open(
        runlog::historyPath(m_options.folder), [this](const runlog::WrittenLine &line) { onWritten(line); },
        [this](const std::optional<Error> &error) { onHistoryTrouble(error); });
    if (!history)
        return history.error();
    m_history = std::move(*history);
    if (auto written = runlog::writeIdentity(m_options.folder, identity); !written)
        return written;
    std::vector<events::Note> notes;
    if (auto served = startServer(); !served) {
        notes.push_back({"warning", "viewers must watch the run's files, and a save cannot be asked for: " + served.error().message(),
                         served.error().problem.code});
    }
    if (m_options.tensorboard) {
        if (auto board = runlog::TensorBoardWriter::open(runlog::tensorboardFolder(m_options.folder)))
            m_tensorboard = std::move(*board);
        else
            notes.push_back({"warning", "no TensorBoard file: " + board.error().message(), board.error().problem.code});
    }
    for (const events::Note &one : notes)
        note(one.level, one.sentence, one.code);
    m_heartbeat = std::make_unique<Heartbeat>(m_options.folder, [this] { return currentLease(); }, [this](const std::optional<Error> &error) {
        if (error)
            note("warning", error->message(), error->problem.code);
    });
    if (m_options.handleSignals)
        m_signals = std::make_unique<StopSignals>([this](int count) { onSignal(count); });
    if (m_options.handleSignals)
        noteFatalSignals(m_options.folder);
    return Done{};
}

Status RunHost::Implementation::startServer()
{
    auto path = protocol::socketPathFor(m_options.identity.id);
    if (!path)
        return path.error();
    protocol::ViewerServer::Options options;
    options.socket = *path;
    options.hello.program = programVersion();
    options.hello.runId = m_options.identity.id;
    options.hello.run = m_options.folder.string();
    options.hello.pid = runlog::thisProcess().pid;
    auto server = protocol::ViewerServer::start(std::move(options), [this](const protocol::Command &command) { return answer(command); });
    if (!server)
        return server.error();
    m_socket = path->string();
    m_server = std::move(*server);
    return Done{};
}

RunHost::Implementation::~Implementation()
{
    if (m_heartbeat && !m_finished) {
        events::Summary summary;
        summary.exit = static_cast<int>(ExitCode::Other);
        finish(summary, "the worker ended without reaching the end of the run");
    }
    m_signals.reset();
    m_heartbeat.reset();
    if (m_history)
        (void)m_history->close(kCloseSeconds);         // before the server, which it publishes to
    m_server.reset();
}

void RunHost::Implementation::note(const std::string &level, const std::string &sentence, const std::string &code)
{
    const auto severity = level == "error" ? spdlog::level::err : level == "warning" ? spdlog::level::warn : spdlog::level::info;
    logger("core.run")->log(severity, "{}", sentence);
    report({0, -1, events::Note{level, sentence, code}});
}

void RunHost::Implementation::report(events::Record record)
{
    if (record.time == 0)
        record.time = wallSeconds();
    m_trainingSign = record.time;
    if (std::holds_alternative<events::Step>(record.payload)) {
        m_step = record.step;
        if (++m_steps == m_options.stopAfterSteps)
            requestStop(train::StopRequest::SaveAndStop);
    }
    const auto *state = std::get_if<events::State>(&record.payload);
    if (state) {
        const std::lock_guard lock(m_mutex);
        m_state = state->state;
        m_closingStateReported = m_closingStateReported || state->state == "finished" || state->state == "failed";
        if (state->exit && !state->sentence.empty())
            m_endSentence = state->sentence;
    }
    const bool isState = state != nullptr;
    m_history->append(std::move(record));
    if (isState && m_heartbeat)
        m_heartbeat->beatNow();
}

// On the history's thread, after the record was written.
void RunHost::Implementation::onWritten(const runlog::WrittenLine &line)
{
    if (m_server)
        m_server->publish(line.number, line.line);
    if (!line.record || !m_tensorboard)
        return;
    if (auto written = m_tensorboard->add(*line.record); !written) {
        const Error error = written.error();
        m_tensorboard.reset();
        note("warning", "the TensorBoard file ends here: " + error.message(), error.problem.code);
    }
}

void RunHost::Implementation::onHistoryTrouble(const std::optional<Error> &error)
{
    if (error)
        logger("core.run")->error("{}; records wait in memory, training goes on", error->message());
    else
        logger("core.run")->warn("the history is written again");
    if (m_server && error)
        m_server->notice({error->problem.code, error->message() + "; records wait in memory, training goes on"});
    if (m_server && !error)
        m_server->notice({"run.history-recovered", "the history is written again"});
}

train::Requests RunHost::Implementation::poll()
{
    m_trainingSign = wallSeconds();
    return {m_stop.load(), m_saveWanted.exchange(false)};
}

void RunHost::Implementation::requestStop(train::StopRequest stop)
{
    // A stronger request replaces a weaker one, never the other way round.
    train::StopRequest now = m_stop;
    while (now < stop && !m_stop.compare_exchange_weak(now, stop)) { }
}

void RunHost::Implementation::onSignal(int count)
{
    requestStop(count == 1 ? train::StopRequest::SaveAndStop : train::StopRequest::Now);
    const char *sentence = count == 1 ? "a signal asks to stop: the update is finished and saved; a second signal stops at once" : "a second signal: stopping at once";
    note("info", sentence, "run.signal");
}

// On the server's thread.
protocol::Reply RunHost::Implementation::answer(const protocol::Command &command)
{
    using protocol::CommandKind;
    using protocol::StopMode;
    protocol::Reply reply;
    reply.state = stateNow();
    reply.step = m_step;
    const bool isOver = reply.state == "finished" || reply.state == "failed";
    if (isOver && (command.kind == CommandKind::Save || command.kind == CommandKind::Stop)) {
        reply.error = Error(ExitCode::Other, "run.over", "the run is over (" + reply.state + ")");
    } else if (command.kind == CommandKind::Save) {
        requestSave();
    } else if (command.kind == CommandKind::Stop) {
        requestStop(command.mode == StopMode::Now ? train::StopRequest::Now
                        : command.mode == StopMode::WithoutSaving ? train::StopRequest::StopWithoutSaving : train::StopRequest::SaveAndStop);
        reply.state = "stopping";
    }
    return reply;
}

std::string RunHost::Implementation::stateNow()
{
    const std::lock_guard lock(m_mutex);
    return m_state;
}

runlog::Lease RunHost::Implementation::currentLease()
{
    runlog::Lease lease;
    lease.runId = m_options.identity.id;
    lease.socket = m_socket;
    lease.trainingSign = m_trainingSign;
    lease.step = m_step;
    lease.records = m_history->count();
    const std::lock_guard lock(m_mutex);
    lease.state = m_state;
    lease.exit = m_exit;
    lease.sentence = m_exit ? m_endSentence : std::string();
    return lease;
}

Status RunHost::Implementation::updateIdentity(const std::function<void(runlog::RunIdentity &)> &change)
{
    const std::lock_guard lock(m_identityMutex);
    change(m_options.identity);
    return runlog::writeIdentity(m_options.folder, m_options.identity);
}

void RunHost::Implementation::finish(events::Summary summary, const std::string &sentence)
{
    if (m_finished.exchange(true))
        return;
    if (summary.run.empty())
        summary.run = m_options.folder.string();
    const int exit = summary.exit;
    bool isClosed = false;
    {
        const std::lock_guard lock(m_mutex);
        isClosed = m_closingStateReported;
        if (!sentence.empty())
            m_endSentence = sentence;
    }
    if (!isClosed)
        report({0, m_step, events::State{closingState(exit), sentence, exit}});
    report({0, m_step, std::move(summary)});
    const Status flushed = m_history->flush(kFlushSeconds);
    if (!flushed)
        logger("core.run")->error("the end of the history is not on the disk: {}", flushed.error().message());
    {
        const std::lock_guard lock(m_mutex);
        m_exit = exit;                                 // only now: whoever reads the lease finds the history complete
    }
    if (auto written = m_heartbeat->stop(true); !written)
        logger("core.run")->error("{}", written.error().message());
    if (m_server)
        m_server->drain(m_options.drainSeconds);
}

Result<std::unique_ptr<RunHost>> RunHost::start(Options options)
{
    auto implementation = std::make_unique<Implementation>(std::move(options));
    if (auto started = implementation->start(); !started)
        return started.error();
    return std::unique_ptr<RunHost>(new RunHost(std::move(implementation)));
}

RunHost::RunHost(std::unique_ptr<Implementation> implementation) : m_implementation(std::move(implementation)) {}
RunHost::~RunHost() = default;
void RunHost::report(events::Record record) { m_implementation->report(std::move(record)); }
train::Requests RunHost::poll() { return m_implementation->poll(); }
Status RunHost::updateIdentity(const std::function<void(runlog::RunIdentity &)> &change) { return m_implementation->updateIdentity(change); }
void RunHost::finish(events::Summary summary, const std::string &sentence) { m_implementation->finish(std::move(summary), sentence); }
void RunHost::requestStop(train::StopRequest stop) { m_implementation->requestStop(stop); }
void RunHost::requestSave() { m_implementation->requestSave(); }
const std::filesystem::path &RunHost::folder() const { return m_implementation->m_options.folder; }
const std::string &RunHost::socket() const { return m_implementation->m_socket; }
std::int64_t RunHost::lastStep() const { return m_implementation->m_step; }
bool RunHost::stopsAtOnce() const { return m_implementation->m_stop.load() == train::StopRequest::Now; }
bool RunHost::stopRequested() const { return m_implementation->m_stop.load() != train::StopRequest::None; }

void RunHost::note(const std::string &level, const std::string &sentence, const std::string &code)
{
    m_implementation->note(level, sentence, code);
}

void RunHost::setState(const std::string &state, const std::string &sentence)
{
    report({0, lastStep(), events::State{state, sentence, std::nullopt}});
}

} // namespace stagewright::runhost
