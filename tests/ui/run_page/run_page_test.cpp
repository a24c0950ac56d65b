// The Run page as a person uses it, with real mouse and key events: on a run of this process whose records are known, and on runs that end badly.
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>

#include "core/base/host.h"
#include "core/runhost/run_host.h"
#include "ui/look/language.h"
#include "ui/look/words.h"
#include "ui/pages/bucket_gauges.h"
#include "ui/pages/ending_card.h"
#include "ui/pages/log_view.h"
#include "ui/pages/run_page.h"
#include "ui/pages/run_side_panel.h"
#include "ui/plots/run_plot.h"

using namespace stagewright;

namespace {

constexpr int kDeadlineMs = 30000;
constexpr int kSteps = 40;
constexpr double kStepSeconds = 2;
constexpr std::int64_t kMiB = 1 << 20;

events::Bucket bucketOf(int step) { return {"256px", step % 2 ? 17 : 33, 192, 336, 4}; }

// Step `step`, which ended `step` times two seconds after the start; every tenth waited for a save.
events::Record stepRecord(double start, int step)
{
    events::Step update;
    update.loss = 1.0 / step;
    update.lr = 1e-4;
    update.gradNorm = 0.5;
    update.bucket = bucketOf(step);
    update.seconds = kStepSeconds;
    update.samples = 4;
    update.peakBytes = 300 * kMiB;
    update.peakByKind[std::size_t(MemoryKind::Parameter)] = 200 * kMiB;
    update.peakByKind[std::size_t(MemoryKind::Activation)] = 100 * kMiB;
    update.phaseSeconds[std::size_t(Phase::Forward)] = 0.5;
    update.phaseSeconds[std::size_t(Phase::Backward)] = 1.5;
    update.blockedSeconds = step % 10 == 0 ? 0.25 : 0;
    return {start + kStepSeconds * step, step, update};
}

events::Prediction predictionOf(std::int64_t shortBucket, std::int64_t longBucket)
{
    return {std::max(shortBucket, longBucket), 0.04, "measured runs", {{bucketOf(1), shortBucket, kStepSeconds}, {bucketOf(2), longBucket, kStepSeconds}}};
}

} // namespace

class RunPageTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void emptyPageShowsAllItsWords_data();
    void emptyPageShowsAllItsWords();
    void hoveringReadsOutEveryLane();
    void wheelZoomsAndFollowingGoesOn();
    void draggingLooksBackAndStopsFollowing();
    void keysPanZoomAndReturn();
    void newestIsFollowedWhileRecordsCome();
    void figuresNameWhatDominatesAndWhatRemains();
    void predictionLiesOverWhatIsMeasured();
    void runWithinItsPredictionIsNoWarning();
    void bufferOfEachBucketHasItsGauge();
    void tableReadsWhatThePlotShows();
    void plotIsExported_data();
    void plotIsExported();
    void exportThatCannotBeWrittenSaysWhere();
    void logIsFilteredByLevelAndWords();
    void plotHasWordsForScreenReaders();
    void fixesOfAnEndingAreOneClickAway();
    void badEndingsAreSaid_data();
    void badEndingsAreSaid();

private:
    void startRun();
    void report(events::Record record) { m_host->report(std::move(record)); }
    void finish(int exit, const std::string &sentence);
    bool arrived(int step) const { return QTest::qWaitFor([&] { return m_session->facts().step >= step; }, kDeadlineMs); }
    bool plotted() const;
    void wheel(int turns);
    plots::RunPlot *plot() const { return m_page->plot(); }

    QTemporaryDir m_dir;
    std::unique_ptr<runhost::RunHost> m_host;
    std::unique_ptr<session::Preferences> m_preferences;
    std::unique_ptr<session::RunSession> m_session;
    std::unique_ptr<pages::RunPage> m_page;
    double m_start = 0, m_plotted = 0;                 // wall times: the run's begin, the newest record on the screen
    int m_number = 0;
};

void RunPageTest::initTestCase()
{
    QVERIFY(m_dir.isValid());
    qputenv("XDG_STATE_HOME", m_dir.path().toUtf8() + "/state");
    QVERIFY(QDir::setCurrent(m_dir.path()));
    look::language().set(look::LanguageId::English);
}

void RunPageTest::init()
{
    m_preferences = std::make_unique<session::Preferences>();
    m_session = std::make_unique<session::RunSession>();
    m_page = std::make_unique<pages::RunPage>(m_session.get(), m_preferences.get());
    m_plotted = 0;
    connect(plot(), &plots::RunPlot::plotted, this, [this](double newest) { m_plotted = newest; });
    m_page->resize(1300, 850);
    m_page->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_page.get(), kDeadlineMs));
}

void RunPageTest::cleanup()
{
    if (m_host)
        finish(0, {});
    m_page.reset();
    m_session.reset();
    m_host.reset();
}

void RunPageTest::emptyPageShowsAllItsWords_data()
{
    QTest::addColumn<QSize>("size");
    QTest::addColumn<look::LanguageId>("language");
    for (const QSize size : {QSize(700, 500), QSize(1300, 850), QSize(3840, 2160)}) {
        QTest::addRow("%d, English", size.width()) << size << look::LanguageId::English;
        QTest::addRow("%d, Chinese", size.width()) << size << look::LanguageId::Chinese;
    }
}

void RunPageTest::emptyPageShowsAllItsWords()
{
    QFETCH(QSize, size);
    QFETCH(look::LanguageId, language);
    look::language().set(language);
    m_page->resize(size);
    const auto *words = m_page->findChild<QLabel *>(QStringLiteral("emptyWords"));
    QVERIFY(words && words->isVisible() && !words->text().isEmpty());
    QTRY_COMPARE_WITH_TIMEOUT(m_page->size(), size, kDeadlineMs);
    QTRY_VERIFY2_WITH_TIMEOUT(words->height() >= words->heightForWidth(words->width()),
        qPrintable(QStringLiteral("%1 of %2 pixels are shown").arg(words->height()).arg(words->heightForWidth(words->width()))), kDeadlineMs);
    look::language().set(look::LanguageId::English);
}

// Forty steps of a run of this process, shown.
void RunPageTest::startRun()
{
    const auto folder = std::filesystem::path(m_dir.path().toStdString()) / ("run" + std::to_string(++m_number));
    std::filesystem::create_directories(folder);
    runhost::RunHost::Options options;
    options.folder = folder;
    options.identity.id = runlog::newRunId();
    options.identity.name = folder.filename();
    options.tensorboard = options.handleSignals = false;
    options.drainSeconds = 0.1;
    auto host = runhost::RunHost::start(std::move(options));
    QVERIFY2(host.ok(), host.ok() ? "" : host.error().message().c_str());
    m_host = std::move(*host);
    m_start = wallSeconds() - kStepSeconds * (kSteps + 1);
    events::RunStarted started;
    started.device = "cpu";
    started.deviceTotalBytes = 1024 * kMiB;
    started.maxSteps = 100;
    report({m_start, -1, started});
    report({m_start, -1, events::State{"training", {}, {}}});
    events::MemoryTrace host0;
    host0.residentBytes = 700 * kMiB;
    host0.bucket = bucketOf(1);
    for (int step = 1; step <= kSteps; ++step) {
        if (step == 1)
            report({m_start, 1, host0});
        report(stepRecord(m_start, step));
    }
    events::Checkpoint save;
    save.path = (folder / "epoch0-global_step20").string();
    save.totalBytes = save.bytes = 50 * kMiB;
    for (const char *phase : {"stage", "write", "flush", "commit", "verify", "done"}) {
        save.phase = phase;
        report({m_start + kStepSeconds * 20.5 + save.seconds, 20, save});
        save.seconds += 0.1;
        save.blockedSeconds = 0.25;
    }
    m_session->attach(QString::fromStdString(folder.string()));
    QVERIFY2(arrived(kSteps), qPrintable(QStringLiteral("at step %1, phase %2, %3").arg(m_session->facts().step).arg(int(m_session->phase())).arg(
        m_session->facts().ending ? QString::fromStdString(m_session->facts().ending->sentence) : QStringLiteral("not ended"))));
    QVERIFY(plotted());
}

void RunPageTest::finish(int exit, const std::string &sentence)
{
    events::Summary summary;
    summary.run = m_host->folder().string();
    summary.steps = kSteps;
    summary.exit = exit;
    m_host->finish(summary, sentence);
    m_host.reset();
}

// Everything that has arrived is on the screen.
bool RunPageTest::plotted() const
{
    return QTest::qWaitFor([this] { return m_plotted >= m_session->facts().lastAt; }, kDeadlineMs);
}

void RunPageTest::wheel(int turns)
{
    QWidget *canvas = plot()->canvas();
    const QPoint at = canvas->rect().center();
    QWheelEvent event(at, canvas->mapToGlobal(at), {}, {0, 120 * turns}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(canvas, &event);
}

void RunPageTest::hoveringReadsOutEveryLane()
{
    startRun();
    plot()->showWholeRun();
    QTRY_VERIFY_WITH_TIMEOUT(plot()->range().first < 1, kDeadlineMs);
    QTRY_VERIFY_WITH_TIMEOUT(plot()->readoutAt(45).contains(QStringLiteral("step 23")), kDeadlineMs);
    QWidget *canvas = plot()->canvas();
    QTest::mouseMove(canvas, canvas->rect().center());
    QTRY_VERIFY_WITH_TIMEOUT(!plot()->shownReadout().isEmpty(), kDeadlineMs);
    const QString said = plot()->shownReadout();
    for (const char *lane : {"step ", "300 MiB of 1.0 GiB", "Weights 200 MiB", "256px", "batch 4", "loss ", "lr 1.0e-04", "grad norm 0.5", "2.00 s a step", "2.00 clips/s", "host: worker 700 MiB"})
        QVERIFY2(said.contains(QLatin1String(lane)), qPrintable(QLatin1String(lane) + QStringLiteral(" is not in:\n") + said));
    QVERIFY(plot()->readoutAt(45.8).contains(QStringLiteral("backward")));
    QVERIFY(plot()->readoutAt(39).contains(QStringLiteral("waited 0.25 s for a save")));
    QVERIFY(plot()->readoutAt(41.15).contains(QStringLiteral("save:")));
    QTest::mouseMove(canvas, {2, 2});
    QTRY_VERIFY_WITH_TIMEOUT(plot()->shownReadout().isEmpty(), kDeadlineMs);
}

void RunPageTest::wheelZoomsAndFollowingGoesOn()
{
    startRun();
    QVERIFY(plot()->isFollowing());
    const auto before = plot()->range();
    wheel(3);
    const auto after = plot()->range();
    QVERIFY(after.second - after.first < (before.second - before.first) * 0.6);
    QVERIFY(plot()->isFollowing());
    QVERIFY(after.second >= plot()->data().end());
    wheel(-20);
    QVERIFY(plot()->range().second - plot()->range().first > before.second - before.first);
}

void RunPageTest::draggingLooksBackAndStopsFollowing()
{
    startRun();
    wheel(5);
    const auto before = plot()->range();
    QWidget *canvas = plot()->canvas();
    const QPoint from = canvas->rect().center();
    QTest::mousePress(canvas, Qt::LeftButton, {}, from);
    QTest::mouseMove(canvas, from + QPoint(canvas->width() / 3, 0));
    QTest::mouseRelease(canvas, Qt::LeftButton, {}, from + QPoint(canvas->width() / 3, 0));
    QVERIFY(plot()->range().first < before.first);
    QVERIFY(std::fabs((plot()->range().second - plot()->range().first) - (before.second - before.first)) < 1e-6);
    QVERIFY(!plot()->isFollowing());
    const auto looked = plot()->range();
    report(stepRecord(m_start, kSteps + 1));
    QVERIFY(arrived(kSteps + 1));
    QVERIFY(plotted());
    QCOMPARE(plot()->range(), looked);
    QTest::mouseDClick(canvas, Qt::LeftButton, {}, from);
    QVERIFY(plot()->isFollowing());
}

void RunPageTest::keysPanZoomAndReturn()
{
    startRun();
    plot()->setFocus();
    wheel(5);
    const auto before = plot()->range();
    QTest::keyClick(plot(), Qt::Key_Left);
    QVERIFY(plot()->range().first < before.first);
    QTest::keyClick(plot(), Qt::Key_Plus);
    QVERIFY(plot()->range().second - plot()->range().first < before.second - before.first);
    QTest::keyClick(plot(), Qt::Key_Home);
    QTRY_VERIFY_WITH_TIMEOUT(plot()->range().first < 1 && plot()->range().second >= plot()->data().end(), kDeadlineMs);
    QTest::keyClick(plot(), Qt::Key_Left);
    QTest::keyClick(plot(), Qt::Key_End);
    QVERIFY(plot()->isFollowing());
}

void RunPageTest::newestIsFollowedWhileRecordsCome()
{
    startRun();
    for (int step = kSteps + 1; step <= kSteps + 20; ++step)
        report(stepRecord(m_start, step));
    QVERIFY(arrived(kSteps + 20));
    QTRY_VERIFY_WITH_TIMEOUT(plot()->range().second >= kStepSeconds * (kSteps + 20), kDeadlineMs);
}

void RunPageTest::figuresNameWhatDominatesAndWhatRemains()
{
    startRun();
    QStringList words;
    for (const QLabel *label : m_page->findChildren<QLabel *>()) {
        if (label->isVisibleTo(m_page.get()))
            words << label->text();
    }
    QVERIFY2(words.contains(QStringLiteral("backward 75 %")), qPrintable(words.join(QLatin1Char('|'))));
    QVERIFY2(words.contains(look::duration(60 * kStepSeconds)), qPrintable(words.join(QLatin1Char(0x7c))));      // of 100 steps 60 are left
    QVERIFY(words.contains(QStringLiteral("of 100")));
}

// Of the two buckets one takes what was predicted, give or take; the other more.
void RunPageTest::predictionLiesOverWhatIsMeasured()
{
    startRun();
    QVERIFY(!m_page->side()->peaks()->isVisible());
    report({m_start + 1, -1, predictionOf(310 * kMiB, 250 * kMiB)});
    QTRY_VERIFY_WITH_TIMEOUT(m_page->aboveWords()->isVisible(), kDeadlineMs);
    QVERIFY(plotted());
    const QString above = m_page->aboveWords()->text();
    for (const char *part : {"Step 2 took 300 MiB", "256px × 33 frames, batch 4", "250 MiB", "4 %"})
        QVERIFY2(above.contains(QString::fromUtf8(part)), qPrintable(above));
    QTRY_VERIFY_WITH_TIMEOUT(plot()->readoutAt(45).contains(QStringLiteral("310 MiB predicted for its peak, give or take 4 %")), kDeadlineMs);
    QVERIFY(plot()->readoutAt(47).contains(QStringLiteral("250 MiB predicted for its peak")));
    QTRY_VERIFY_WITH_TIMEOUT(plot()->accessibleDescription().contains(QStringLiteral("Predicted: 250 MiB.")), kDeadlineMs);
    const QString peaks = m_page->side()->peaks()->text();
    QVERIFY2(peaks.startsWith(QStringLiteral("256px×33 b4|300 MiB|predicted 250 MiB, so +20.0 %")), qPrintable(peaks));       // the warning first
    QVERIFY2(peaks.contains(QStringLiteral("256px×17 b4|300 MiB|predicted 310 MiB, so -3.2 %")), qPrintable(peaks));
    const QString file = m_dir.path() + QStringLiteral("/predicted.csv");
    QCOMPARE(m_page->exportTo(file), QString());
    QFile written(file);
    QVERIFY(written.open(QIODevice::ReadOnly));
    const auto header = written.readLine().split(','), first = written.readLine().split(',');
    QCOMPARE(first.at(header.indexOf("predicted_peak_bytes")).toLongLong(), 310 * kMiB);
    // Later updates have theirs at once; another run has none.
    report(stepRecord(m_start, kSteps + 1));
    QVERIFY(arrived(kSteps + 1));
    QTRY_VERIFY_WITH_TIMEOUT(plot()->readoutAt(kStepSeconds * (kSteps + 1) - 0.5).contains(QStringLiteral("310 MiB predicted")), kDeadlineMs);
    m_session->detach();
    QVERIFY(!plot()->data().hasPrediction());
}

void RunPageTest::runWithinItsPredictionIsNoWarning()
{
    startRun();
    report({m_start + 1, -1, predictionOf(300 * kMiB, 290 * kMiB)});
    QTRY_VERIFY_WITH_TIMEOUT(m_page->side()->peaks()->isVisible(), kDeadlineMs);
    QVERIFY(!m_page->aboveWords()->isVisible());
}

void RunPageTest::bufferOfEachBucketHasItsGauge()
{
    startRun();
    QVERIFY(!m_page->side()->buffers()->isVisible());
    for (int step = kSteps + 1; step <= kSteps + 4; ++step) {
        report(stepRecord(m_start, step));
        const bool isLarge = step % 2 == 0;
        report({m_start + kStepSeconds * step, step, events::Buffer{100 * kMiB, (isLarge ? 90 : 40) * kMiB, 5, isLarge ? 2 : 0, isLarge ? 0.2 : 0.02, bucketOf(step)}});
    }
    QTRY_VERIFY_WITH_TIMEOUT(m_page->side()->buffers()->text().count(QLatin1Char('\n')) == 2, kDeadlineMs);
    const QString text = m_page->side()->buffers()->text();
    QVERIFY2(text.startsWith(QStringLiteral("256px×33 b4|90.0 MiB|5 blocks · copies stall 200 ms an update, 10.0 % of it")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("2 blocks had no room")), qPrintable(text));
    QVERIFY2(text.contains(QStringLiteral("256px×17 b4|40.0 MiB|5 blocks · copies stall 20.0 ms an update, 1.0 % of it")), qPrintable(text));
}

void RunPageTest::tableReadsWhatThePlotShows()
{
    startRun();
    QTest::mouseClick(m_page->tableButton(), Qt::LeftButton);
    QTableView *table = m_page->stepTable();
    QVERIFY(table->isVisible());
    QCOMPARE(table->model()->rowCount(), kSteps);
    QCOMPARE(table->model()->index(kSteps - 1, 0).data().toString(), QString::number(kSteps));
    QVERIFY(!table->accessibleName().isEmpty());
    QTest::mouseClick(m_page->tableButton(), Qt::LeftButton);
    QVERIFY(plot()->isVisible());
}

void RunPageTest::plotIsExported_data()
{
    QTest::addColumn<QString>("ending");
    QTest::addColumn<QByteArray>("begins");
    QTest::newRow("PNG") << "png" << QByteArray("\x89PNG");
    QTest::newRow("PDF") << "pdf" << QByteArray("%PDF");
    QTest::newRow("SVG") << "svg" << QByteArray("<?xml");
    QTest::newRow("CSV") << "csv" << QByteArray("step,");
}

void RunPageTest::plotIsExported()
{
    QFETCH(QString, ending);
    QFETCH(QByteArray, begins);
    startRun();
    const QString file = m_dir.path() + QStringLiteral("/plot.") + ending;
    QCOMPARE(m_page->exportTo(file), QString());
    QFile written(file);
    QVERIFY(written.open(QIODevice::ReadOnly));
    const QByteArray content = written.readAll();
    QVERIFY(content.startsWith(begins));
    if (ending == QLatin1String("csv"))
        QCOMPARE(content.count('\n'), kSteps + 1);
    if (ending == QLatin1String("svg"))
        QVERIFY(content.contains("learning rate"));
}

void RunPageTest::exportThatCannotBeWrittenSaysWhere()
{
    startRun();
    for (const char *ending : {"png", "pdf", "svg", "csv"}) {
        const QString file = QStringLiteral("/nowhere/plot.") + QLatin1String(ending);
        QVERIFY2(m_page->exportTo(file).contains(file), ending);
    }
}

void RunPageTest::logIsFilteredByLevelAndWords()
{
    startRun();
    report({0, -1, events::Note{"warning", "the disk is nearly full", "x"}});
    report({0, -1, events::Note{"error", "a clip was eaten", "y"}});
    auto *log = m_page->log();
    log->level()->setCurrentIndex(2);
    QTRY_COMPARE_WITH_TIMEOUT(log->shownLines(), 2, kDeadlineMs);
    log->level()->setCurrentIndex(3);
    QCOMPARE(log->shownLines(), 1);
    log->level()->setCurrentIndex(0);
    QVERIFY(log->shownLines() > kSteps);
    log->search()->setFocus();
    QTest::keyClicks(log->search(), QStringLiteral("NEARLY"));
    QCOMPARE(log->shownLines(), 1);
}

void RunPageTest::plotHasWordsForScreenReaders()
{
    startRun();
    QTRY_VERIFY_WITH_TIMEOUT(plot()->accessibleDescription().contains(QStringLiteral("Step 40")), kDeadlineMs);
    QVERIFY(plot()->accessibleDescription().contains(QStringLiteral("Weights 200 MiB")));
    QVERIFY(!plot()->accessibleName().isEmpty());
    // Whatever takes the keyboard has a name.
    for (const QWidget *widget : m_page->findChildren<QWidget *>()) {
        if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisibleTo(m_page.get()) || widget->inherits("QScrollBar") || widget->focusProxy())
            continue;
        const auto *button = qobject_cast<const QAbstractButton *>(widget);
        QVERIFY2(!widget->accessibleName().isEmpty() || (button && !button->text().isEmpty()), qPrintable(QString::fromLatin1(widget->metaObject()->className()) + QStringLiteral(" has no name")));
    }
}

void RunPageTest::fixesOfAnEndingAreOneClickAway()
{
    startRun();
    const auto problem = [](const std::string &message, const std::string &title) {
        Problem made{Severity::Error, "memory.out-of-memory", "bucket_config", message, {}, 0, 0, {}};
        made.fix = Fix{title, {{"grad_ckpt_settings", "(8, 100)", "(100, 100)"}}};
        return events::ProblemRecord{made};
    };
    report({0, kSteps, problem("out of memory", "Checkpoint every block")});
    report({0, kSteps, problem("still out of memory", "Halve the batch")});
    finish(5, "out of memory in update 41");
    auto *card = m_page->ending();
    QTRY_VERIFY_WITH_TIMEOUT(card->isVisible(), kDeadlineMs);
    QSignalSpy asked(m_page.get(), &pages::RunPage::fixAsked);
    QStringList titles;
    const auto buttons = card->findChildren<QPushButton *>(QStringLiteral("fix"));
    for (const QPushButton *button : buttons)
        titles << button->text();
    QCOMPARE(titles, (QStringList{QStringLiteral("Checkpoint every block"), QStringLiteral("Halve the batch")}));
    QTest::mouseClick(buttons.last(), Qt::LeftButton);
    QCOMPARE(asked.count(), 1);
    QCOMPARE(asked.first().first().value<Fix>().title, std::string("Halve the batch"));
}

void RunPageTest::badEndingsAreSaid_data()
{
    QTest::addColumn<QString>("behaviour");
    QTest::addColumn<int>("exit");
    QTest::addColumn<QString>("title");
    QTest::newRow("out of memory") << QStringLiteral("--exit-at 30 --exit 5") << 5 << QStringLiteral("Out of memory");
    QTest::newRow("disk") << "--exit-at 30 --exit 6" << 6 << "Reading or writing failed";
    QTest::newRow("killed") << "--kill-at 30" << 8 << "The worker died";
    QTest::newRow("crashed") << "--segv-at 30" << 8 << "The worker died";
    QTest::newRow("aborted") << "--abort-at 30" << 8 << "The worker died";
}

void RunPageTest::badEndingsAreSaid()
{
    QFETCH(QString, behaviour);
    QFETCH(int, exit);
    QFETCH(QString, title);
    client::LaunchRequest request;
    auto stage = config::stageFromText("exp_name: bad\nmodel:\n  type: flux\n", std::filesystem::path(m_dir.path().toStdString()) / "bad.yaml");
    QVERIFY(stage.ok());
    request.stage = *stage;
    request.worker = STAGEWRIGHT_FAKE_WORKER;
    request.environment = {{"STAGEWRIGHT_FAKE", (QStringLiteral("--steps 60 --step-ms 2 --checkpoint-every 5 --save-ms 20 ") + behaviour).toStdString()}};
    m_session->launch(std::move(request));
    auto *card = m_page->ending();
    QTRY_VERIFY_WITH_TIMEOUT(card->isVisible(), kDeadlineMs);
    QVERIFY(m_session->facts().ending.has_value());
    QCOMPARE(m_session->facts().ending->exit, exit);
    QStringList words;
    for (const QLabel *label : card->findChildren<QLabel *>())
        words << label->text();
    QCOMPARE(words.first(), title);
    QVERIFY2(words.join(QLatin1Char('\n')).contains(QStringLiteral("exit code %1").arg(exit)), qPrintable(words.join(QLatin1Char('\n'))));
    QVERIFY(words.join(QLatin1Char('\n')).contains(QStringLiteral("last step")));
    QVERIFY(!m_session->facts().ending->sentence.empty());
    bool resume = false;
    for (const QPushButton *button : card->findChildren<QPushButton *>())
        resume = resume || (button->isVisible() && button->text().startsWith(QStringLiteral("Resume from")));
    QCOMPARE(resume, m_session->facts().lastGoodSave() != nullptr);
    QVERIFY(resume);
}

QTEST_MAIN(RunPageTest)
#include "run_page_test.moc"
