// How a run stands, from its folder.
#include <QtTest>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "core/base/host.h"
#include "core/events/record.h"
#include "core/runlog/run_directory.h"
#include "core/runlog/run_state.h"

using namespace stagewright;
using namespace stagewright::runlog;
namespace fs = std::filesystem;

namespace {

// A process that lives until it is told otherwise, and then is reaped.
class Sleeper
{
public:
    Sleeper()
    {
        // A program of its own, so that signals do to it what they do to a worker and not what the test library makes of them.
        const char *arguments[] = {"sleep", "300", nullptr};
        ::posix_spawnp(&m_pid, arguments[0], nullptr, nullptr, const_cast<char **>(arguments), nullptr);
    }
    ~Sleeper() { if (m_pid > 0) end(SIGKILL); }
    int end(int signal)
    {
        int status = 0;
        ::kill(m_pid, signal);
        ::waitpid(m_pid, &status, 0);
        m_pid = 0;
        return status;
    }
    ProcessIdentity identity() const
    {
        ProcessIdentity identity = thisProcess();
        identity.pid = m_pid;
        identity.startTicks = processStartTicks(m_pid);
        return identity;
    }

private:
    int m_pid = 0;
};

Lease leaseOf(const ProcessIdentity &process)
{
    Lease lease;
    lease.process = process;
    lease.state = "training";
    lease.records = 5;
    lease.step = 12;
    lease.heartbeat = wallSeconds();
    lease.residentBytes = std::int64_t(20) << 30;
    lease.hostAvailableBytes = std::int64_t(100) << 20;
    lease.oomKills = 3;
    return lease;
}

} // namespace

class TestRunState : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void aLeaseSurvives();
    void leasesThatAreNoneAreErrors();
    void itRunsWhileItsProcessLives();
    void aSilentProcessIsRunningAndSilent();
    void aKilledProcessHasDied();
    void aReusedPidIsNotTakenForIt();
    void aRestartOfTheMachineIsNamed();
    void anotherHostIsJudgedByItsHeartbeat();
    void theLeaseTellsTheEnd_data();
    void theLeaseTellsTheEnd();
    void theHistoryTellsTheEndThatTheLeaseCouldNot();
    void withoutALeaseTheFilesSpeak();
    void namesSignalsAndTheKernelsKilling();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestRunState::aLeaseSurvives()
{
    Lease lease = leaseOf(thisProcess());
    lease.socket = "/run/x.sock";
    lease.exit = 7;
    lease.sentence = "stopped";
    for (const bool flush : {false, true}) {
        QVERIFY(writeLease(folder(), lease, flush).ok());
        const auto back = readLease(folder());
        QVERIFY(back.ok());
        QVERIFY(back->process == lease.process);
        QCOMPARE(back->socket, lease.socket);
        QCOMPARE(back->step, lease.step);
        QCOMPARE(*back->exit, 7);
        QCOMPARE(back->sentence, lease.sentence);
    }
    QCOMPARE(std::distance(fs::directory_iterator(folder()), fs::directory_iterator()), std::ptrdiff_t(1));    // no temporary file is left
}

void TestRunState::leasesThatAreNoneAreErrors()
{
    QVERIFY(!readLease(folder()).ok());
    for (const char *text : {"", "{}", "[1]", "{\"pid\":-3}", "{\"pid\":\"x\"}", "{\"pid\":1,\"start_ticks\":-1}", "{\"pid\":99999999999}"}) {
        std::ofstream(leasePath(folder())) << text;
        QVERIFY2(!readLease(folder()).ok(), text);
        QCOMPARE(stateOf(folder()), RunState::Unknown);
    }
}

void TestRunState::itRunsWhileItsProcessLives()
{
    Sleeper sleeper;
    Lease lease = leaseOf(sleeper.identity());
    QVERIFY(writeLease(folder(), lease).ok());
    QCOMPARE(stateOf(folder()), RunState::Running);
    QVERIFY(!conditionOf(folder()).silent);
    lease.state = "starting";
    lease.records = 0;
    QVERIFY(writeLease(folder(), lease).ok());
    QCOMPARE(stateOf(folder()), RunState::Starting);
}

void TestRunState::aSilentProcessIsRunningAndSilent()
{
    Sleeper sleeper;
    Lease lease = leaseOf(sleeper.identity());
    lease.heartbeat -= 100;
    QVERIFY(writeLease(folder(), lease).ok());
    const RunCondition condition = conditionOf(folder());
    QCOMPARE(condition.state, RunState::Running);
    QVERIFY(condition.silent);
    QVERIFY(condition.sentence.find("no sign of life") != std::string::npos);
}

void TestRunState::aKilledProcessHasDied()
{
    Sleeper sleeper;
    QVERIFY(writeLease(folder(), leaseOf(sleeper.identity())).ok());
    sleeper.end(SIGKILL);
    const RunCondition condition = conditionOf(folder());
    QCOMPARE(condition.state, RunState::Died);
    QCOMPARE(*condition.exit, int(ExitCode::WorkerDied));
    QVERIFY2(condition.sentence.find("step 12") != std::string::npos, condition.sentence.c_str());
}

void TestRunState::aReusedPidIsNotTakenForIt()
{
    Sleeper other;
    Lease lease = leaseOf(other.identity());
    lease.process.startTicks -= 1;
    QVERIFY(writeLease(folder(), lease).ok());
    QCOMPARE(stateOf(folder()), RunState::Died);
}

void TestRunState::aRestartOfTheMachineIsNamed()
{
    Lease lease = leaseOf(thisProcess());
    lease.process.bootId = "another-boot";
    QVERIFY(writeLease(folder(), lease).ok());
    const RunCondition condition = conditionOf(folder());
    QCOMPARE(condition.state, RunState::Died);
    QVERIFY2(condition.sentence.find("restarted") != std::string::npos, condition.sentence.c_str());
}

void TestRunState::anotherHostIsJudgedByItsHeartbeat()
{
    Lease lease = leaseOf(thisProcess());
    lease.process.host = "elsewhere";
    lease.process.bootId = "another-boot";
    QVERIFY(writeLease(folder(), lease).ok());
    QCOMPARE(stateOf(folder()), RunState::Running);
    lease.heartbeat -= 30;
    QVERIFY(writeLease(folder(), lease).ok());
    QVERIFY(conditionOf(folder()).silent);
    QCOMPARE(stateOf(folder()), RunState::Running);
    lease.heartbeat -= 1000;
    QVERIFY(writeLease(folder(), lease).ok());
    QCOMPARE(stateOf(folder()), RunState::Died);
    QVERIFY(conditionOf(folder()).sentence.find("elsewhere") != std::string::npos);
}

void TestRunState::theLeaseTellsTheEnd_data()
{
    QTest::addColumn<int>("exit");
    QTest::addColumn<int>("state");
    QTest::newRow("done") << 0 << int(RunState::Finished);
    QTest::newRow("stopped") << 7 << int(RunState::Stopped);
    QTest::newRow("died") << 8 << int(RunState::Died);
    for (int exit = 1; exit <= 6; ++exit)
        QTest::addRow("exit %d", exit) << exit << int(RunState::Failed);
}

void TestRunState::theLeaseTellsTheEnd()
{
    QFETCH(int, exit);
    QFETCH(int, state);
    Lease lease = leaseOf(thisProcess());
    lease.exit = exit;
    lease.sentence = "because";
    QVERIFY(writeLease(folder(), lease).ok());
    const RunCondition condition = conditionOf(folder());
    QCOMPARE(int(condition.state), state);
    QCOMPARE(*condition.exit, exit);
    QCOMPARE(condition.sentence, std::string("because"));
}

void TestRunState::theHistoryTellsTheEndThatTheLeaseCouldNot()
{
    Sleeper sleeper;
    QVERIFY(writeLease(folder(), leaseOf(sleeper.identity())).ok());
    sleeper.end(SIGTERM);
    std::ofstream history(historyPath(folder()));
    for (int step = 0; step < 5000; ++step)
        history << events::toJsonLine({1, step, events::Step{}}) << "\n";
    history << events::toJsonLine({1, -1, events::State{"failed", "the disk is full", 6}}) << "\n";
    history.flush();
    QCOMPARE(stateOf(folder()), RunState::Failed);
    QCOMPARE(conditionOf(folder()).sentence, std::string("the disk is full"));
    history << events::toJsonLine({1, -1, events::Summary{"x", 1, 1, 1, 1, {}, 1, 6}}) << "\n" << "{\"event\":\"no";     // torn
    history.flush();
    const RunCondition condition = conditionOf(folder());
    QCOMPARE(condition.state, RunState::Failed);
    QCOMPARE(*condition.exit, 6);
    QCOMPARE(condition.sentence, std::string("the disk is full"));
}

void TestRunState::withoutALeaseTheFilesSpeak()
{
    QCOMPARE(stateOf(folder()), RunState::Unknown);
    QVERIFY(conditionOf(folder()).sentence.find("not the folder of a run") != std::string::npos);
    std::ofstream(configPath(folder())) << "a: 1\n";
    QCOMPARE(stateOf(folder()), RunState::Starting);
    std::ofstream(historyPath(folder())) << "";
    QCOMPARE(stateOf(folder()), RunState::Starting);       // its worker has yet to write the first lease
    fs::last_write_time(historyPath(folder()), fs::file_time_type::clock::now() - std::chrono::seconds(60));
    QCOMPARE(stateOf(folder()), RunState::Died);
    std::ofstream(historyPath(folder())) << R"({"event":"state","time":1,"state":"finished","exit":0})" << "\n";
    QCOMPARE(stateOf(folder()), RunState::Finished);
}

void TestRunState::namesSignalsAndTheKernelsKilling()
{
    const Lease lease = leaseOf(thisProcess());
    Sleeper killed, aborted, busError;
    const int byKill = killed.end(SIGKILL), byAbort = aborted.end(SIGABRT), byBus = busError.end(SIGBUS);

    const DeathNotice memory = describeDeath(lease, byKill, 4);
    QVERIFY(memory.forWantOfMemory);
    for (const char *part : {"kernel", "memory", "SIGKILL", "step 12", "20.0 GiB", "100 MiB"})
        QVERIFY2(memory.sentence.find(part) != std::string::npos, memory.sentence.c_str());
    QVERIFY(!describeDeath(lease, byKill, 3).forWantOfMemory);
    QVERIFY(describeDeath(lease, byKill, 3).sentence.find("SIGKILL") != std::string::npos);
    QVERIFY(describeDeath(lease, byAbort, 4).sentence.find("SIGABRT") != std::string::npos);
    QVERIFY(describeDeath(lease, byBus, 3).sentence.find("/dev/shm") != std::string::npos);
    QVERIFY(describeDeath(std::nullopt, byKill, 3).sentence.find("SIGKILL") != std::string::npos);
    QVERIFY(describeDeath(lease, std::nullopt, 4).sentence.find("want of memory") != std::string::npos);
    QVERIFY(!describeDeath(lease, std::nullopt, 4).forWantOfMemory);                      // likely, not known
    QVERIFY(describeDeath(lease, 3 << 8, 3).sentence.find("code 3") != std::string::npos);
    QVERIFY(oomKills() >= -1);
}

QTEST_GUILESS_MAIN(TestRunState)
#include "test_run_state.moc"
