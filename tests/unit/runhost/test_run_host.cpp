// A process as a run: its folder, its commands, its end.
#include <QtTest>

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/protocol/viewer_connection.h"
#include "core/runhost/run_host.h"
#include "core/runlog/event_reader.h"
#include "core/runlog/lease.h"
#include "core/runlog/run_state.h"

using namespace stagewright;
using namespace stagewright::runhost;
namespace fs = std::filesystem;
using train::StopRequest;

class TestRunHost : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }
    void cleanup() { m_host.reset(); }

    void takesAFolderAndKeepsItsLease();
    void aFinishedRunSaysHowItEnded();
    void aRunThatNobodyFinishedHasFailed();
    void anOccupiedFolderIsRefusedAndLeftAlone();
    void aFolderWithAHistoryIsNeverWrittenToAgain();
    void twoWorkersOnOneFolderAreOne();
    void commandsBecomeRequests();
    void signalsBecomeRequests();
    void strongerStopsReplaceWeakerOnes();
    void withoutASocketTheRunGoesOnAndSaysSo();
    void reportingCostsMicroseconds();
    void theMonitorGoesOnWhileTheDiskIsFull();
    void theTrainersOwnEndIsNotSaidTwice();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    Result<std::unique_ptr<RunHost>> tryStart()
    {
        RunHost::Options options;
        options.folder = folder();
        options.handleSignals = m_signals;
        return RunHost::start(std::move(options));
    }
    bool start()
    {
        auto host = tryStart();
        if (host)
            m_host = std::move(*host);
        return host.ok();
    }
    std::vector<events::Record> history() const
    {
        runlog::EventReader reader(runlog::historyPath(folder()));
        return reader.read(100'000, 100 << 20)->records;
    }
    static events::Record step(std::int64_t number)
    {
        events::Step one;
        one.rows = {1, 2};
        return {0, number, one};
    }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<RunHost> m_host;
    bool m_signals = false;
};

void TestRunHost::takesAFolderAndKeepsItsLease()
{
    QVERIFY(start());
    m_host->setState("training");
    m_host->report(step(3));
    QTRY_VERIFY_WITH_TIMEOUT(runlog::readLease(folder()).ok() && runlog::readLease(folder())->step == 3, 10'000);
    const auto lease = runlog::readLease(folder());
    QVERIFY(lease->process == runlog::thisProcess());
    QCOMPARE(lease->socket, m_host->socket());
    QVERIFY(lease->residentBytes > 0);
    QCOMPARE(runlog::stateOf(folder()), runlog::RunState::Running);
    QCOMPARE(runlog::readIdentity(folder())->id, lease->runId);
    const double first = lease->heartbeat;
    QTRY_VERIFY_WITH_TIMEOUT(runlog::readLease(folder())->heartbeat > first + 0.5, 10'000);     // without the training thread's help
    QVERIFY(m_host->updateIdentity([](runlog::RunIdentity &identity) { identity.device = "cpu"; }).ok());
    QCOMPARE(runlog::readIdentity(folder())->device, std::string("cpu"));
}

void TestRunHost::aFinishedRunSaysHowItEnded()
{
    QVERIFY(start());
    m_host->report(step(1));
    events::Summary summary;
    summary.exit = 4;
    m_host->finish(summary, "the checkpoint is damaged");
    const auto condition = runlog::conditionOf(folder());
    QCOMPARE(condition.state, runlog::RunState::Failed);
    QCOMPARE(*condition.exit, 4);
    QCOMPARE(condition.sentence, std::string("the checkpoint is damaged"));
    const auto records = history();
    QCOMPARE(records.size(), std::size_t(3));
    const auto *state = std::get_if<events::State>(&records[1].payload);
    QVERIFY(state && state->state == "failed" && state->exit == 4);
    QVERIFY(std::holds_alternative<events::Summary>(records[2].payload));
    QCOMPARE(condition.lease->records, std::int64_t(3));
    m_host->finish(summary, "again");                              // once is enough
    const std::string socket = m_host->socket();
    m_host.reset();
    QCOMPARE(history().size(), std::size_t(3));
    QVERIFY(!fs::exists(socket));
}

void TestRunHost::aRunThatNobodyFinishedHasFailed()
{
    QVERIFY(start());
    m_host->report(step(1));
    m_host.reset();
    QCOMPARE(runlog::stateOf(folder()), runlog::RunState::Failed);
}

void TestRunHost::anOccupiedFolderIsRefusedAndLeftAlone()
{
    runlog::Lease lease;
    lease.process = runlog::thisProcess();
    lease.process.pid = 1;                                         // a living process that is not this one
    lease.process.startTicks = processStartTicks(1);
    QVERIFY(runlog::writeLease(folder(), lease).ok());
    const auto host = tryStart();
    QVERIFY(!host.ok());
    QCOMPARE(host.error().problem.code, std::string("run.folder-occupied"));
    QCOMPARE(host.error().exit, ExitCode::InputOutput);
    QVERIFY(!fs::exists(runlog::historyPath(folder())));
    QCOMPARE(runlog::readLease(folder())->process.pid, 1);
}

void TestRunHost::aFolderWithAHistoryIsNeverWrittenToAgain()
{
    std::ofstream(runlog::historyPath(folder())) << "{}\n";
    const auto host = tryStart();
    QVERIFY(!host.ok());
    QCOMPARE(host.error().problem.code, std::string("run.folder-occupied"));
    QCOMPARE(*readFile(runlog::historyPath(folder())), std::string("{}\n"));
}

void TestRunHost::twoWorkersOnOneFolderAreOne()
{
    std::atomic<int> started{0}, refused{0};
    std::vector<std::thread> threads;
    std::vector<std::unique_ptr<RunHost>> hosts(4);
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            auto host = tryStart();
            if (host)
                hosts[std::size_t(i)] = std::move(*host);
            ++(host ? started : refused);
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(started.load(), 1);
    QCOMPARE(refused.load(), 3);
}

void TestRunHost::commandsBecomeRequests()
{
    QVERIFY(start());
    m_host->setState("training");
    auto viewer = protocol::ViewerConnection::open(m_host->socket());
    QVERIFY(viewer.ok());
    QVERIFY(viewer->send({1, protocol::CommandKind::Save, {}, 0}).ok());
    bool saved = false;
    QTRY_VERIFY_WITH_TIMEOUT((saved = saved || m_host->poll().save), 10'000);
    QVERIFY(!m_host->poll().save);                                 // asked once, told once
    QVERIFY(viewer->send({2, protocol::CommandKind::Stop, protocol::StopMode::WithoutSaving, 0}).ok());
    QTRY_COMPARE_WITH_TIMEOUT(m_host->poll().stop, StopRequest::StopWithoutSaving, 10'000);
    events::Summary summary;
    summary.exit = 7;
    m_host->finish(summary, {});
    QVERIFY(viewer->send({3, protocol::CommandKind::Save, {}, 0}).ok());
    std::vector<protocol::Reply> replies;
    QTRY_VERIFY_WITH_TIMEOUT([&] {
        const auto messages = viewer->receive();
        for (const auto &message : messages ? *messages : std::vector<protocol::Incoming>()) {
            if (const auto *reply = std::get_if<protocol::Reply>(&message))
                replies.push_back(*reply);
        }
        return replies.size() == 3;
    }(), 10'000);
    QVERIFY(replies[0].ok() && replies[1].ok());
    QCOMPARE(replies[1].state, std::string("stopping"));
    QCOMPARE(replies[2].error->problem.code, std::string("run.over"));
}

void TestRunHost::signalsBecomeRequests()
{
    m_signals = true;
    QVERIFY(start());
    m_signals = false;
    QCOMPARE(m_host->poll().stop, StopRequest::None);
    std::raise(SIGTERM);
    QTRY_COMPARE_WITH_TIMEOUT(m_host->poll().stop, StopRequest::SaveAndStop, 10'000);
    QVERIFY(!m_host->stopsAtOnce());
    std::raise(SIGINT);
    QTRY_COMPARE_WITH_TIMEOUT(m_host->poll().stop, StopRequest::Now, 10'000);
    QVERIFY(m_host->stopsAtOnce());
}

void TestRunHost::strongerStopsReplaceWeakerOnes()
{
    QVERIFY(start());
    m_host->requestStop(StopRequest::StopWithoutSaving);
    m_host->requestStop(StopRequest::SaveAndStop);
    QCOMPARE(m_host->poll().stop, StopRequest::StopWithoutSaving);
    m_host->requestStop(StopRequest::Now);
    QCOMPARE(m_host->poll().stop, StopRequest::Now);
}

void TestRunHost::withoutASocketTheRunGoesOnAndSaysSo()
{
    const QByteArray before = qgetenv("XDG_RUNTIME_DIR");
    const fs::path open = folder() / "open";
    fs::create_directories(open / "stagewright");
    fs::permissions(open / "stagewright", fs::perms::all);         // anybody could put a socket there
    qputenv("XDG_RUNTIME_DIR", QByteArray::fromStdString(open.string()));
    const auto path = [&] { return protocol::ViewerConnection::open(m_host->socket()).ok(); };
    QVERIFY(start());
    before.isNull() ? qunsetenv("XDG_RUNTIME_DIR") : qputenv("XDG_RUNTIME_DIR", before);
    // Either another private folder was found, or there is no socket and a note.
    if (!m_host->socket().empty()) {
        QVERIFY(m_host->socket().find(open.string()) == std::string::npos);
        QVERIFY(path());
        return;
    }
    QTRY_VERIFY_WITH_TIMEOUT(!history().empty(), 10'000);
    QVERIFY(std::get<events::Note>(history()[0].payload).sentence.find("viewers") != std::string::npos);
}

void TestRunHost::reportingCostsMicroseconds()
{
    QVERIFY(start());
    std::vector<protocol::ViewerConnection> viewers;
    for (int i = 0; i < 10; ++i) {                                 // ten that never read
        auto viewer = protocol::ViewerConnection::open(m_host->socket());
        QVERIFY(viewer.ok());
        QVERIFY(viewer->send({0, protocol::CommandKind::Subscribe, {}, 0}).ok());
        viewers.push_back(std::move(*viewer));
    }
    constexpr int count = 20'000;
    const double before = steadySeconds();
    for (int i = 0; i < count; ++i) {
        m_host->report(step(i));
        (void)m_host->poll();
    }
    const double each = (steadySeconds() - before) / count;
    qInfo("a step costs the training thread %.2f us with ten stalled viewers", each * 1e6);
    QVERIFY(each < 1e-3);
    m_host->finish({}, {});
    QCOMPARE(history().size(), std::size_t(count) + 2);
}

void TestRunHost::theMonitorGoesOnWhileTheDiskIsFull()
{
    QVERIFY(start());
    m_host->setState("training");
    auto viewer = protocol::ViewerConnection::open(m_host->socket());
    QVERIFY(viewer.ok());
    QVERIFY(viewer->send({0, protocol::CommandKind::Subscribe, {}, 0}).ok());
    std::int64_t seen = 0;
    bool noticed = false;
    const auto look = [&] {
        const auto messages = viewer->receive();
        for (const auto &message : messages ? *messages : std::vector<protocol::Incoming>()) {
            if (const auto *record = std::get_if<protocol::Record>(&message))
                seen = std::max(seen, record->number + 1);
            noticed = noticed || std::holds_alternative<protocol::Notice>(message);
        }
        return seen;
    };
    QTRY_COMPARE_WITH_TIMEOUT(look(), std::int64_t(1), 10'000);
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit tight{2000, limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &tight);
    for (int i = 0; i < 100; ++i)
        m_host->report(step(i));
    QTRY_VERIFY_WITH_TIMEOUT(look() >= 101 && noticed, 10'000);
    QVERIFY(fs::file_size(runlog::historyPath(folder())) <= 2000);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    m_host->finish({}, {});
    std::int64_t steps = 0;
    for (const events::Record &record : history())
        steps += std::holds_alternative<events::Step>(record.payload);
    QCOMPARE(steps, std::int64_t(100));
}

void TestRunHost::theTrainersOwnEndIsNotSaidTwice()
{
    QVERIFY(start());
    m_host->report({0, 5, events::State{"finished", "stopped as asked", 7}});
    events::Summary summary;
    summary.exit = 7;
    m_host->finish(summary, {});
    QCOMPARE(history().size(), std::size_t(2));
    QCOMPARE(runlog::conditionOf(folder()).sentence, std::string("stopped as asked"));
    QCOMPARE(runlog::stateOf(folder()), runlog::RunState::Stopped);
}

QTEST_GUILESS_MAIN(TestRunHost)
#include "test_run_host.moc"
