// stagewright-cli with the real worker: what scripts depend on (exit codes, one JSON object, JSON Lines), end to end on the demo stage.
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <signal.h>

namespace {

constexpr int kDeadlineMs = 240000;

struct Answer {
    int exit = -1;
    QByteArray out, err;
    QJsonObject object() const { return QJsonDocument::fromJson(out).object(); }
    QList<QJsonObject> lines() const
    {
        QList<QJsonObject> parsed;
        for (const QByteArray &line : out.split('\n')) {
            if (!line.isEmpty())
                parsed.append(QJsonDocument::fromJson(line).object());
        }
        return parsed;
    }
};

QString cliPath() { return QStringLiteral(STAGEWRIGHT_BIN "/stagewright-cli"); }

QStringList codesOf(const QJsonObject &object)
{
    QStringList codes;
    for (const auto &problem : object[QStringLiteral("problems")].toArray())
        codes << problem.toObject()[QStringLiteral("code")].toString();
    return codes;
}

// What the program was started with; empty where there is none.
QList<QByteArray> environmentOf(qint64 pid)
{
    QFile file(QStringLiteral("/proc/%1/environ").arg(pid));
    return file.open(QIODevice::ReadOnly) ? file.readAll().split('\0') : QList<QByteArray>();
}

QList<QJsonObject> ofKind(const QList<QJsonObject> &events, const char *kind)
{
    QList<QJsonObject> found;
    for (const QJsonObject &event : events) {
        if (event[QStringLiteral("event")].toString() == QLatin1String(kind))
            found.append(event);
    }
    return found;
}

} // namespace

class CliTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void checkAcceptsTheDemoStage();
    void answersWithExactlyOneObject_data();
    void answersWithExactlyOneObject();
    void badInputGivesCodeAndSentence_data();
    void badInputGivesCodeAndSentence();
    void misspeltKeyIsNamedWithTheNearestOne();
    void bucketsAddUp();
    void trainStreamsEventsAndSummary();
    void resumeEqualsTheUninterruptedRun();
    void resumeAtTheEndDoesNothing();
    void saveAndStopReachARunningRun();
    void idleThreadsOfAWorkerSleep();
    void killedWorkerIsTold();
    void interruptSavesAndStops();
    void viewersChangeNothing();
    void truncatedCheckpointIsRefused();
    void reportIsSelfContained();

private:
    Answer run(const QStringList &arguments, const QString &folder = {}) const;
    // Trains in a folder of its own below the test's; returns the events.
    Answer train(const QString &name, const QStringList &arguments) const;
    QString folderOf(const QString &name) const { return m_dir.path() + QLatin1Char('/') + name; }
    QString runOf(const Answer &answer) const { return answer.lines().last()[QStringLiteral("run")].toString(); }
    bool waitForSteps(const QString &run, int steps) const;

    QTemporaryDir m_dir;
    QString m_stage;
    mutable QString m_detached;                    // run to end in cleanup()
};

Answer CliTest::run(const QStringList &arguments, const QString &folder) const
{
    QProcess process;
    process.setWorkingDirectory(folder.isEmpty() ? m_dir.path() : folder);
    process.start(cliPath(), arguments);
    Answer answer;
    if (!process.waitForFinished(kDeadlineMs)) {
        process.kill();
        process.waitForFinished(5000);
        answer.err = "deadline passed: " + process.readAllStandardError();
        return answer;
    }
    answer.exit = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
    answer.out = process.readAllStandardOutput();
    answer.err = process.readAllStandardError();
    return answer;
}

Answer CliTest::train(const QString &name, const QStringList &arguments) const
{
    QDir().mkpath(folderOf(name));
    return run(QStringList{QStringLiteral("train"), m_stage, QStringLiteral("--json")} + arguments, folderOf(name));
}

bool CliTest::waitForSteps(const QString &run, int steps) const
{
    return QTest::qWaitFor([&] {
        QFile file(run + QStringLiteral("/events.jsonl"));
        return file.open(QIODevice::ReadOnly) && file.readAll().count("\"event\":\"step\"") >= steps;
    }, 60000);
}

void CliTest::initTestCase()
{
    QVERIFY(m_dir.isValid());
    const Answer answer = run({QStringLiteral("demo"), QStringLiteral("demo"), QStringLiteral("--json")});
    QVERIFY2(answer.exit == 0, answer.err.constData());
    m_stage = m_dir.path() + QStringLiteral("/demo/demo.yaml");
    QVERIFY(QFile::exists(m_stage));
    QVERIFY(answer.object()[QStringLiteral("files")].toArray().size() > 48);
}

void CliTest::cleanup()
{
    if (!m_detached.isEmpty())
        run({QStringLiteral("stop"), m_detached, QStringLiteral("--now"), QStringLiteral("--timeout"), QStringLiteral("20")});
    m_detached.clear();
}

void CliTest::checkAcceptsTheDemoStage()
{
    const Answer answer = run({QStringLiteral("check"), m_stage, QStringLiteral("--json")});
    QVERIFY2(answer.exit == 0, answer.err.constData());
    QVERIFY2(answer.object()[QStringLiteral("problems")].toArray().isEmpty(), answer.out.constData());
}

void CliTest::answersWithExactlyOneObject_data()
{
    QTest::addColumn<QStringList>("arguments");
    const auto row = [](const char *name, const QStringList &arguments) { QTest::newRow(name) << arguments; };
    row("check", {QStringLiteral("check"), QStringLiteral("STAGE")});
    row("show", {QStringLiteral("show"), QStringLiteral("STAGE"), QStringLiteral("--origin")});
    row("diff", {QStringLiteral("diff"), QStringLiteral("STAGE"), QStringLiteral("STAGE")});
    row("buckets", {QStringLiteral("buckets"), QStringLiteral("STAGE")});
    row("schema", {QStringLiteral("schema")});
    row("presets", {QStringLiteral("presets")});
    row("runsOfMissingFolder", {QStringLiteral("runs"), QStringLiteral("nowhere")});
    row("inspectOfMissingPath", {QStringLiteral("inspect"), QStringLiteral("nowhere")});
    row("unknownOption", {QStringLiteral("runs"), QStringLiteral("--colour")});
}

void CliTest::answersWithExactlyOneObject()
{
    QFETCH(QStringList, arguments);
    arguments.replaceInStrings(QStringLiteral("STAGE"), m_stage);
    const Answer answer = run(arguments + QStringList{QStringLiteral("--json")});
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(answer.out, &error);
    QCOMPARE(error.error, QJsonParseError::NoError);
    QCOMPARE(document.object()[QStringLiteral("command")].toString(), arguments[0]);
    QVERIFY(document.object()[QStringLiteral("problems")].isArray());
    QVERIFY2(answer.exit == 0 || !document.object()[QStringLiteral("problems")].toArray().isEmpty(), answer.out.constData());
}

void CliTest::badInputGivesCodeAndSentence_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("exit");
    QTest::addColumn<QString>("mentions");
    const auto row = [](const char *name, const QStringList &arguments, int exit, const char *mentions) {
        QTest::newRow(name) << arguments << exit << QString::fromUtf8(mentions);
    };
    const QString train = QStringLiteral("train"), stage = QStringLiteral("STAGE");
    row("noCommand", {}, 2, "");
    row("unknownCommand", {QStringLiteral("trian")}, 2, "train");
    row("missingStage", {train, QStringLiteral("none.yaml")}, 2, "none.yaml");
    row("unknownKey", {train, stage, QStringLiteral("--ckpt_evry"), QStringLiteral("5")}, 2, "ckpt_every");
    row("wrongType", {train, stage, QStringLiteral("--optim.lr"), QStringLiteral("fast")}, 2, "optim.lr");
    row("noGpu", {train, stage, QStringLiteral("--device"), QStringLiteral("cuda")}, 2, "GPU");
    row("missingTable", {train, stage, QStringLiteral("--dataset.data-path"), QStringLiteral("none.csv")}, 3, "none.csv");
    row("missingColumn", {QStringLiteral("buckets"), stage, QStringLiteral("--dataset.data-path"), QStringLiteral("short.csv")}, 3, "num_frames");
    row("noBatch", {QStringLiteral("buckets"), stage, QStringLiteral("--dataset.data-path"), QStringLiteral("tiny.csv")}, 3, "batch");
    row("learnedEncoder", {train, stage, QStringLiteral("--t5.type"), QStringLiteral("text_embedder")}, 2, "t5");
    row("nothingToLoad", {train, stage, QStringLiteral("--load"), QStringLiteral("nowhere/epoch*")}, 4, "nowhere");
    row("columnsMissing", {QStringLiteral("check"), QStringLiteral("STAGE"), QStringLiteral("--dataset.data-path"), QStringLiteral("short.csv")}, 2, "num_frames");
    row("noSuchRun", {QStringLiteral("attach"), QStringLiteral("nobody")}, 2, "nobody");
    row("notACheckpoint", {QStringLiteral("inspect"), QStringLiteral("short.csv")}, 4, "short.csv");
}

void CliTest::badInputGivesCodeAndSentence()
{
    QFETCH(QStringList, arguments);
    QFETCH(int, exit);
    QFETCH(QString, mentions);
    QFile table(m_dir.path() + QStringLiteral("/short.csv"));
    QVERIFY(table.open(QIODevice::WriteOnly));
    table.write("path,text\na.mp4,one\n");
    table.close();
    QFile tiny(m_dir.path() + QStringLiteral("/tiny.csv"));
    QVERIFY(tiny.open(QIODevice::WriteOnly));
    tiny.write("path,text,num_frames,height,width,fps\na.mp4,one,2,10,10,24\n");
    tiny.close();
    arguments.replaceInStrings(QStringLiteral("STAGE"), m_stage);
    const Answer answer = run(arguments);
    QVERIFY2(answer.exit == exit, "exit " + QByteArray::number(answer.exit) + ": " + answer.err);
    QVERIFY2(mentions.isEmpty() || QString::fromUtf8(answer.err).contains(mentions), answer.err.constData());
    QVERIFY2(!answer.err.contains("terminate called") && !answer.err.contains("Exception raised"), answer.err.constData());
}

void CliTest::misspeltKeyIsNamedWithTheNearestOne()
{
    const QString file = m_dir.path() + QStringLiteral("/misspelt.py");
    QFile stage(file);
    QVERIFY(stage.open(QIODevice::WriteOnly));
    stage.write("_base_ = 'demo/demo.yaml'\nmodel = dict(\n    grad_ckpt_setting=(1, 1),  # as the guide says\n)\n");
    stage.close();
    const Answer answer = run({QStringLiteral("check"), file, QStringLiteral("--json")});
    QCOMPARE(answer.exit, 2);
    bool found = false;
    for (const auto &value : answer.object()[QStringLiteral("problems")].toArray()) {
        const QJsonObject problem = value.toObject();
        if (problem[QStringLiteral("code")].toString() == QLatin1String("config.unknown-key")) {
            found = true;
            QCOMPARE(problem[QStringLiteral("line")].toInt(), 3);
            QVERIFY(problem[QStringLiteral("message")].toString().contains(QStringLiteral("grad_ckpt_settings")));
            QVERIFY(problem[QStringLiteral("fix")].isObject());
        }
    }
    QVERIFY2(found, answer.out.constData());
    const Answer fixed = run({QStringLiteral("check"), file, QStringLiteral("--fix"), QStringLiteral("--write"), QStringLiteral("--json")});
    QVERIFY2(fixed.exit == 0, fixed.out.constData());
    QVERIFY(stage.open(QIODevice::ReadOnly));
    const QByteArray text = stage.readAll();
    QVERIFY2(text.contains("grad_ckpt_settings=(1, 1),  # as the guide says"), text.constData());
}

void CliTest::bucketsAddUp()
{
    const Answer answer = run({QStringLiteral("buckets"), m_stage, QStringLiteral("--order"), QStringLiteral("3"), QStringLiteral("--json")});
    QVERIFY2(answer.exit == 0, answer.err.constData());
    const QJsonObject object = answer.object();
    int dropped = 0, samples = 0;
    for (const auto &count : object[QStringLiteral("dropped")].toObject())
        dropped += count.toInt();
    for (const auto &bucket : object[QStringLiteral("buckets")].toArray())
        samples += bucket.toObject()[QStringLiteral("samples")].toInt();
    QCOMPARE(object[QStringLiteral("kept")].toInt() + dropped, object[QStringLiteral("rows")].toInt());
    QCOMPARE(samples, object[QStringLiteral("kept")].toInt());
    QCOMPARE(object[QStringLiteral("order")].toArray().size(), 3);
}

void CliTest::trainStreamsEventsAndSummary()
{
    const Answer answer = train(QStringLiteral("stream"), {QStringLiteral("--max-train-steps"), QStringLiteral("5"), QStringLiteral("--ckpt-every"), QStringLiteral("2")});
    QVERIFY2(answer.exit == 0, answer.err.constData());
    const auto events = answer.lines();
    QCOMPARE(events.first()[QStringLiteral("event")].toString().isEmpty(), false);
    QCOMPARE(events.last()[QStringLiteral("event")].toString(), QStringLiteral("summary"));
    const auto steps = ofKind(events, "step");
    QCOMPARE(steps.size(), 5);
    for (int i = 0; i < steps.size(); ++i) {
        QCOMPARE(steps[i][QStringLiteral("step")].toInt(), i + 1);
        for (const char *field : {"loss", "lr", "grad_norm", "bucket", "seconds", "data_wait_seconds", "peak_bytes"})
            QVERIFY2(steps[i].contains(QLatin1String(field)), field);
        QVERIFY(steps[i][QStringLiteral("peak_bytes")].toDouble() > 1e6);
    }
    const QJsonObject summary = events.last();
    QCOMPARE(summary[QStringLiteral("steps")].toInt(), 5);
    QCOMPARE(summary[QStringLiteral("exit")].toInt(), 0);
    // After steps 2 and 4, and the last one at the end.
    QCOMPARE(summary[QStringLiteral("checkpoints")].toArray().size(), 3);
    QVERIFY(!ofKind(events, "memory").isEmpty());
    QVERIFY(!ofKind(events, "checkpoint").isEmpty());
    const QString run = summary[QStringLiteral("run")].toString();
    for (const char *file : {"run.json", "config.yaml", "origins.json", "config.txt", "events.jsonl", "train.log", "tensorboard", "lease"})
        QVERIFY2(QFile::exists(run + QLatin1Char('/') + QLatin1String(file)), file);
    const Answer inspected = this->run({QStringLiteral("inspect"), summary[QStringLiteral("checkpoints")].toArray().last().toObject()[QStringLiteral("path")].toString(),
                                        QStringLiteral("--verify"), QStringLiteral("--json")});
    QVERIFY2(inspected.exit == 0, inspected.out.constData());
    QCOMPARE(inspected.object()[QStringLiteral("verified")].toBool(), true);
    QCOMPARE(inspected.object()[QStringLiteral("step")].toInt(), 5);
}

namespace {

QByteArray weightsOf(const QString &checkpoint)
{
    QByteArray all;
    QDir model(checkpoint + QStringLiteral("/model"));
    for (const QString &name : model.entryList({QStringLiteral("*.safetensors")}, QDir::Files, QDir::Name)) {
        QFile file(model.filePath(name));
        if (file.open(QIODevice::ReadOnly))
            all += file.readAll();
    }
    return all;
}

QString newestOf(const Answer &answer)
{
    return answer.lines().last()[QStringLiteral("checkpoints")].toArray().last().toObject()[QStringLiteral("path")].toString();
}

} // namespace

void CliTest::resumeEqualsTheUninterruptedRun()
{
    const QStringList six{QStringLiteral("--max-train-steps"), QStringLiteral("6"), QStringLiteral("--accumulation-steps"), QStringLiteral("2")};
    const QStringList three{QStringLiteral("--max-train-steps"), QStringLiteral("3"), QStringLiteral("--accumulation-steps"), QStringLiteral("2")};
    const Answer whole = train(QStringLiteral("whole"), six);
    QVERIFY2(whole.exit == 0, whole.err.constData());
    const Answer first = train(QStringLiteral("first"), three);
    QVERIFY2(first.exit == 0, first.err.constData());
    const Answer second = train(QStringLiteral("second"), six + QStringList{QStringLiteral("--load"), newestOf(first)});
    QVERIFY2(second.exit == 0, second.err.constData());
    QCOMPARE(second.lines().last()[QStringLiteral("steps")].toInt(), 3);
    const QByteArray weights = weightsOf(newestOf(whole));
    QVERIFY(weights.size() > 10000);
    QVERIFY(weights != weightsOf(newestOf(first)));
    QVERIFY2(weights == weightsOf(newestOf(second)), "the resumed run's weights differ from the uninterrupted run's");
}

void CliTest::resumeAtTheEndDoesNothing()
{
    const QStringList arguments{QStringLiteral("--max-train-steps"), QStringLiteral("2")};
    const Answer first = train(QStringLiteral("ended"), arguments);
    QVERIFY2(first.exit == 0, first.err.constData());
    const Answer again = train(QStringLiteral("endedAgain"), arguments + QStringList{QStringLiteral("--load"), newestOf(first)});
    QVERIFY2(again.exit == 0, again.err.constData());
    QCOMPARE(again.lines().last()[QStringLiteral("steps")].toInt(), 0);
}

void CliTest::saveAndStopReachARunningRun()
{
    QDir().mkpath(folderOf(QStringLiteral("commanded")));
    const Answer launched = run({QStringLiteral("train"), m_stage, QStringLiteral("--detach"), QStringLiteral("--json"), QStringLiteral("--max-train-steps"),
                                 QStringLiteral("100000"), QStringLiteral("--ckpt-every"), QStringLiteral("0")}, folderOf(QStringLiteral("commanded")));
    QVERIFY2(launched.exit == 0, launched.err.constData());
    m_detached = launched.object()[QStringLiteral("run")].toString();
    if (!m_detached.startsWith(QLatin1Char('/')))
        m_detached = folderOf(QStringLiteral("commanded")) + QLatin1Char('/') + m_detached;
    const int pid = launched.object()[QStringLiteral("pid")].toInt();
    QVERIFY(pid > 0);
    QVERIFY(environmentOf(pid).contains("GOMP_SPINCOUNT=10000"));
    QVERIFY(waitForSteps(m_detached, 2));
    const Answer listed = run({QStringLiteral("runs"), folderOf(QStringLiteral("commanded")) + QStringLiteral("/outputs"), QStringLiteral("--json")});
    QCOMPARE(listed.object()[QStringLiteral("runs")].toArray().first().toObject()[QStringLiteral("state")].toString(), QStringLiteral("running"));
    const Answer saved = run({QStringLiteral("save"), m_detached, QStringLiteral("--json")});
    QVERIFY2(saved.exit == 0, saved.err.constData());
    QVERIFY(QFile::exists(saved.object()[QStringLiteral("checkpoint")].toString()));
    const Answer stopped = run({QStringLiteral("stop"), m_detached, QStringLiteral("--json")});
    QVERIFY2(stopped.exit == 0, stopped.err.constData());
    QCOMPARE(stopped.object()[QStringLiteral("state")].toString(), QStringLiteral("stopped"));
    const Answer attached = run({QStringLiteral("attach"), m_detached, QStringLiteral("--json")});
    QCOMPARE(attached.exit, 7);
    QCOMPARE(attached.lines().last()[QStringLiteral("exit")].toInt(), 7);
    m_detached.clear();
}

// Also where a script starts the worker itself.
void CliTest::idleThreadsOfAWorkerSleep()
{
    QProcess process;
    auto environment = QProcessEnvironment::systemEnvironment();
    for (const char *name : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"})
        environment.remove(QLatin1String(name));
    process.setProcessEnvironment(environment);
    process.start(QStringLiteral(STAGEWRIGHT_BIN "/stagewright-worker"), {QStringLiteral("plan")});      // waits for questions
    QVERIFY(process.waitForStarted(kDeadlineMs));
    const auto pid = process.processId();
    QVERIFY(QTest::qWaitFor([&] { return environmentOf(pid).contains("GOMP_SPINCOUNT=10000"); }, 30000));
    QFile name(QStringLiteral("/proc/%1/comm").arg(pid));
    QVERIFY(name.open(QIODevice::ReadOnly));
    QCOMPARE(name.readAll().trimmed(), QByteArray("stagewright-wor"));
    process.closeWriteChannel();
    QVERIFY(process.waitForFinished(kDeadlineMs));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
}

void CliTest::killedWorkerIsTold()
{
    QDir().mkpath(folderOf(QStringLiteral("killed")));
    const Answer launched = run({QStringLiteral("train"), m_stage, QStringLiteral("--detach"), QStringLiteral("--json"), QStringLiteral("--max-train-steps"),
                                 QStringLiteral("100000")}, folderOf(QStringLiteral("killed")));
    QVERIFY2(launched.exit == 0, launched.err.constData());
    QString runFolder = launched.object()[QStringLiteral("run")].toString();
    if (!runFolder.startsWith(QLatin1Char('/')))
        runFolder = folderOf(QStringLiteral("killed")) + QLatin1Char('/') + runFolder;
    QVERIFY(waitForSteps(runFolder, 1));
    QCOMPARE(::kill(launched.object()[QStringLiteral("pid")].toInt(), SIGKILL), 0);
    const Answer attached = run({QStringLiteral("attach"), runFolder, QStringLiteral("--json")});
    QCOMPARE(attached.exit, 8);
    QVERIFY2(!attached.lines().last()[QStringLiteral("sentence")].toString().isEmpty(), attached.out.right(500).constData());
}

void CliTest::interruptSavesAndStops()
{
    QDir().mkpath(folderOf(QStringLiteral("interrupted")));
    QProcess process;
    process.setWorkingDirectory(folderOf(QStringLiteral("interrupted")));
    process.start(cliPath(), {QStringLiteral("train"), m_stage, QStringLiteral("--json"), QStringLiteral("--max-train-steps"), QStringLiteral("100000"),
                              QStringLiteral("--ckpt-every"), QStringLiteral("0")});
    QByteArray out;
    QVERIFY(QTest::qWaitFor([&] { out += process.readAllStandardOutput(); return out.contains("\"event\":\"step\""); }, 60000));
    QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
    QVERIFY(process.waitForFinished(60000));
    out += process.readAllStandardOutput();
    QCOMPARE(process.exitCode(), 7);
    Answer answer;
    answer.out = out;
    QCOMPARE(answer.lines().last()[QStringLiteral("checkpoints")].toArray().size(), 1);
}

void CliTest::viewersChangeNothing()
{
    const QStringList arguments{QStringLiteral("--max-train-steps"), QStringLiteral("8")};
    const Answer alone = train(QStringLiteral("alone"), arguments);
    QVERIFY2(alone.exit == 0, alone.err.constData());
    QDir().mkpath(folderOf(QStringLiteral("watched")));
    const Answer launched = run(QStringList{QStringLiteral("train"), m_stage, QStringLiteral("--detach"), QStringLiteral("--json")} + arguments, folderOf(QStringLiteral("watched")));
    QVERIFY2(launched.exit == 0, launched.err.constData());
    QString runFolder = launched.object()[QStringLiteral("run")].toString();
    if (!runFolder.startsWith(QLatin1Char('/')))
        runFolder = folderOf(QStringLiteral("watched")) + QLatin1Char('/') + runFolder;
    // One viewer that is killed, one that is stopped (never reads), one that follows to the end.
    QProcess killed, stalled;
    killed.start(cliPath(), {QStringLiteral("attach"), runFolder, QStringLiteral("--json")});
    stalled.start(cliPath(), {QStringLiteral("attach"), runFolder, QStringLiteral("--json")});
    QVERIFY(killed.waitForStarted(10000) && stalled.waitForStarted(10000));
    ::kill(static_cast<pid_t>(stalled.processId()), SIGSTOP);
    killed.kill();
    const Answer followed = run({QStringLiteral("attach"), runFolder, QStringLiteral("--json")});
    ::kill(static_cast<pid_t>(stalled.processId()), SIGCONT);
    QVERIFY(stalled.waitForFinished(20000) && killed.waitForFinished(20000));
    QVERIFY2(followed.exit == 0, followed.err.constData());
    QCOMPARE(ofKind(followed.lines(), "step").size(), 8);
    QVERIFY(weightsOf(newestOf(followed)) == weightsOf(newestOf(alone)));
}

void CliTest::truncatedCheckpointIsRefused()
{
    const Answer trained = train(QStringLiteral("cut"), {QStringLiteral("--max-train-steps"), QStringLiteral("1")});
    QVERIFY2(trained.exit == 0, trained.err.constData());
    const QString checkpoint = newestOf(trained);
    QFile weights(checkpoint + QStringLiteral("/model/model-00001.safetensors"));
    QVERIFY2(weights.exists(), qPrintable(checkpoint));
    QVERIFY(weights.resize(weights.size() - 1000));
    const Answer inspected = run({QStringLiteral("inspect"), checkpoint, QStringLiteral("--json")});
    QCOMPARE(inspected.exit, 4);
    QVERIFY2(!codesOf(inspected.object()).isEmpty(), inspected.out.constData());
    const Answer resumed = train(QStringLiteral("cutAgain"), {QStringLiteral("--max-train-steps"), QStringLiteral("2"), QStringLiteral("--load"), checkpoint});
    QCOMPARE(resumed.exit, 4);
    QVERIFY2(resumed.out.contains("model-00001.safetensors") || resumed.err.contains("model-00001.safetensors"), resumed.out.constData());
}

void CliTest::reportIsSelfContained()
{
    const Answer trained = train(QStringLiteral("reported"), {QStringLiteral("--max-train-steps"), QStringLiteral("3"), QStringLiteral("--report")});
    QVERIFY2(trained.exit == 0, trained.err.constData());
    QFile page(runOf(trained) + QStringLiteral("/report.html"));
    QVERIFY(page.open(QIODevice::ReadOnly));
    const QByteArray html = page.readAll();
    QVERIFY(html.contains("<svg") && html.contains("Loss") && html.contains("<polyline"));
    QVERIFY(!html.contains("http://") && !html.contains("https://") && !html.contains("<script"));
}

QTEST_GUILESS_MAIN(CliTest)
#include "cli_test.moc"
