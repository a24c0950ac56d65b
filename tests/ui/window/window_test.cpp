// From a stage file to a resumed run, with clicks and keys only; and what happens when the window is closed and opened again.
#include <QAction>
#include <QApplication>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QSet>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QUndoStack>
#include <QXmlStreamReader>

#include "core/config/option.h"
#include "tests/ui/demo_place.h"
#include "ui/look/language.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/pages/checkpoints_page.h"
#include "ui/pages/configure_page.h"
#include "ui/pages/run_page.h"
#include "ui/settings/option_form.h"
#include "ui/settings/option_row.h"
#include "ui/settings/stage_text_editor.h"
#include "ui/shell/command_palette.h"
#include "ui/shell/main_window.h"
#include "ui/shell/status_bar.h"
#include "ui/shell/top_bar.h"

using namespace stagewright;
using shell::MainWindow;
using shell::PageId;

namespace {

constexpr int kRunMs = 120000, kLookMs = 20000;     // deadlines on a slow machine: for what a run does, for what the window does

// Measures the longest time for which the event loop did not come round.
class StallWatch : public QObject
{
public:
    StallWatch()
    {
        m_timer.setTimerType(Qt::PreciseTimer);
        m_timer.setInterval(5);
        connect(&m_timer, &QTimer::timeout, this, [this] { m_longest = std::max(m_longest, m_clock.restart()); });
        m_clock.start();
        m_timer.start();
    }
    qint64 longestMs() const { return m_longest; }

private:
    QTimer m_timer;
    QElapsedTimer m_clock;
    qint64 m_longest = 0;
};

} // namespace

class WindowTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void missingStageIsASentence();
    void misspeltKeyIsMendedByOneClick();
    void typedTextAndFormStayInStep();
    void undoReachesBackToTheFile();
    void railAndPaletteReachEveryPage();
    void languageAndThemeSwitchLive();
    void everyPageSpeaksTheLanguageThatWasSwitchedTo();
    void trainsSavesStopsAndResumes();
    void closedWindowLetsTheRunGoOnAndFindsItAgain();

private:
    void open(const char *extra = "");
    bool settled() const { return QTest::qWaitFor([this] { return m_window->stage()->isSettled(); }, kLookMs); }
    bool waitForSteps(int steps) const { return QTest::qWaitFor([&] { return m_window->run()->facts().step >= steps; }, kRunMs); }

    QTemporaryDir m_dir;
    QString m_stage;
    QString m_noWorker;                                // why nothing can be trained; empty where it can
    std::unique_ptr<MainWindow> m_window;
};

void WindowTest::initTestCase()
{
    const QString wrong = tests::makeDemoPlace(m_dir, m_stage);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    // The programs lie in another folder than the tests. A build without LibTorch has no worker, unless one is named.
    if (!qEnvironmentVariableIsSet("STAGEWRIGHT_WORKER"))
        qputenv("STAGEWRIGHT_WORKER", STAGEWRIGHT_BIN "/stagewright-worker");
    if (!QFileInfo(qEnvironmentVariable("STAGEWRIGHT_WORKER")).isExecutable())
        m_noWorker = QStringLiteral("there is no worker at %1 (a build with STAGEWRIGHT_TORCH=OFF has none); set STAGEWRIGHT_WORKER to one")
                         .arg(qEnvironmentVariable("STAGEWRIGHT_WORKER"));
}

void WindowTest::init()
{
    m_window = std::make_unique<MainWindow>();
    m_window->resize(1440, 900);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_window.get(), kLookMs));
    m_window->activateWindow();                        // shortcuts go to the active window only
    QVERIFY(QTest::qWaitForWindowActive(m_window.get(), kLookMs));
}

void WindowTest::cleanup()
{
    if (m_window->run()->isActive()) {
        m_window->run()->stop(session::StopKind::AtOnce);
        QVERIFY(QTest::qWaitFor([this] { return !m_window->run()->isActive(); }, kLookMs));
    }
    m_window.reset();
}

// Opens a copy of the demo stage with a few lines more.
void WindowTest::open(const char *extra)
{
    static int number = 0;
    const QString file = m_dir.path() + QStringLiteral("/stage%1.yaml").arg(++number);
    QFile from(m_stage), to(file);
    QVERIFY(from.open(QIODevice::ReadOnly) && to.open(QIODevice::WriteOnly));
    to.write(from.readAll() + extra);
    to.close();
    m_window->openStage(file);
    QVERIFY(m_window->stage()->isOpen());
    QVERIFY(settled());
}

void WindowTest::missingStageIsASentence()
{
    m_window->openStage(QStringLiteral("/nowhere/none.yaml"));
    bool said = false;
    for (const QLabel *label : m_window->statusBar()->findChildren<QLabel *>())
        said = said || label->text().contains(QStringLiteral("/nowhere/none.yaml"));
    QVERIFY(said);
    QVERIFY(!m_window->stage()->isOpen());
}

void WindowTest::misspeltKeyIsMendedByOneClick()
{
    open("grad_ckpt_setting: !tuple [1, 1]\n");
    const auto &problems = m_window->stage()->snapshot()->problems;
    QVERIFY(!problems.empty());
    QCOMPARE(problems.front().code, std::string("config.unknown-key"));
    QVERIFY(problems.front().message.find("grad_ckpt_settings") != std::string::npos);
    QVERIFY(!m_window->stage()->snapshot()->canLaunch());
    QVERIFY(m_window->rail()->button(PageId::Configure)->text().contains(QLatin1Char('1')));
    QVERIFY(problems.front().fix.has_value());
    // The button lies in the help panel, named as the fix is; its text may be cut to the panel.
    const QString title = look::q(problems.front().fix->title);
    QPushButton *button = nullptr;
    QVERIFY(QTest::qWaitFor([&] {
        for (QPushButton *candidate : m_window->configurePage()->findChildren<QPushButton *>()) {
            if (candidate->isVisible() && candidate->accessibleName().contains(title))
                button = candidate;
        }
        return button != nullptr;
    }, kLookMs));
    QTest::mouseClick(button, Qt::LeftButton);
    QVERIFY(settled());
    QVERIFY(!m_window->stage()->displayText().contains(QStringLiteral("grad_ckpt_setting:")));
}

void WindowTest::typedTextAndFormStayInStep()
{
    open();
    m_window->configurePage()->showText(true);
    auto *editor = m_window->configurePage()->textEditor();
    QVERIFY(editor->isVisible());
    editor->setFocus();
    QTextCursor cursor = editor->document()->find(QStringLiteral("max_train_steps: 120"));
    QVERIFY(!cursor.isNull());
    cursor.setPosition(cursor.selectionEnd());
    editor->setTextCursor(cursor);
    QTest::keyClicks(editor, QStringLiteral("0"));
    QVERIFY(QTest::qWaitFor([this] {
        const auto *value = m_window->stage()->isSettled() ? m_window->stage()->snapshot()->valueOf("max_train_steps") : nullptr;
        return value && value->type() == config::Type::Int && value->integer() == 1200;
    }, kLookMs));
    m_window->configurePage()->showText(false);
    m_window->configurePage()->showOption(QStringLiteral("max_train_steps"));
    auto *row = m_window->configurePage()->form()->row(QStringLiteral("max_train_steps"));
    QVERIFY(row);
    auto *field = row->findChild<QLineEdit *>();
    QVERIFY(field);
    QCOMPARE(field->text(), QStringLiteral("1200"));
}

void WindowTest::undoReachesBackToTheFile()
{
    open();
    const std::string before = m_window->stage()->text();
    m_window->configurePage()->showOption(QStringLiteral("optim.lr"));
    auto *row = m_window->configurePage()->form()->row(QStringLiteral("optim.lr"));
    QVERIFY(row);
    auto *field = row->findChild<QLineEdit *>();
    QVERIFY(field);
    field->setFocus();
    field->selectAll();
    QTest::keyClicks(field, QStringLiteral("3e-4"));
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(settled());
    // Written so that readers of YAML 1.1, for which 3e-4 is a text, take it for the same number.
    const auto *value = m_window->stage()->snapshot()->valueOf("optim.lr");
    QVERIFY(value && value->isNumber());
    QCOMPARE(value->number(), 3e-4);
    QVERIFY(m_window->stage()->text() != before);
    QVERIFY(m_window->stage()->isDirty());
    // The field still has the focus; what is undone is the stage's edit, as anywhere else.
    QVERIFY(field->hasFocus());
    QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE_WITH_TIMEOUT(m_window->stage()->text(), before, kLookMs);
    QVERIFY(!m_window->stage()->isDirty());
}

void WindowTest::railAndPaletteReachEveryPage()
{
    open();
    QTest::mouseClick(m_window->rail()->button(PageId::Run), Qt::LeftButton);
    QVERIFY(m_window->runPage()->isVisible());
    QTest::keyClick(m_window.get(), Qt::Key_5, Qt::ControlModifier);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->checkpointsPage()->isVisible(), kLookMs);
    QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
    shell::CommandPalette *palette = nullptr;
    QTRY_VERIFY_WITH_TIMEOUT((palette = m_window->findChild<shell::CommandPalette *>()), kLookMs);
    QTest::keyClicks(palette->field(), QStringLiteral("optim.lr"));
    QTest::keyClick(palette->field(), Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->configurePage()->isVisible(), kLookMs);
    QVERIFY(m_window->configurePage()->form()->current());
    QCOMPARE(std::string(m_window->configurePage()->form()->current()->path), std::string("optim.lr"));
}

void WindowTest::languageAndThemeSwitchLive()
{
    open();
    QTest::mouseClick(m_window->statusBar()->chineseButton(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(m_window->topBar()->launchButton()->text() != QStringLiteral("Launch"), true, kLookMs);
    QTest::mouseClick(m_window->statusBar()->englishButton(), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(m_window->topBar()->launchButton()->text(), QStringLiteral("Launch"), kLookMs);
    const bool dark = look::tokens().dark;
    QTest::mouseClick(m_window->statusBar()->themeButton(), Qt::LeftButton);
    QCOMPARE(look::tokens().dark, !dark);
    QTest::mouseClick(m_window->statusBar()->themeButton(), Qt::LeftButton);
    QCOMPARE(look::tokens().dark, dark);
}

// The English sentences of the window that have a Chinese of their own.
static QSet<QString> translatedSources()
{
    QFile file(QStringLiteral(STAGEWRIGHT_SOURCE "/resources/translations/stagewright_zh_CN.ts"));
    QSet<QString> sources;
    if (!file.open(QIODevice::ReadOnly))
        return sources;
    QXmlStreamReader xml(&file);
    QString source;
    while (!xml.atEnd()) {
        xml.readNext();
        if (xml.isStartElement() && xml.name() == QLatin1String("source"))
            source = xml.readElementText();
        else if (xml.isStartElement() && xml.name() == QLatin1String("translation")) {
            if (const QString words = xml.readElementText(QXmlStreamReader::IncludeChildElements); !words.isEmpty() && words != source)
                sources.insert(source);
        }
    }
    return sources;
}

// Whatever is on the screen when the language changes changes with it, and nothing appears that was not there.
void WindowTest::everyPageSpeaksTheLanguageThatWasSwitchedTo()
{
    const QSet<QString> english = translatedSources();
    QVERIFY(english.size() > 100);
    open();
    for (const PageId page : {PageId::Configure, PageId::Data, PageId::Memory, PageId::Run, PageId::Checkpoints}) {
        QTest::mouseClick(m_window->rail()->button(page), Qt::LeftButton);
        QTest::mouseClick(m_window->statusBar()->chineseButton(), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(m_window->topBar()->launchButton()->text() != QStringLiteral("Launch"), kLookMs);
        QStringList left;
        for (const QLabel *label : m_window->findChildren<QLabel *>()) {
            const bool isKey = config::findOption(label->text().toStdString()) != nullptr;       // keys of a stage are no words
            if (label->isVisible() && !isKey && english.contains(label->text()))
                left << label->text();
        }
        for (const QAbstractButton *button : m_window->findChildren<QAbstractButton *>()) {
            if (button->isVisible() && english.contains(button->text()))
                left << button->text();
        }
        QVERIFY2(left.isEmpty(), qPrintable(left.join(QStringLiteral(" | "))));
        QVERIFY(!m_window->findChild<QWidget *>(QStringLiteral("bases"))->isVisible());      // the demo stage has no base
        QTest::mouseClick(m_window->statusBar()->englishButton(), Qt::LeftButton);
        QTRY_COMPARE_WITH_TIMEOUT(m_window->topBar()->launchButton()->text(), QStringLiteral("Launch"), kLookMs);
    }
}

void WindowTest::trainsSavesStopsAndResumes()
{
    if (!m_noWorker.isEmpty())
        QSKIP(qPrintable(m_noWorker));
    open();
    QVERIFY(m_window->stage()->setValue("max_train_steps", "100000").ok());
    QVERIFY(m_window->stage()->setValue("ckpt_every", "0").ok());
    QVERIFY(settled());
    StallWatch stalls;
    QTest::mouseClick(m_window->topBar()->launchButton(), Qt::LeftButton);
    QVERIFY2(waitForSteps(3), "no step arrived");
    QVERIFY(m_window->runPage()->isVisible());
    QVERIFY(m_window->run()->isActive());
    QVERIFY(m_window->run()->facts().peakBytes > 0);

    QTest::mouseClick(m_window->runPage()->saveButton(), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([this] { return m_window->run()->facts().lastGoodSave() != nullptr; }, kRunMs));
    const QString saved = look::q(m_window->run()->facts().lastGoodSave()->path);
    const auto savedStep = m_window->run()->facts().lastGoodSave()->step;

    QAction *stop = m_window->topBar()->stopButton()->menu()->findChild<QAction *>(QStringLiteral("stopAfterStep"));
    if (!stop) {
        for (QAction *action : m_window->topBar()->stopButton()->menu()->actions()) {
            if (action->objectName() == QLatin1String("stopAfterStep"))
                stop = action;
        }
    }
    QVERIFY(stop);
    stop->trigger();
    QVERIFY(QTest::qWaitFor([this] { return !m_window->run()->isActive(); }, kRunMs));
    QVERIFY(m_window->run()->facts().ending.has_value());
    QCOMPARE(m_window->run()->facts().ending->exit, 7);

    QTest::mouseClick(m_window->rail()->button(PageId::Checkpoints), Qt::LeftButton);
    m_window->checkpointsPage()->showCheckpoint(saved);
    QVERIFY(QTest::qWaitFor([this] { return m_window->checkpointsPage()->model()->rowCount() > 0; }, kLookMs));
    QVERIFY(m_window->stage()->setValue("max_train_steps", std::to_string(savedStep + 3)).ok());
    QVERIFY(settled());
    QPushButton *resume = nullptr;
    QVERIFY(QTest::qWaitFor([&] {
        for (QPushButton *candidate : m_window->checkpointsPage()->findChildren<QPushButton *>()) {
            if (candidate->isVisible() && candidate->isEnabled() && candidate->text() == QLatin1String("Resume"))
                resume = candidate;
        }
        return resume != nullptr;
    }, kLookMs));
    QTest::mouseClick(resume, Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([this, savedStep] { return m_window->run()->facts().ending && m_window->run()->facts().step >= savedStep + 3; }, kRunMs));
    QCOMPARE(m_window->run()->facts().ending->exit, 0);
    QCOMPARE(m_window->run()->facts().started->firstStep, savedStep);
    qInfo("longest stall of the event loop while training, saving and resuming: %lld ms", static_cast<long long>(stalls.longestMs()));
}

void WindowTest::closedWindowLetsTheRunGoOnAndFindsItAgain()
{
    if (!m_noWorker.isEmpty())
        QSKIP(qPrintable(m_noWorker));
    open();
    QVERIFY(m_window->stage()->setValue("max_train_steps", "100000").ok());
    QVERIFY(settled());
    QTest::mouseClick(m_window->topBar()->launchButton(), Qt::LeftButton);
    QVERIFY(waitForSteps(2));
    const QString folder = m_window->run()->folder();
    m_window->close();
    QMessageBox *box = nullptr;
    QTRY_VERIFY_WITH_TIMEOUT((box = m_window->findChild<QMessageBox *>(QStringLiteral("closeQuestion"))), kLookMs);
    QVERIFY(m_window->isVisible());
    QTest::mouseClick(box->defaultButton(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->isVisible(), kLookMs);
    const auto seen = m_window->run()->facts().step;
    m_window.reset();

    init();
    m_window->attachLastRun();
    QVERIFY(QTest::qWaitFor([&] { return m_window->run()->facts().step > seen + 1; }, kRunMs));
    QCOMPARE(m_window->run()->folder(), folder);
    QVERIFY(m_window->run()->isActive());
}

QTEST_MAIN(WindowTest)
#include "window_test.moc"
