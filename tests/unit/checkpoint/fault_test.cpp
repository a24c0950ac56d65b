// A disk that fails at any call, fills up, lies, or is slow: the failure surfaces, the older checkpoint stays, nothing half-made is offered.
#include <QTest>

#include <cerrno>
#include <fstream>
#include <thread>

#include <sys/mount.h>

#include "core/checkpoint/load.h"
#include "core/checkpoint/writer.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/leftovers.h"
#include "core/ckptfile/listing.h"
#include "core/config/stage.h"
#include "faulty_files.h"
#include "small_state.h"

using namespace stagewright;
using namespace stagewright::checkpoint;
using namespace stagewright::tests;
namespace fs = std::filesystem;

class FaultTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_run;
    FaultyFiles m_files;
    TrainingState m_state;

    WriterSettings settings()
    {
        WriterSettings with;
        with.files = &m_files;
        return with;
    }
    static SaveOptions options(bool async)
    {
        SaveOptions with;
        with.async = async;
        with.keepNewest = 1;
        return with;
    }
    // One save through a fresh writer; begin's own error becomes the outcome's.
    SaveOutcome save(const TrainingState &state, const SaveOptions &with)
    {
        CheckpointWriter writer(settings());
        if (Status begun = writer.begin(state, m_run, with); !begun) {
            SaveOutcome outcome;
            outcome.error = begun.error();
            return outcome;
        }
        if (!writer.waitForSnapshot() || !writer.finish(std::chrono::seconds(60)))
            qFatal("a save hangs");
        return writer.takeOutcomes().at(0);
    }
    std::string newest(const TrainingState &wanted)
    {
        TrainingState loaded = emptyLike(wanted);
        const auto report = loadCheckpoint(m_run.string(), loaded);
        return report ? difference(wanted, loaded) : report.error().message();
    }

private Q_SLOTS:
    void init()
    {
        // Flushes cost nothing there; the order of calls is what counts here.
        m_temporary = std::make_unique<QTemporaryDir>(fs::exists("/dev/shm") ? QStringLiteral("/dev/shm/stagewright-XXXXXX") : QString());
        m_run = m_temporary->path().toStdString();
        m_files.reset();
        m_state = makeState();
    }

    // Every single call of the second save fails once: in a new step, and over the same step with and without an atomic exchange.
    void keepsTheOlderOneWhateverCallFails_data()
    {
        QTest::addColumn<int>("error");
        QTest::addColumn<bool>("onwards");
        QTest::addColumn<bool>("sameStep");
        QTest::addColumn<bool>("withoutExchange");
        QTest::addColumn<bool>("async");
        QTest::newRow("EIO once") << EIO << false << false << false << true;
        QTest::newRow("disk full from there on") << ENOSPC << true << false << false << true;
        QTest::newRow("EIO once, same step") << EIO << false << true << false << true;
        QTest::newRow("EIO once, same step, two renames") << EIO << false << true << true << true;
        QTest::newRow("quota, synchronous") << EDQUOT << true << false << false << false;
    }
    void keepsTheOlderOneWhateverCallFails()
    {
        QFETCH(int, error);
        QFETCH(bool, onwards);
        QFETCH(bool, sameStep);
        QFETCH(bool, withoutExchange);
        QFETCH(bool, async);
        const TrainingState first = cloneOf(m_state);
        QVERIFY(!save(first, options(async)).error);
        TrainingState second = cloneOf(first);
        moveOn(second, sameStep ? first.counters.updates : first.counters.updates + 1);
        std::int64_t failures = 0;
        for (std::int64_t call = 0; call < 500; ++call) {
            m_files.reset();
            m_files.failWith = error;
            m_files.failOnwards = onwards;
            m_files.withoutExchange = withoutExchange;
            m_files.failAt = call;
            const SaveOutcome outcome = save(second, options(async));
            const bool reached = m_files.calls() > call;
            m_files.reset();
            const std::string asFirst = newest(first), asSecond = newest(second);
            QVERIFY2(asFirst.empty() || asSecond.empty(), (std::to_string(call) + ": " + asFirst).c_str());
            if (!reached)
                break;
            failures += outcome.error.has_value();
            if (outcome.error) {
                QVERIFY2(outcome.error->exit == ExitCode::InputOutput, outcome.error->message().c_str());
                QVERIFY2(outcome.error->message().find(m_run.string()) != std::string::npos, outcome.error->message().c_str());
                // Where even the undoing of the rename fails, the newer one, which is whole, keeps the name.
                QVERIFY2(outcome.committed || onwards || asFirst.empty(), asFirst.c_str());
            }
            QVERIFY(outcome.verified == !outcome.error);
            // Back to where it started; nothing may be left over but what says it is.
            fs::remove_all(m_run);
            fs::create_directories(m_run);
            QVERIFY(!save(first, options(async)).error);
        }
        QVERIFY2(failures > 50, std::to_string(failures).c_str());
    }

    void writesOverShortWritesAndInterruptions()
    {
        m_files.stubborn = true;
        QVERIFY(!save(m_state, options(true)).error);
        QCOMPARE(newest(m_state), std::string());
    }

    void noticesABlockThatReadsBackWrong()
    {
        QVERIFY(!save(m_state, options(true)).error);
        const TrainingState first = cloneOf(m_state);
        for (const bool sameStep : {false, true}) {
            moveOn(m_state, sameStep ? 7 : 8);
            m_files.reset();
            m_files.flipInWrite = 0;
            const SaveOutcome outcome = save(m_state, options(true));
            QVERIFY(outcome.error && !outcome.verified && !outcome.committed);
            QVERIFY2(outcome.error->message().find("reads back wrong") != std::string::npos, outcome.error->message().c_str());
            QVERIFY(fs::exists(m_run / (std::string(sameStep ? "epoch1-global_step7" : "epoch1-global_step8") + ".damaged")));
            QCOMPARE(newest(first), std::string());
        }
    }

    // The failure is told once, at the next boundary, and the next save works.
    void surfacesAFailureAtTheNextBoundary()
    {
        CheckpointWriter writer(settings());
        m_files.failAt = 12;
        QVERIFY(writer.begin(m_state, m_run, options(true)).ok());
        QVERIFY(writer.waitForSnapshot().ok());
        QVERIFY(writer.finish(std::chrono::seconds(30)).ok());
        m_files.reset();
        m_state.counters.updates = 8;
        QVERIFY(writer.begin(m_state, m_run, options(true)).ok());           // nobody took the first outcome yet
        QVERIFY(writer.waitForSnapshot().ok());
        QVERIFY(writer.finish(std::chrono::seconds(30)).ok());
        const auto outcomes = writer.takeOutcomes();
        QCOMPARE(outcomes.size(), 2u);
        QVERIFY(outcomes[0].error && !outcomes[0].committed && !outcomes[1].error && outcomes[1].verified);
        QVERIFY(writer.takeOutcomes().empty());
        QVERIFY(ckptfile::findLeftovers(m_run)->empty());
    }

    void followsTheRuleForLowDisk()
    {
        m_files.freeNow = 1000;
        SaveOptions with = options(true);
        with.onLowDisk = OnLowDisk::Stop;
        CheckpointWriter writer(settings());
        const Status refused = writer.begin(m_state, m_run, with);
        QVERIFY(!refused.ok());
        QCOMPARE(refused.error().problem.code, std::string("env.disk-full"));
        with.onLowDisk = OnLowDisk::Skip;
        QVERIFY(writer.begin(m_state, m_run, with).ok());
        const auto skipped = writer.takeOutcomes();
        QCOMPARE(skipped.size(), 1u);
        QCOMPARE(skipped[0].error->problem.code, std::string("checkpoint.skipped"));
        QVERIFY(fs::is_empty(m_run));
        // Waiting: somebody frees space meanwhile, or the stop request ends it.
        with.onLowDisk = OnLowDisk::Wait;
        int asked = 0;
        with.keepWaiting = [&] { m_files.freeNow = ++asked < 3 ? 1000 : -2; return true; };
        QVERIFY(writer.begin(m_state, m_run, with).ok());
        QVERIFY(asked >= 3 && writer.finish(std::chrono::seconds(30)).ok());
        QVERIFY(writer.takeOutcomes().at(0).verified);
        m_files.freeNow = 1000;
        with.keepWaiting = [] { return false; };
        QVERIFY(!writer.begin(m_state, m_run, with).ok());
    }

    void explainsFoldersThatCannotBeWritten()
    {
        CheckpointWriter writer(settings());
        std::ofstream(m_run / "epoch1-global_step7") << "a file";
        const Status file = writer.begin(m_state, m_run, options(true));
        QVERIFY(!file.ok());
        QVERIFY2(file.error().message().find("is a file where") != std::string::npos, file.error().message().c_str());
        const Status below = writer.begin(m_state, m_run / "epoch1-global_step7", options(true));
        QVERIFY(!below.ok());
        m_files.failAt = 0;
        m_files.failWith = EROFS;
        const Status readOnly = writer.begin(m_state, m_run / "other", options(true));
        QVERIFY(!readOnly.ok());
        QCOMPARE(readOnly.error().problem.code, std::string("env.permission"));
        QVERIFY(writer.isSafeToStop());
    }

    void comesBackWhenTheFolderWasRemovedMeanwhile()
    {
        QVERIFY(!save(m_state, options(true)).error);
        fs::remove_all(m_run);
        QVERIFY(!save(m_state, options(true)).error);
        QCOMPARE(newest(m_state), std::string());
        fs::create_directories(m_temporary->path().toStdString());
    }

    void endsCleanlyWithASaveInFlight()
    {
        for (int round = 0; round < 20; ++round) {
            m_files.reset();
            {
                CheckpointWriter writer(settings());
                m_state.counters.updates = 100 + round;
                QVERIFY(writer.begin(m_state, m_run, options(true)).ok());
            }
            // Given up: nothing of it remains, or it was committed before.
            for (const auto &entry : fs::directory_iterator(m_run))
                QVERIFY2(ckptfile::parseCheckpointFolderName(entry.path().filename().string()), entry.path().c_str());
        }
    }

    // What another writer puts under the same name before it is verified is that writer's, whole, and stays.
    void leavesWhatAnotherWriterPutInItsPlace()
    {
        for (const bool withoutExchange : {false, true}) {
            TrainingState other = cloneOf(m_state);
            other.run = "run-b";
            moveOn(other, m_state.counters.updates);
            bool saved = false;
            m_files.withoutExchange = withoutExchange;
            WriterSettings with = settings();
            with.progress = [&](const events::Checkpoint &record) {
                if (record.phase == "verify" && !std::exchange(saved, true))
                    QVERIFY(!save(other, options(true)).error);
            };
            CheckpointWriter writer(with);
            QVERIFY(writer.begin(m_state, m_run, options(true)).ok());
            QVERIFY(writer.waitForSnapshot().ok());
            QVERIFY(writer.finish(std::chrono::seconds(30)).ok());
            const auto outcome = writer.takeOutcomes().at(0);
            QVERIFY(saved && outcome.error && !outcome.verified && !outcome.committed);
            QCOMPARE(outcome.error->problem.code, std::string("checkpoint.replaced"));
            QCOMPARE(newest(other), std::string());
            for (const auto &entry : fs::directory_iterator(m_run))
                QVERIFY2(ckptfile::parseCheckpointFolderName(entry.path().filename().string()), entry.path().c_str());
        }
    }

    void twoWritersShareAFolder()
    {
        TrainingState other = cloneOf(m_state);
        other.run = "run-b";
        std::thread second([&] {
            CheckpointWriter writer;
            for (int step = 1; step <= 10; ++step) {
                other.counters.updates = step;
                if (!writer.begin(other, m_run, options(true)) || !writer.finish(std::chrono::seconds(30)))
                    return;
            }
        });
        CheckpointWriter writer;
        for (int step = 1; step <= 10; ++step) {
            m_state.counters.updates = step;
            QVERIFY(writer.begin(m_state, m_run, options(true)).ok());
            QVERIFY(writer.finish(std::chrono::seconds(30)).ok());
        }
        second.join();
        const auto listed = ckptfile::listCheckpoints(m_run);
        QVERIFY(listed.ok() && !listed->empty());
        for (const ckptfile::ListedCheckpoint &checkpoint : *listed)
            QVERIFY2(checkpoint.badge == ckptfile::Badge::Verified || checkpoint.badge == ckptfile::Badge::Unverified, checkpoint.sentence.c_str());
        QVERIFY(ckptfile::newestComplete(m_run.string()).ok());
    }

    // A real full disk, where this process may mount one.
    void survivesAFullTmpfs()
    {
        const fs::path small = m_run / "small";
        fs::create_directories(small);
        if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=8m") != 0)
            QSKIP("a small tmpfs cannot be mounted here; injected failures cover the same calls");
        StateShape shape;
        shape.width = 160;
        shape.layers = 10;
        TrainingState large = makeState(shape);          // above 8 MiB
        m_run = small;
        QVERIFY(!save(m_state, options(true)).error);
        m_files.freeNow = 1ll << 40;                     // the forecast is wrong
        large.counters.updates = 8;
        const SaveOutcome outcome = save(large, options(true));
        const bool failed = outcome.error.has_value();
        const std::string sentence = failed ? outcome.error->message() : "";
        m_files.reset();
        const std::string differs = newest(m_state);
        const bool cleaned = ckptfile::findLeftovers(small)->empty();
        ::umount(small.c_str());
        QVERIFY(failed && cleaned);
        QVERIFY2(sentence.find("No space left") != std::string::npos, sentence.c_str());
        QVERIFY2(differs.empty(), differs.c_str());
    }
};

QTEST_GUILESS_MAIN(FaultTest)
#include "fault_test.moc"
