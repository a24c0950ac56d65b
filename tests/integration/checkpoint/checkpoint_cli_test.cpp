// Checkpoints as a person meets them: the original's, a damaged newest one, odd names, a rehearsal, weights in another layout. Real command line, real worker.
#include <QtTest>

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>

#include <filesystem>
#include <fstream>

#include "core/ckptfile/compare.h"
#include "core/ckptfile/listing.h"
#include "tests/support/golden.h"

using namespace stagewright;
namespace fs = std::filesystem;

namespace {

constexpr int kDeadlineMs = 240000;

struct Answer {
    int exit = -1;
    QByteArray out, err;
    QJsonObject last() const { return QJsonDocument::fromJson(out.trimmed().split('\n').last()).object(); }
};

QStringList words(const char *text) { return QString::fromUtf8(text).split(QLatin1Char(' '), Qt::SkipEmptyParts); }

} // namespace

class CheckpointCliTest : public QObject
{
    Q_OBJECT

    QTemporaryDir m_dir;
    QString m_stage, m_checkpoint;               // after two updates of the demo, kept for all tests

    Answer run(const QStringList &arguments) const
    {
        QProcess process;
        process.setWorkingDirectory(m_dir.path());
        process.start(QStringLiteral(STAGEWRIGHT_BIN "/stagewright-cli"), arguments);
        Answer answer;
        if (!process.waitForFinished(kDeadlineMs)) {
            process.kill();
            process.waitForFinished(5000);
            answer.err = "deadline passed";
            return answer;
        }
        answer.exit = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
        answer.out = process.readAllStandardOutput();
        answer.err = process.readAllStandardError();
        return answer;
    }
    fs::path folder(const char *name) const { return fs::path(m_dir.path().toStdString()) / name; }
    // A folder with copies of the checkpoint under the given names.
    fs::path runWith(const char *name, const std::vector<const char *> &checkpoints) const
    {
        for (const char *checkpoint : checkpoints) {
            fs::create_directories(folder(name));
            fs::copy(m_checkpoint.toStdString(), folder(name) / checkpoint, fs::copy_options::recursive);
        }
        return folder(name);
    }

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(run(words("demo d")).exit == 0);
        m_stage = m_dir.filePath(QStringLiteral("d/demo.yaml"));
        const Answer trained = run(QStringList{QStringLiteral("train"), m_stage} + words("--json --max-train-steps 2 --ckpt-every 1 --ema-decay 0.9 --exp-name base"));
        QVERIFY2(trained.exit == 0, trained.err.constData());
        m_checkpoint = m_dir.filePath(QStringLiteral("outputs/base/epoch0-global_step2"));
        QVERIFY(QFile::exists(m_checkpoint));
    }

    void rehearsalProvesTheResume()
    {
        const Answer answer = run(QStringList{QStringLiteral("rehearse"), m_checkpoint, m_stage} + words("--json --ema-decay 0.9 --dtype bf16 --accumulation-steps 2 --scratch scratch"));
        QVERIFY2(answer.exit == 0, (answer.out + answer.err).constData());
        const QJsonObject object = answer.last();
        QVERIFY(object[QStringLiteral("possible")].toBool() && object[QStringLiteral("equal")].toBool());
        QStringList whats;
        for (const auto &item : object[QStringLiteral("items")].toArray())
            whats << item.toObject()[QStringLiteral("what")].toString();
        for (const char *what : {"step 3", "step 5", "weights", "master weights", "EMA", "optimizer", "data position"})
            QVERIFY2(whats.contains(QLatin1String(what)), what);
        QVERIFY(fs::is_empty(folder("scratch")));
    }

    void rehearsalOfAnEndedTrainingSaysSo()
    {
        const Answer answer = run(QStringList{QStringLiteral("rehearse"), m_checkpoint} + words("--json --scratch scratch"));
        QCOMPARE(answer.exit, 4);
        QCOMPARE(answer.last()[QStringLiteral("problems")].toArray().last().toObject()[QStringLiteral("code")].toString(), QStringLiteral("checkpoint.rehearsal-too-short"));
        QVERIFY(fs::is_empty(folder("scratch")));
    }

    void fallsBackToTheNewestWholeOne()
    {
        const fs::path outputs = runWith("fallback", {"epoch0-global_step2"});
        fs::copy(fs::path(m_checkpoint.toStdString()).parent_path() / "epoch0-global_step1", outputs / "epoch0-global_step1", fs::copy_options::recursive);
        fs::resize_file(outputs / "epoch0-global_step2/model/model-00001.safetensors", 5000);
        fs::create_directories(outputs / "epoch0-global_step300");
        fs::create_directories(outputs / "epoch0-global_step400.tmp");
        const Answer answer = run(QStringList{QStringLiteral("train"), m_stage} + words("--json --max-train-steps 3 --exp-name fallen --load fallback/epoch*"));
        QVERIFY2(answer.exit == 0, answer.err.constData());
        QCOMPARE(answer.last()[QStringLiteral("steps")].toInt(), 2);
        QVERIFY(answer.out.contains("checkpoint.rejected"));
        QVERIFY2(answer.out.contains("fallback/epoch0-global_step2: ") && answer.out.contains("fallback/epoch0-global_step300: "), answer.out.constData());
    }

    void oddNamesAreNames_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::newRow("spaces") << QByteArray("my runs and more");
        QTest::newRow("unicode") << QByteArray("训练 é");
        QTest::newRow("newline") << QByteArray("a\nb");
        QTest::newRow("shell") << QByteArray("a b'c&d;$(e)");
        QTest::newRow("pattern") << QByteArray("epoch7-global_step7 [x]*");
    }
    void oddNamesAreNames()
    {
        QFETCH(QByteArray, name);
        const fs::path run = runWith(name.constData(), {"epoch0-global_step2"});
        const QString checkpoint = QString::fromStdString(run / "epoch0-global_step2");
        const Answer inspected = this->run({QStringLiteral("inspect"), checkpoint, QStringLiteral("--verify"), QStringLiteral("--json")});
        QVERIFY2(inspected.exit == 0, inspected.out.constData());
        QVERIFY(inspected.last()[QStringLiteral("complete")].toBool());
        const QString out = QString::fromStdString(run / "weights.safetensors");
        QCOMPARE(this->run({QStringLiteral("export"), checkpoint, out}).exit, 0);
        QVERIFY(QFile::exists(out));
        QCOMPARE(this->run({QStringLiteral("clean"), QString::fromStdString(run), QStringLiteral("--json")}).exit, 0);
    }

    void explainsWhatItCannotResume_data()
    {
        QTest::addColumn<QByteArray>("states");  // content of running_states.json; "-": none
        QTest::newRow("none") << QByteArray("-");
        QTest::newRow("empty") << QByteArray("");
        QTest::newRow("no fields") << QByteArray("{}");
        QTest::newRow("text for a number") << QByteArray("{\"epoch\":0,\"step\":\"x\"}");
        QTest::newRow("nulls") << QByteArray("{\"epoch\":null,\"step\":null,\"global_step\":null,\"actual_update_step\":null}");
    }
    void explainsWhatItCannotResume()
    {
        QFETCH(QByteArray, states);
        const QByteArray name = QByteArray("states ") + QTest::currentDataTag();
        const fs::path checkpoint = runWith(name.constData(), {"epoch0-global_step2"}) / "epoch0-global_step2";
        fs::remove_all(checkpoint / "stagewright");
        fs::remove(checkpoint / "running_states.json");
        if (states != "-")
            std::ofstream(checkpoint / "running_states.json") << states.toStdString();
        const Answer answer = run(QStringList{QStringLiteral("train"), m_stage} + words("--json --max-train-steps 3 --load") + QStringList{QString::fromStdString(checkpoint)});
        QCOMPARE(answer.exit, 4);
        QVERIFY2(answer.out.contains("running_states.json"), answer.out.constData());
        // The weights alone load.
        const Answer weights = run(QStringList{QStringLiteral("train"), m_stage} + words("--json --max-train-steps 1 --pretrained-rope opensora --model.from-pretrained") + QStringList{QString::fromStdString(checkpoint)});
        QVERIFY2(weights.exit == 0, weights.err.constData());
    }

    void refusesLoraByName()
    {
        fs::create_directories(folder("lora/epoch0-global_step5/lora"));
        std::ofstream(folder("lora/epoch0-global_step5/lora/adapter_config.json")) << "{}";
        const Answer answer = run(QStringList{QStringLiteral("train"), m_stage} + words("--json --load lora/epoch0-global_step5"));
        QCOMPARE(answer.exit, 4);
        QVERIFY2(answer.out.contains("LoRA"), answer.out.constData());
    }

    // Out in Flux's layout and in again: the very weights, by either layout's name.
    void weightsComeBackFromTheOtherLayout()
    {
        QCOMPARE(run(QStringList{QStringLiteral("export"), m_checkpoint} + words("flux.safetensors --for flux")).exit, 0);
        const auto trainFrom = [&](const char *name, const QStringList &from) {
            return run(QStringList{QStringLiteral("train"), m_stage} + words("--json --max-train-steps 1 --exp-name") + QStringList{QString::fromLatin1(name), QStringLiteral("--model.from-pretrained")} + from);
        };
        const Answer flux = trainFrom("from-flux", words("flux.safetensors --pretrained-rope flux"));
        QVERIFY2(flux.exit == 0, flux.err.constData());
        QVERIFY(flux.out.contains("checkpoint.layout-changed") && !flux.out.contains("config.rope-unsaid"));
        const Answer plain = trainFrom("from-own", {m_checkpoint});
        QVERIFY2(plain.exit == 0, plain.err.constData());
        QVERIFY(!plain.out.contains("config.rope-unsaid"));
        const auto parts = ckptfile::compareCheckpoints(folder("outputs/from-flux/epoch0-global_step1"), folder("outputs/from-own/epoch0-global_step1"));
        QVERIFY(parts.ok());
        for (const auto &part : *parts)
            QVERIFY2(part.equal, (part.part + ": " + part.sentence).c_str());
        const Answer unsaid = trainFrom("unsaid", words("flux.safetensors"));
        QCOMPARE(unsaid.exit, 2);
        QVERIFY(unsaid.out.contains("config.rope-unsaid"));
        const Answer asOriginal = trainFrom("as-original", words("flux.safetensors --compat opensora"));
        QVERIFY2(asOriginal.exit == 0, asOriginal.err.constData());
        QVERIFY(asOriginal.out.contains("config.rope-unsaid"));
    }

    void readsTheOriginalsFolders_data()
    {
        QTest::addColumn<QString>("form");
        QTest::newRow("asynchronous") << QStringLiteral("async");
        QTest::newRow("synchronous") << QStringLiteral("sync");
    }
    void readsTheOriginalsFolders()
    {
        QFETCH(QString, form);
        const QString checkpoint = QString::fromStdString(support::goldenFolder("ckpt")) + QLatin1Char('/') + form;
        const Answer inspected = run({QStringLiteral("inspect"), checkpoint, QStringLiteral("--verify"), QStringLiteral("--json")});
        QVERIFY2(inspected.exit == 0, inspected.out.constData());
        QVERIFY(inspected.last()[QStringLiteral("complete")].toBool());
        for (const char *what : {"", "--ema", "--master"})
            QCOMPARE(run(QStringList{QStringLiteral("export"), checkpoint, form + QString::fromLatin1(what) + QStringLiteral(".safetensors")} + words(what)).exit, 0);
        // Another model: refused with the values that would fit, and nothing is trained.
        const Answer plan = run({QStringLiteral("resume-plan"), checkpoint, m_stage, QStringLiteral("--json")});
        QCOMPARE(plan.exit, 4);
        QVERIFY(!plan.last()[QStringLiteral("possible")].toBool());
    }
};

QTEST_GUILESS_MAIN(CheckpointCliTest)
#include "checkpoint_cli_test.moc"
