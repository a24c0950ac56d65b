// The cache of encodings as scripts use it: built, stopped, verified, damaged, trained from.
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <signal.h>

using namespace Qt::StringLiterals;

namespace {

constexpr int kDeadlineMs = 240000;

struct Answer {
    int exit = -1;
    QByteArray out, err;
    QJsonObject object() const { return QJsonDocument::fromJson(out).object(); }
    qint64 number(const QString &key) const { return object()[key].toInteger(-1); }
    QStringList codes() const
    {
        QStringList all;
        for (const auto &problem : object()[u"problems"_s].toArray())
            all << problem.toObject()[u"code"_s].toString();
        return all;
    }
    QList<QJsonObject> events(const char *kind) const
    {
        QList<QJsonObject> found;
        for (const QByteArray &line : out.split('\n')) {
            const auto event = QJsonDocument::fromJson(line).object();
            if (event[u"event"_s].toString() == QLatin1String(kind))
                found.append(event);
        }
        return found;
    }
};

} // namespace

class CacheCliTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void builtVerifiedAndTrainedFrom();
    void interruptedBuildGoesOn();
    void damagedEntryIsFoundAndMadeAgain();
    void trainingWithoutTheCacheSaysWhatToDo();
    void badCommandLineIsASentence_data();
    void badCommandLineIsASentence();

private:
    Answer run(const QStringList &arguments) const
    {
        QProcess process;
        process.setWorkingDirectory(m_dir.path());
        process.start(u"" STAGEWRIGHT_BIN "/stagewright-cli"_s, arguments);
        Answer answer;
        if (!process.waitForFinished(kDeadlineMs)) {
            process.kill();
            process.waitForFinished(5000);
            return answer;
        }
        answer.exit = process.exitCode();
        answer.out = process.readAllStandardOutput();
        answer.err = process.readAllStandardError();
        return answer;
    }
    QStringList cacheArguments(const QString &action, const QString &cache) const { return {u"cache"_s, action, m_stage, u"--json"_s, u"--encoding-cache"_s, m_dir.filePath(cache)}; }

    QTemporaryDir m_dir;
    QString m_stage;
};

void CacheCliTest::initTestCase()
{
    const Answer made = run({u"demo"_s, m_dir.filePath(u"demo"_s)});
    QCOMPARE(made.exit, 0);
    m_stage = m_dir.filePath(u"demo/demo.yaml"_s);
}

void CacheCliTest::builtVerifiedAndTrainedFrom()
{
    const Answer before = run(cacheArguments(u"status"_s, u"cache"_s));
    QVERIFY2(before.exit == 0, before.err.constData());
    QCOMPARE(before.number(u"present"_s), 0);
    QCOMPARE(before.number(u"missing"_s), before.number(u"wanted"_s));
    const Answer built = run(cacheArguments(u"build"_s, u"cache"_s));
    QVERIFY2(built.exit == 0, built.err.constData());
    QCOMPARE(built.number(u"wanted"_s), before.number(u"wanted"_s));
    QCOMPARE(built.number(u"encoded"_s) + built.number(u"refused"_s), built.number(u"wanted"_s));
    QVERIFY(built.codes().contains(u"data.bad-sample"_s));             // the demo's broken clip
    const Answer verified = run(cacheArguments(u"verify"_s, u"cache"_s));
    QVERIFY2(verified.exit == 0, verified.out.constData());
    QCOMPARE(verified.number(u"present"_s), built.number(u"encoded"_s));
    QCOMPARE(verified.number(u"missing"_s) + verified.number(u"damaged"_s), 0);
    const Answer trained = run({u"train"_s, m_stage, u"--json"_s, u"--encoding-cache"_s, m_dir.filePath(u"cache"_s), u"--max-train-steps"_s, u"6"_s, u"--ckpt-every"_s, u"0"_s});
    QVERIFY2(trained.exit == 0, trained.err.constData());
    QCOMPARE(trained.events("step").size(), 6);
    for (const QJsonObject &problem : trained.events("problem"))
        QVERIFY2(!problem[u"code"_s].toString().startsWith(u"data."_s), trained.out.constData());
    for (const QJsonObject &note : trained.events("note"))
        QVERIFY2(note[u"code"_s].toString() != u"data.cache-missing"_s, trained.out.constData());
}

void CacheCliTest::interruptedBuildGoesOn()
{
    QProcess process;
    process.setWorkingDirectory(m_dir.path());
    const QStringList much{u"--t5.max-length"_s, u"4096"_s};            // to write, so that it is not done before it hears
    process.start(u"" STAGEWRIGHT_BIN "/stagewright-cli"_s, cacheArguments(u"build"_s, u"interrupted"_s) + much);
    QVERIFY(QTest::qWaitFor([&] { return QDirIterator(m_dir.filePath(u"interrupted"_s), {u"*.safetensors"_s}, QDir::Files, QDirIterator::Subdirectories).hasNext(); }, kDeadlineMs));
    QCOMPARE(::kill(static_cast<pid_t>(process.processId()), SIGINT), 0);
    QVERIFY(process.waitForFinished(kDeadlineMs));
    QCOMPARE(process.exitCode(), 7);
    const Answer rest = run(cacheArguments(u"build"_s, u"interrupted"_s) + much);
    QCOMPARE(rest.exit, 0);
    QVERIFY(rest.number(u"present"_s) > 0);
    QCOMPARE(run(cacheArguments(u"verify"_s, u"interrupted"_s) + much).exit, 0);
}

void CacheCliTest::damagedEntryIsFoundAndMadeAgain()
{
    QCOMPARE(run(cacheArguments(u"build"_s, u"damaged"_s)).exit, 0);
    QDirIterator entries(m_dir.filePath(u"damaged"_s), {u"*.safetensors"_s}, QDir::Files, QDirIterator::Subdirectories);
    QFile entry(entries.next());
    QVERIFY(entry.open(QIODevice::ReadWrite));
    QVERIFY(entry.seek(entry.size() - 3));
    QVERIFY(entry.putChar('!'));
    entry.close();
    const Answer verified = run(cacheArguments(u"verify"_s, u"damaged"_s));
    QCOMPARE(verified.exit, 3);
    QCOMPARE(verified.number(u"damaged"_s), 1);
    QVERIFY(verified.codes().contains(u"data.cache-damaged"_s));
    const Answer mended = run(cacheArguments(u"build"_s, u"damaged"_s) + QStringList{u"--check"_s});
    QCOMPARE(mended.exit, 0);
    QCOMPARE(mended.number(u"encoded"_s), 1);
    QVERIFY(mended.codes().contains(u"data.cache-damaged"_s));         // said, not silent
    QCOMPARE(run(cacheArguments(u"verify"_s, u"damaged"_s)).exit, 0);
}

void CacheCliTest::trainingWithoutTheCacheSaysWhatToDo()
{
    const Answer trained = run({u"train"_s, m_stage, u"--json"_s, u"--encoding-cache"_s, m_dir.filePath(u"nowhere"_s), u"--max-train-steps"_s, u"2"_s});
    QCOMPARE(trained.exit, 3);
    const auto summary = trained.events("summary").last();
    QVERIFY2(trained.out.contains("stagewright-cli cache build"), trained.out.right(1000).constData());
    QCOMPARE(summary[u"exit"_s].toInt(), 3);
}

void CacheCliTest::badCommandLineIsASentence_data()
{
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("code");
    QTest::newRow("what to do") << QStringList{u"cache"_s, u"bild"_s, u"STAGE"_s, u"--json"_s} << u"run.command-line"_s;
    QTest::newRow("no folder") << QStringList{u"cache"_s, u"build"_s, u"STAGE"_s, u"--json"_s} << u"config.missing-key"_s;
    QTest::newRow("two sources") << QStringList{u"cache"_s, u"build"_s, u"STAGE"_s, u"--json"_s, u"--encoding-cache"_s, u"c"_s, u"--dataset.type"_s, u"cached_video_text"_s} << u"config.cache-and-columns"_s;
}

void CacheCliTest::badCommandLineIsASentence()
{
    QFETCH(QStringList, arguments);
    QFETCH(QString, code);
    const Answer answer = run(arguments.replaceInStrings(u"STAGE"_s, m_stage));
    QCOMPARE(answer.exit, 2);
    QVERIFY2(answer.codes().contains(code), answer.out.constData());
}

QTEST_GUILESS_MAIN(CacheCliTest)
#include "cache_cli_test.moc"
