// What a crash leaves between two renames, and what cleaning makes of it: a whole checkpoint is never lost, nor the results of an evaluation.
#include <QtTest>

#include <csignal>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/leftovers.h"
#include "core/ckptfile/listing.h"
#include "core/ckptfile/manifest.h"
#include "core/ckptfile/retention.h"
#include "small_checkpoint.h"

using namespace stagewright;
using namespace stagewright::ckptfile;
using namespace stagewright::tests;
namespace fs = std::filesystem;

class LeftoversTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_run, m_target;
    std::string m_dead;                      // mark of a process that is gone

    fs::path write(float value, bool verified = true)
    {
        SmallCheckpoint small;
        small.step = 5;
        small.value = value;
        small.verified = verified;
        return writeSmallCheckpoint(m_run, small);
    }
    fs::path temporary(const char *prefix = ".tmp-", const char *suffix = "") const { return m_run / (prefix + m_target.filename().string() + "." + m_dead + "-1" + suffix); }
    fs::path moveTo(const fs::path &place)
    {
        fs::rename(m_target, place);
        return place;
    }
    static void addResults(const fs::path &checkpoint, const char *score)
    {
        fs::create_directories(checkpoint / kEvalFolder);
        std::ofstream(checkpoint / kEvalFolder / "scores.txt") << score;
    }
    static std::string results(const fs::path &checkpoint)       // empty: none
    {
        const auto text = readFile(checkpoint / kEvalFolder / "scores.txt");
        return text ? *text : std::string();
    }
    static std::string hashOfWeights(const fs::path &checkpoint) { return readManifest(checkpoint)->files.front().hash; }

    // One leftover of that kind, which cleaning disposes of.
    void clean(Leftover::Kind kind)
    {
        const auto leftovers = findLeftovers(m_run);
        QVERIFY(leftovers);
        QCOMPARE(leftovers->size(), std::size_t(1));
        QCOMPARE(QString::fromLatin1(leftoverName(leftovers->front().kind)), QString::fromLatin1(leftoverName(kind)));
        QCOMPARE(leftovers->front().target, m_target);
        const auto cleaned = cleanLeftovers(*leftovers);
        QVERIFY2(cleaned, cleaned ? "" : cleaned.error().message().c_str());
        QCOMPARE(cleaned->size(), std::size_t(1));
        QVERIFY(findLeftovers(m_run)->empty());
    }

private Q_SLOTS:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_run = m_temporary->path().toStdString();
        m_target = m_run / "epoch0-global_step5";
        const pid_t child = ::fork();
        if (child == 0)
            ::pause();
        m_dead = std::to_string(child) + "-" + std::to_string(processStartTicks(child));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }

    void anUnfinishedSaveIsRemoved()
    {
        fs::create_directories(temporary() / "model");
        clean(Leftover::Kind::Unfinished);
        QVERIFY(!fs::exists(m_target));
    }

    void aWholeSaveWithoutItsNameGetsIt()
    {
        write(1);
        moveTo(temporary());
        clean(Leftover::Kind::Uncommitted);
        QCOMPARE(newestSound(m_run.string())->path, m_target);
    }

    void aWholeSaveGetsItsNameThoughResultsLieThere()
    {
        write(1);
        moveTo(temporary());
        addResults(m_target, "7");
        clean(Leftover::Kind::Uncommitted);
        QCOMPARE(newestSound(m_run.string())->path, m_target);
        QCOMPARE(results(m_target), std::string("7"));
    }

    void theOnlyWholeCopyComesBack()
    {
        write(1);
        addResults(m_target, "7");
        moveTo(temporary(".tmp-", ".replaced"));
        clean(Leftover::Kind::HalfReplaced);
        QCOMPARE(newestSound(m_run.string())->path, m_target);
        QCOMPARE(results(m_target), std::string("7"));
    }

    void theVersionBeforeAVerifiedOneGoesAndLeavesItsResults()
    {
        write(1);
        addResults(m_target, "7");
        moveTo(temporary(".tmp-", ".replaced"));
        write(2);
        const std::string newer = hashOfWeights(m_target);
        clean(Leftover::Kind::Unfinished);
        QCOMPARE(hashOfWeights(m_target), newer);
        QCOMPARE(results(m_target), std::string("7"));
    }

    void theVersionBeforeAnUnverifiedOneStaysUntilThatWasRead_data()
    {
        QTest::addColumn<bool>("damaged");
        QTest::addColumn<bool>("exchanged");
        QTest::newRow("whole, after two renames") << false << false;
        QTest::newRow("damaged, after two renames") << true << false;
        QTest::newRow("whole, after an exchange") << false << true;
        QTest::newRow("damaged, after an exchange") << true << true;
    }
    void theVersionBeforeAnUnverifiedOneStaysUntilThatWasRead()
    {
        QFETCH(bool, damaged);
        QFETCH(bool, exchanged);
        write(1);
        const std::string older = hashOfWeights(m_target);
        moveTo(temporary(".tmp-", exchanged ? "" : ".replaced"));
        write(2, false);
        const std::string newer = hashOfWeights(m_target);
        if (damaged)
            flipByte(m_target / "model/model-00001.safetensors", static_cast<std::int64_t>(fs::file_size(m_target / "model/model-00001.safetensors")) - 2);
        clean(Leftover::Kind::Superseded);
        QCOMPARE(hashOfWeights(m_target), damaged ? older : newer);
        QCOMPARE(fs::exists(damagedName(m_target)), damaged);
        QCOMPARE(newestSound(m_run.string())->path, m_target);
    }

    void readingTheNewerOneCanBeCancelled()
    {
        write(1);
        moveTo(temporary(".tmp-", ".replaced"));
        write(2, false);
        const auto cleaned = cleanLeftovers(*findLeftovers(m_run), [](auto, auto, const auto &) { return false; });
        QVERIFY(!cleaned);
        QCOMPARE(cleaned.error().problem.code, std::string("checkpoint.cancelled"));
        QVERIFY(fs::exists(temporary(".tmp-", ".replaced")) && fs::exists(m_target));
    }

    void aRemovalIsFinishedAndLeavesTheResults()
    {
        write(1);
        addResults(m_target, "7");
        moveTo(temporary(".tmp-remove-"));
        fs::remove_all(temporary(".tmp-remove-") / "model");
        clean(Leftover::Kind::HalfRemoved);
        QCOMPARE(results(m_target), std::string("7"));
        QVERIFY(!fs::exists(m_target / kManifestFile));
    }

    void resultsOfTheNewerOneWin()
    {
        write(1);
        addResults(m_target, "old");
        moveTo(temporary(".tmp-remove-"));
        write(2);
        addResults(m_target, "new");
        clean(Leftover::Kind::HalfRemoved);
        QCOMPARE(results(m_target), std::string("new"));
    }

    // Two leftovers of one step, of which the first that is cleaned gets the name: the second is judged anew.
    void twoCopiesOfOneStepAreJudgedOneAfterTheOther()
    {
        write(1);
        fs::rename(m_target, temporary(".tmp-", ".replaced"));
        write(2);
        fs::rename(m_target, m_run / (".tmp-epoch0-global_step5." + m_dead + "-2.replaced"));
        const auto cleaned = cleanLeftovers(*findLeftovers(m_run));
        QVERIFY2(cleaned, cleaned ? "" : cleaned.error().message().c_str());
        QVERIFY(findLeftovers(m_run)->empty());
        QCOMPARE(newestSound(m_run.string())->path, m_target);
    }
};

QTEST_GUILESS_MAIN(LeftoversTest)
#include "leftovers_test.moc"
