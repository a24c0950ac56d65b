// The open stage: what survives a kill, and what happens when somebody else writes the file.
#include <QCoreApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <csignal>

#include "core/base/files.h"
#include "ui/session/edit_journal.h"
#include "ui/session/stage_session.h"
#include "ui/session/text_merge.h"

using namespace stagewright;
using namespace stagewright::session;

namespace {

constexpr int kWaitMs = 20000;

const std::string kText = "# a stage\nseed = 1\nlr = 1e-4\nepochs = 3\noptim = dict(lr=lr)\n\n# saving\nckpt_every = 100\nkeep_n_latest = 5\n";

// What the killed process does: four edits, one of them undone; when the journal holds them it dies as by kill -9.
int editAndDie(const QString &file)
{
    StageSession stage;
    if (!stage.open(file.toStdString()) || !stage.setValue("seed", "2") || !stage.setValue("optim.lr", "3e-4") || !stage.setValue("keep_n_latest", "7")
        || !stage.setValue("ckpt_every", "50"))
        return 1;
    stage.undoStack()->undo();
    QElapsedTimer clock;
    for (clock.start(); clock.elapsed() < kWaitMs; QCoreApplication::processEvents(QEventLoop::AllEvents, 20)) {
        const auto journal = readJournal(file.toStdString());
        if (journal && journal->steps.size() == 4 && journal->position == 3)
            std::raise(SIGKILL);
    }
    return 2;
}

} // namespace

class StageSessionTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void mergesTexts_data();
    void mergesTexts();
    void editsAndTheirHistorySurviveAKill();
    void historySurvivesASaveAndARestart();
    void unsavedEditsMeetAnotherVersionOfTheFile();
    void takesTheTextOfAnotherProgram();
    void mergesWhatAnotherProgramChangedElsewhere();
    void asksAboutTheSameLines();
    void anEditIsValidatedBeforeTheTextIsReadAgain_data();
    void anEditIsValidatedBeforeTheTextIsReadAgain();
    void allFixesAreOneStep();
    void spellingIsKept();

private:
    std::string path() const { return m_file.toStdString(); }
    void write(const std::string &text) { QVERIFY(replaceFile(path(), text).ok()); }

    std::unique_ptr<QTemporaryDir> m_dir;
    QString m_file;
};

void StageSessionTest::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
    qputenv("XDG_STATE_HOME", m_dir->path().toUtf8() + "/state");
    m_file = m_dir->path() + QStringLiteral("/stage.py");
    write(kText);
}

void StageSessionTest::mergesTexts_data()
{
    QTest::addColumn<QString>("base");
    QTest::addColumn<QString>("mine");
    QTest::addColumn<QString>("theirs");
    QTest::addColumn<QString>("merged");                   // "?": a person decides
    const auto row = [](const char *what, const char *base, const char *mine, const char *theirs, const char *merged) {
        QTest::addRow("%s", what) << QString::fromLatin1(base) << QString::fromLatin1(mine) << QString::fromLatin1(theirs) << QString::fromLatin1(merged);
    };
    row("nothing", "a\nb\n", "a\nb\n", "a\nb\n", "a\nb\n");
    row("only mine", "a\nb\n", "a\nB\n", "a\nb\n", "a\nB\n");
    row("only theirs", "a\nb\n", "a\nb\n", "A\nb\n", "A\nb\n");
    row("apart", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n");
    row("the same", "a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", "a\nX\nc\n");
    row("one line", "a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n", "?");
    row("neighbours", "a\nb\nc\n", "a\nX\nc\n", "a\nb\nY\n", "?");
    row("added and removed", "a\nb\nc\nd\ne\n", "a\nnew\nb\nc\nd\ne\n", "a\nb\nc\ne\n", "a\nnew\nb\nc\ne\n");
    row("added at both ends", "a\nb\nc\n", "0\na\nb\nc\n", "a\nb\nc\nd\n", "0\na\nb\nc\nd\n");
    row("many places", "a\nb\nc\nd\ne\nf\ng\n", "A\nb\nc\nd\nE\nf\ng\n", "a\nb\nC\nd\ne\nf\nG\n", "A\nb\nC\nd\nE\nf\nG\n");
    row("no last line end", "a\nb\nc", "A\nb\nc", "a\nb\nc\nd", "A\nb\nc\nd");
    row("everything removed", "a\nb\n", "", "a\nb\n", "");
    row("removed and changed", "a\nb\n", "", "a\nB\n", "?");
}

void StageSessionTest::mergesTexts()
{
    QFETCH(QString, base);
    QFETCH(QString, mine);
    QFETCH(QString, theirs);
    QFETCH(QString, merged);
    const auto both = mergedTexts(base.toStdString(), mine.toStdString(), theirs.toStdString());
    QCOMPARE(both ? QString::fromStdString(*both) : QStringLiteral("?"), merged);
    const auto other = mergedTexts(base.toStdString(), theirs.toStdString(), mine.toStdString());
    QCOMPARE(other ? QString::fromStdString(*other) : QStringLiteral("?"), merged);
}

void StageSessionTest::editsAndTheirHistorySurviveAKill()
{
    QProcess child;
    child.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--edit-and-die"), m_file});
    QVERIFY(child.waitForFinished(2 * kWaitMs));
    QCOMPARE(child.exitStatus(), QProcess::CrashExit);
    QCOMPARE(readFile(path()).value(), kText);             // nothing was saved

    StageSession stage;
    QVERIFY(stage.open(path()).ok());
    QVERIFY(stage.isDirty());
    QVERIFY(!stage.restoredNotice().isEmpty());
    QVERIFY(!QTest::qWaitFor([&] { return !stage.isSettled(); }, 300));        // nothing that restoring set in motion comes late and takes the newest's place
    QVERIFY(stage.isSettled());
    QCOMPARE(stage.snapshot()->stage->integer("seed"), std::int64_t(2));
    QVERIFY(stage.text().find("seed = 2") != std::string::npos);
    QVERIFY(stage.text().find("optim = dict(lr=3e-4)") != std::string::npos);
    QVERIFY(stage.text().find("keep_n_latest = 7") != std::string::npos);
    QVERIFY(stage.text().find("ckpt_every = 100") != std::string::npos);
    stage.undoStack()->redo();
    QVERIFY(stage.text().find("ckpt_every = 50") != std::string::npos);
    QVERIFY(!stage.undoStack()->canRedo());
    for (int i = 0; i < 4; ++i)
        stage.undoStack()->undo();
    QCOMPARE(stage.text(), kText);
    QVERIFY(!stage.isDirty());
    QVERIFY(!stage.undoStack()->canUndo());
}

void StageSessionTest::historySurvivesASaveAndARestart()
{
    {
        StageSession stage;
        QVERIFY(stage.open(path()).ok());
        QVERIFY(stage.setValue("seed", "2").ok());
        QSignalSpy saved(&stage, &StageSession::saved);
        stage.save();
        QVERIFY(saved.wait(kWaitMs));
        QVERIFY(!stage.isDirty());
    }
    StageSession stage;
    QVERIFY(stage.open(path()).ok());
    QVERIFY(!stage.isDirty());
    QVERIFY(stage.undoStack()->canUndo());
    stage.undoStack()->undo();
    QCOMPARE(stage.text(), kText);
    QVERIFY(stage.isDirty());
}

void StageSessionTest::unsavedEditsMeetAnotherVersionOfTheFile()
{
    {
        StageSession stage;
        QVERIFY(stage.open(path()).ok());
        QVERIFY(stage.setValue("seed", "2").ok());
    }
    std::string theirs = kText;
    theirs.replace(theirs.find("keep_n_latest = 5"), 17, "keep_n_latest = 9");
    write(theirs);
    StageSession stage;
    QVERIFY(stage.open(path()).ok());
    QVERIFY(stage.text().find("seed = 2") != std::string::npos && stage.text().find("keep_n_latest = 9") != std::string::npos);
    QVERIFY(!stage.restoredNotice().isEmpty());
    stage.undoStack()->undo();
    QCOMPARE(stage.text(), theirs);
}

void StageSessionTest::takesTheTextOfAnotherProgram()
{
    StageSession stage;
    QVERIFY(stage.open(path()).ok());
    QSignalSpy taken(&stage, &StageSession::takenFromDisk);
    // As an editor does that writes in place: empty for a moment.
    QFile file(m_file);
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate));
    file.write("seed = 9\n");
    file.close();
    QVERIFY(taken.count() || taken.wait(kWaitMs));
    QCOMPARE(stage.text(), std::string("seed = 9\n"));
    QVERIFY(!stage.isDirty());
    stage.undoStack()->undo();
    QCOMPARE(stage.text(), kText);
    QVERIFY(stage.isDirty());
    // A file that was replaced is watched still.
    stage.undoStack()->redo();
    write("seed = 10\n");
    QVERIFY(QTest::qWaitFor([&] { return stage.text() == "seed = 10\n"; }, kWaitMs));
}

void StageSessionTest::mergesWhatAnotherProgramChangedElsewhere()
{
    StageSession stage;
    QVERIFY(stage.open(path()).ok());
    QVERIFY(stage.setValue("seed", "2").ok());
    const std::string mine = stage.text();
    QSignalSpy merged(&stage, &StageSession::mergedFromDisk);
    std::string theirs = kText;
    theirs.replace(theirs.find("keep_n_latest = 5"), 17, "keep_n_latest = 9");
    write(theirs);
    QVERIFY(merged.count() || merged.wait(kWaitMs));
    QVERIFY(stage.text().find("seed = 2") != std::string::npos && stage.text().find("keep_n_latest = 9") != std::string::npos);
    QVERIFY(stage.isDirty());
    QCOMPARE(stage.savedText(), theirs);
    stage.undoStack()->undo();
    QCOMPARE(stage.text(), mine);
}

void StageSessionTest::asksAboutTheSameLines()
{
    StageSession stage;
    QVERIFY(stage.open(path()).ok());
    QVERIFY(stage.setValue("seed", "2").ok());
    const std::string mine = stage.text();
    QSignalSpy asked(&stage, &StageSession::changedOnDisk);
    std::string theirs = kText;
    theirs.replace(theirs.find("seed = 1"), 8, "seed = 3");
    write(theirs);
    QVERIFY(asked.count() || asked.wait(kWaitMs));
    QCOMPARE(stage.text(), mine);
    stage.reload();
    QCOMPARE(stage.text(), theirs);
    QVERIFY(!stage.isDirty());
    stage.undoStack()->undo();
    QCOMPARE(stage.text(), mine);
    stage.keepMine();
    QVERIFY(stage.isDirty());
    QCOMPARE(stage.savedText(), theirs);
}

// What is shown a moment after an edit is what reading the whole text will say, in both formats.
void StageSessionTest::anEditIsValidatedBeforeTheTextIsReadAgain_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("value");
    QTest::addColumn<bool>("early");                       // whether it can be told without reading the text
    for (const char *name : {"a.py", "a.yaml"}) {
        const auto row = [name](const char *path, const char *value, bool early) { QTest::newRow(qPrintable(QStringLiteral("%1 %2 = %3").arg(QLatin1String(name), QLatin1String(path), QLatin1String(value)))) << name << path << value << early; };
        row("seed", "7", true);
        row("optim.lr", "-3e-4", QLatin1String(name) == QLatin1String("a.yaml"));
        row("epochs", "'many'", true);
        row("bucket_config.256px.5", "(0.5, 0)", true);
        row("bucket_config.256px.9", "(0.5, 2)", false);
        row("log_every", "3", false);
    }
    QTest::addRow("a helper") << "a.py" << "lr" << "1e-3" << false;
}

void StageSessionTest::anEditIsValidatedBeforeTheTextIsReadAgain()
{
    QFETCH(QString, name);
    QFETCH(QString, path);
    QFETCH(QString, value);
    QFETCH(bool, early);
    const std::string file = m_dir->path().toStdString() + "/" + name.toStdString();
    QVERIFY(replaceFile(file, name.endsWith(QStringLiteral(".py"))
        ? "lr = 1e-4\nseed = 1\nepochs = 3\noptim = dict(eps=1e-15, lr=lr)\nbucket_config = {'256px': {1: (1.0, 4), 5: (1.0, 2)}}\n"
        : "seed: 1\nepochs: 3  # few\noptim: {eps: 1.0e-15, lr: 1e-4}\nbucket_config:\n  256px:\n    1: !tuple [1.0, 4]\n    5: !tuple [1.0, 2]\n").ok());
    StageSession stage;
    QVERIFY(stage.open(file).ok());
    const auto before = stage.snapshot();
    const auto quick = withValue(before, path.toStdString(), value.toStdString(), 9);
    QCOMPARE(quick != nullptr, early);
    QVERIFY(stage.setValue(path.toStdString(), value.toStdString()).ok());
    QVERIFY(QTest::qWaitFor([&] { return stage.isSettled(); }, kWaitMs));
    const auto whole = takeSnapshot(stage.text(), file, 1);
    QVERIFY(whole->stage);
    const auto told = [](const SnapshotPtr &snapshot) {
        std::string text;
        for (const Problem &problem : snapshot->problems)
            text += problem.code + " " + problem.path + " " + std::to_string(problem.line) + ": " + problem.message + "\n";
        return text;
    };
    QCOMPARE(told(stage.snapshot()), told(whole));
    if (quick) {
        QCOMPARE(told(quick), told(whole));
        QCOMPARE(config::toPython(*quick->valueOf(path.toStdString())), config::toPython(*whole->valueOf(path.toStdString())));
        QVERIFY(told(quick) != told(before) || path == QStringLiteral("seed"));
    }
    stage.undoStack()->undo();
    QCOMPARE(stage.text(), readFile(file).value());
}

void StageSessionTest::allFixesAreOneStep()
{
    write(kText + "kepp_every = 200\naccumulation_step = 2  # micro-steps\n");
    const std::string before = readFile(path()).value();
    StageSession stage;
    QVERIFY(stage.open(path()).ok());
    QVERIFY(stage.applyAllFixes() >= 2);
    QVERIFY2(stage.text().find("keep_every = 200\naccumulation_steps = 2  # micro-steps") != std::string::npos, stage.text().c_str());
    QCOMPARE(stage.undoStack()->count(), 1);
    stage.undoStack()->undo();
    QCOMPARE(stage.text(), before);
}

void StageSessionTest::spellingIsKept()
{
    StageSession stage;
    QVERIFY(stage.open(path()).ok());
    QVERIFY(stage.setValue("optim.lr", "3e-4").ok());
    QVERIFY(stage.text().find("optim = dict(lr=3e-4)") != std::string::npos);
    QVERIFY(stage.setValue("grad_ckpt_buffer_size", "25 * 1024**3").ok());
    QVERIFY(stage.text().find("grad_ckpt_buffer_size = 25 * 1024**3") != std::string::npos);
    const std::string yaml = m_dir->path().toStdString() + "/stage.yaml";
    QVERIFY(replaceFile(yaml, "optim:\n  lr: 0.001  # high\n").ok());
    QVERIFY(stage.open(yaml).ok());
    QVERIFY(stage.setValue("optim.lr", "3e-4").ok());
    QCOMPARE(stage.text(), std::string("optim:\n  lr: 3e-4  # high\n"));
}

int main(int argc, char **argv)
{
    QCoreApplication application(argc, argv);
    if (argc == 3 && QLatin1String(argv[1]) == QLatin1String("--edit-and-die"))
        return editAndDie(QString::fromLocal8Bit(argv[2]));
    StageSessionTest test;
    return QTest::qExec(&test, argc, argv);
}

#include "stage_session_test.moc"
