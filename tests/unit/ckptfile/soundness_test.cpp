// Damage that only reading shows: which checkpoint is offered instead, what another program's crash leaves, copies of the one before, values that are no numbers.
#include <QtTest>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/base/files.h"
#include "core/ckptfile/contents.h"
#include "core/ckptfile/finite.h"
#include "core/ckptfile/inspect.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/listing.h"
#include "core/ckptfile/predecessor.h"
#include "core/ckptfile/soundness.h"
#include "core/ckptfile/writer_log.h"
#include "small_checkpoint.h"

using namespace stagewright;
using namespace stagewright::ckptfile;
using namespace stagewright::tests;
namespace fs = std::filesystem;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

void overwriteUnseen(const fs::path &file, std::int64_t fromEnd, const void *bytes, std::size_t count)
{
    const auto time = fs::last_write_time(file);
    std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
    stream.seekp(-fromEnd, std::ios::end);
    stream.write(static_cast<const char *>(bytes), static_cast<std::streamsize>(count));
    stream.close();
    fs::last_write_time(file, time);
}

bool hasProblem(const Problems &problems, const char *code, Severity severity)
{
    return std::any_of(problems.begin(), problems.end(), [&](const Problem &problem) { return problem.code == code && problem.severity == severity; });
}

} // namespace

class SoundnessTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_run;

    fs::path write(std::int64_t step, bool ours, float value)
    {
        SmallCheckpoint small;
        small.step = step;
        small.ours = ours;
        small.value = value;
        return writeSmallCheckpoint(m_run, small);
    }

private Q_SLOTS:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_run = m_temporary->path().toStdString();
    }

    // "quick": opening every part is enough to see it. In both cases the one before is offered, and the sentence names the file.
    void fallsBackToTheOneBefore_data()
    {
        QTest::addColumn<bool>("ours");
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("fault");
        QTest::addColumn<bool>("quick");
        QTest::addColumn<QString>("named");
        for (const bool ours : {true, false}) {
            const auto row = [&](const char *name, const char *file, const char *fault, bool quick, const char *named = nullptr) {
                QTest::addRow("%s: %s", ours ? "ours" : "foreign", name) << ours << QString::fromLatin1(file) << QString::fromLatin1(fault) << quick << QString::fromLatin1(named ? named : file);
            };
            row("pickle of the sampler", "sampler", "scramble", true);
            row("pickle of the parameter group", "optimizer/pytorch_optim_group.bin", "scramble", true, "pytorch_optim_group.bin");
            row("states that are no JSON", "running_states.json", "scramble", true);
            row("weights with a NaN", "model/model-00001.safetensors", "nan", false, "model-00001.safetensors");
            row("moments with an infinity", "optimizer/optimizer-00001.safetensors", "infinity", false, "optimizer-00001.safetensors");
        }
        QTest::newRow("ours: a byte of the weights") << true << QStringLiteral("model/model-00001.safetensors") << QStringLiteral("flip") << false << QStringLiteral("model-00001.safetensors");
        QTest::newRow("ours: a byte of the masters") << true << QStringLiteral("master.safetensors") << QStringLiteral("flip") << false << QStringLiteral("master.safetensors");
        QTest::newRow("ours: a byte of our own numbers") << true << QStringLiteral("stagewright/state.json") << QStringLiteral("flip") << true << QStringLiteral("state.json");
    }
    void fallsBackToTheOneBefore()
    {
        QFETCH(bool, ours);
        QFETCH(QString, file);
        QFETCH(QString, fault);
        QFETCH(bool, quick);
        QFETCH(QString, named);
        const fs::path before = write(1, ours, 1), newest = write(2, ours, 2), victim = newest / file.toStdString();
        if (fault == QLatin1String("scramble")) {
            const std::string junk(fs::file_size(victim), 'x');
            overwriteUnseen(victim, static_cast<std::int64_t>(junk.size()), junk.data(), junk.size());
        } else if (fault == QLatin1String("flip")) {
            flipUnseen(victim);
        } else {
            const float value = fault == QLatin1String("nan") ? kNan : kInfinity;
            overwriteUnseen(victim, 4, &value, 4);
        }
        if (quick) {
            const auto complete = newestComplete(m_run.string());
            QVERIFY2(complete, complete ? "" : complete.error().message().c_str());
            QCOMPARE(complete->path, before);
        } else {
            QCOMPARE(newestComplete(m_run.string())->path, newest);
        }
        const auto sound = newestSound(m_run.string());
        QVERIFY2(sound, sound ? "" : sound.error().message().c_str());
        QCOMPARE(sound->path, before);
        QCOMPARE(sound->rejected.size(), std::size_t(1));
        QVERIFY2(sound->rejected.front().find(named.toStdString()) != std::string::npos, sound->rejected.front().c_str());
        // What was seen in one of ours is remembered, so that the list and a quick choice know it too.
        if (ours)
            QCOMPARE(newestComplete(m_run.string())->path, before);

        fs::remove_all(before);
        const auto none = newestSound(m_run.string());
        QVERIFY(!none);
        QCOMPARE(none.error().exit, ExitCode::Checkpoint);
        QVERIFY2(none.error().message().find(named.toStdString()) != std::string::npos, none.error().message().c_str());
    }

    void readingIsCancelledAtOnce()
    {
        write(1, true, 1);
        write(2, true, 2);
        const auto cancelledRead = newestSound(m_run.string(), [](auto, auto, const auto &) { return false; });
        QVERIFY(!cancelledRead);
        QCOMPARE(cancelledRead.error().problem.code, std::string("checkpoint.cancelled"));
        QCOMPARE(newestSound(m_run.string())->path.filename().string(), std::string("epoch0-global_step2"));     // nobody took it for damaged
    }

    void countsValuesOfEveryTypeThatAreNoNumbers_data()
    {
        QTest::addColumn<int>("type");
        QTest::addColumn<QByteArray>("bad");
        QTest::addColumn<QByteArray>("good");
        const auto bytes = [](std::initializer_list<int> values) { QByteArray text; for (const int value : values) text.append(static_cast<char>(value)); return text; };
        QTest::newRow("F64 NaN") << int(DType::F64) << bytes({0, 0, 0, 0, 0, 0, 0xf8, 0x7f}) << bytes({0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xef, 0x7f});
        QTest::newRow("F32 -inf") << int(DType::F32) << bytes({0, 0, 0x80, 0xff}) << bytes({0xff, 0xff, 0x7f, 0x7f});
        QTest::newRow("BF16 inf") << int(DType::BF16) << bytes({0x80, 0x7f}) << bytes({0x7f, 0x7f});
        QTest::newRow("F16 NaN") << int(DType::F16) << bytes({1, 0x7c}) << bytes({0xff, 0x7b});
        QTest::newRow("F8_E5M2 inf") << int(DType::F8E5M2) << bytes({0x7c}) << bytes({0x7b});
        QTest::newRow("F8_E4M3 NaN") << int(DType::F8E4M3) << bytes({0x7f}) << bytes({0x7e});
    }
    void countsValuesOfEveryTypeThatAreNoNumbers()
    {
        QFETCH(int, type);
        QFETCH(QByteArray, bad);
        QFETCH(QByteArray, good);
        constexpr std::int64_t kCount = 70'001;          // several pieces, and an odd rest
        std::vector<TensorInfo> tensors{{"w", static_cast<DType>(type), {kCount}}};
        std::string data = safetensorsHeader(tensors);
        for (std::int64_t at = 0; at < kCount; ++at)
            data += (at == 0 || at == 40'000 || at == kCount - 1 ? bad : good).toStdString();
        std::ofstream(m_run / "w.safetensors", std::ios::binary) << data;
        const auto opened = tensorsOf(m_run / "w.safetensors");
        QVERIFY(opened);
        const auto found = findNotFinite({&opened->front()});
        QVERIFY(found);
        QCOMPARE(found->size(), std::size_t(1));
        QCOMPARE(found->front().count, std::int64_t(3));
        QVERIFY(notFinite(found->front()).message().find("3 of 70001") != std::string::npos);
    }

    // The original names its files before it writes them; only its log tells which are finished.
    void anUnfinishedSaveOfTheOriginalIsNotWhole_data()
    {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QByteArray>("code");
        QTest::addColumn<bool>("whole");
        QTest::newRow("as it should be") << QStringLiteral("nothing") << QByteArray() << true;
        QTest::newRow("a file was not finished") << QStringLiteral("line") << QByteArray("checkpoint.unfinished-save") << false;
        QTest::newRow("none was finished") << QStringLiteral("empty") << QByteArray("checkpoint.unfinished-save") << false;
        QTest::newRow("no log") << QStringLiteral("remove") << QByteArray("checkpoint.no-writer-log") << true;
        QTest::newRow("a hole, and no log") << QStringLiteral("hole") << QByteArray("checkpoint.hole") << false;
        QTest::newRow("a hole, though it was finished") << QStringLiteral("finished hole") << QByteArray("checkpoint.hole") << true;
    }
    void anUnfinishedSaveOfTheOriginalIsNotWhole()
    {
        QFETCH(QString, what);
        QFETCH(QByteArray, code);
        QFETCH(bool, whole);
        const fs::path before = write(1, false, 1);
        SmallCheckpoint small;
        small.step = 2;
        small.ours = false;
        small.hidden = 20'000;
        const fs::path newest = writeSmallCheckpoint(m_run, small), log = newest / kWriterLogFile, weights = newest / "model/model-00001.safetensors";
        if (what == QLatin1String("line"))
            fs::resize_file(log, fs::file_size(log) - 4);
        else if (what == QLatin1String("empty"))
            fs::resize_file(log, 0);
        else if (what != QLatin1String("nothing") && what != QLatin1String("finished hole"))
            fs::remove(log);
        if (what.endsWith(QLatin1String("hole"))) {
            const auto size = fs::file_size(weights);
            fs::resize_file(weights, 1000);
            fs::resize_file(weights, size);
            if (unfinishedSave(newest).empty())
                QSKIP("this file system does not tell holes");
        }
        const auto inspection = inspect(newest);
        QVERIFY(inspection);
        QCOMPARE(inspection->complete, whole);
        if (!code.isEmpty())
            QVERIFY(hasProblem(inspection->problems, code.constData(), whole ? Severity::Warning : Severity::Error));
        const auto chosen = newestComplete(m_run.string());
        QVERIFY(chosen);
        QCOMPARE(chosen->path, whole ? newest : before);
        QCOMPARE(newestSound(m_run.string())->path, chosen->path);
    }

    void knowsWhichFilesTheOriginalsWriterMade()
    {
        const auto asynchronous = asynchronousFiles(write(1, false, 1));
        QCOMPARE(asynchronous, (std::vector<fs::path>{"master.safetensors", "model/model-00001.safetensors", "optimizer/optimizer-00001.safetensors"}));
    }

    void seesACopyOfTheOneBefore_data()
    {
        QTest::addColumn<bool>("ours");
        QTest::addColumn<float>("value");
        QTest::addColumn<bool>("readEverything");
        QTest::addColumn<bool>("same");
        QTest::newRow("ours, the same weights") << true << 1.F << false << true;
        QTest::newRow("ours, other weights") << true << 2.F << true << false;
        QTest::newRow("another program's, the same weights, read") << false << 1.F << true << true;
        QTest::newRow("another program's, the same weights, not read") << false << 1.F << false << false;
        QTest::newRow("another program's, other weights") << false << 2.F << true << false;
    }
    void seesACopyOfTheOneBefore()
    {
        QFETCH(bool, ours);
        QFETCH(float, value);
        QFETCH(bool, readEverything);
        QFETCH(bool, same);
        write(1, ours, 5);
        const fs::path before = write(3, ours, 1), newest = write(10, ours, value);
        QCOMPARE(identicalPredecessor(newest, readEverything), same ? std::optional(before) : std::nullopt);
        QCOMPARE(identicalPredecessor(newest / "", readEverything).has_value(), same);          // also with a separator at the end
        InspectOptions options;
        options.readEverything = readEverything;
        QCOMPARE(hasProblem(inspect(newest, options)->problems, "checkpoint.identical", Severity::Warning), same);
    }

    void seesMomentsThatAreNoNumbers()
    {
        const fs::path checkpoint = write(1, true, 1);
        overwriteUnseen(checkpoint / "optimizer/optimizer-00001.safetensors", 4, &kNan, 4);
        InspectOptions options;
        options.readEverything = true;
        const auto inspection = inspect(checkpoint, options);
        QVERIFY(!inspection->complete);
        // Nor in another program's, which has no hashes.
        const fs::path foreign = write(2, false, 1);
        overwriteUnseen(foreign / "optimizer/optimizer-00001.safetensors", 4, &kNan, 4);
        const auto other = inspect(foreign, options);
        QVERIFY(!other->complete);
        QVERIFY(hasProblem(other->problems, "checkpoint.not-finite", Severity::Error));
    }
};

QTEST_GUILESS_MAIN(SoundnessTest)
#include "soundness_test.moc"
