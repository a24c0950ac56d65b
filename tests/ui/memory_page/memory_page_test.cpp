// The Memory page as a person uses it, with real mouse and key events and the real planning helper, on the demo stage.
#include <QComboBox>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <csignal>
#include <numeric>

#include "tests/ui/demo_place.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/pages/memory_page.h"
#include "ui/pages/plan_panel.h"
#include "ui/pages/sweep_choices.h"
#include "ui/pages/sweep_panel.h"
#include "ui/pages/sweep_pictures.h"
#include "ui/plots/curve_plot.h"
#include "ui/plots/heat_map.h"
#include "ui/plots/kind_bars.h"

using namespace stagewright;
using Kind = session::PlanAxis::Kind;

namespace {

constexpr int kDeadlineMs = 60000, kMeasureMs = 240000;
constexpr const char *kDepth = "model.grad_ckpt_settings";

} // namespace

class MemoryPageTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void openStageIsPlannedAtOnce();
    void otherDeviceIsPlannedFor();
    void whatDoesNotFitIsSaid();
    void changedStageIsPlannedAgain();
    void invalidStageIsASentenceInPlace();
    void killedPlannerIsASentenceAndTheNextQuestionIsAnswered();
    void barsAreChosenByMouseAndKeys();
    void gridOfDepthsIsPlanned();
    void clickedCellIsAppliedAndUndone();
    void keysMoveTheRing();
    void sliderRepaintsWithinFiftyMilliseconds();
    void oneSettingIsACurve();
    void typedValuesAreTheAxis();
    void tooManyPointsAreASentence();
    void fastestThatFitsIsFoundAndApplied();
    void nothingThatFitsIsASentence();
    void pictureAndTableAreExported_data();
    void pictureAndTableAreExported();
    void pictureHasATableAndWords();
    void pointIsMeasuredBesideItsPrediction();
    void measuredGridNamesItsFastest();
    void measuringIsGivenUp();
    void chineseIsSwitchedLive();

private:
    bool planned() const { return QTest::qWaitFor([this] { return panel()->plan() && m_page->planner()->waiting() == 0; }, kDeadlineMs); }
    bool swept() const { return QTest::qWaitFor([this] { return sweep()->sweep().isComplete(); }, kDeadlineMs); }
    void set(const char *path, const char *expression);
    void showGrid();
    void chooseDevice(const QString &name);
    pages::PlanPanel *panel() const { return m_page->planPanel(); }
    pages::SweepPanel *sweep() const { return m_page->sweepPanel(); }
    std::string depth() const { return m_stage->snapshot()->spellingOf(kDepth); }

    QTemporaryDir m_dir;
    QString m_file;
    std::unique_ptr<session::StageSession> m_stage;
    std::unique_ptr<session::DeviceInfo> m_device;
    std::unique_ptr<pages::MemoryPage> m_page;
};

void MemoryPageTest::initTestCase()
{
    const QString wrong = tests::makeDemoPlace(m_dir, m_file);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    if (!qEnvironmentVariableIsSet("STAGEWRIGHT_WORKER"))
        qputenv("STAGEWRIGHT_WORKER", STAGEWRIGHT_BIN "/stagewright-worker");
    if (!QFileInfo(qEnvironmentVariable("STAGEWRIGHT_WORKER")).isExecutable())
        QSKIP("there is no worker (a build with STAGEWRIGHT_TORCH=OFF has none); set STAGEWRIGHT_WORKER to one");
}

void MemoryPageTest::init()
{
    static int number = 0;
    const QString copy = m_dir.path() + QStringLiteral("/stage%1.yaml").arg(++number);
    QVERIFY(QFile::copy(m_file, copy));
    QFile(copy).setPermissions(QFile::ReadOwner | QFile::WriteOwner);
    m_stage = std::make_unique<session::StageSession>();
    m_device = std::make_unique<session::DeviceInfo>();
    m_page = std::make_unique<pages::MemoryPage>(m_stage.get(), m_device.get());
    m_page->resize(1180, 720);
    m_page->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_page.get(), kDeadlineMs));
    QVERIFY(m_stage->open(look::s(copy)).ok());
    QVERIFY(QTest::qWaitFor([this] { return m_stage->isSettled(); }, kDeadlineMs));
    QVERIFY2(planned(), qPrintable(panel()->verdict()->text()));
}

void MemoryPageTest::cleanup()
{
    m_page.reset();
    m_device.reset();
    m_stage.reset();
}

void MemoryPageTest::set(const char *path, const char *expression)
{
    const auto done = m_stage->setValue(path, expression);
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    QVERIFY(QTest::qWaitFor([this] { return m_stage->isSettled(); }, kDeadlineMs));
}

void MemoryPageTest::showGrid()
{
    QTest::mouseClick(m_page->settingsTab(), Qt::LeftButton);
    QVERIFY(swept());
}

void MemoryPageTest::chooseDevice(const QString &name)
{
    auto *box = m_page->deviceBox();
    box->setFocus();
    const int at = box->findData(name);
    QVERIFY(at >= 0);
    while (box->currentIndex() < at)
        QTest::keyClick(box, Qt::Key_Down);
    QVERIFY(QTest::qWaitFor([&] { return panel()->plan() && look::q(panel()->plan()->fitDevice) == name && m_page->planner()->waiting() == 0; }, kDeadlineMs));
}

void MemoryPageTest::openStageIsPlannedAtOnce()
{
    const auto *plan = panel()->plan();
    QVERIFY(plan->fits);
    QVERIFY(plan->buckets.size() >= 2);
    QVERIFY(panel()->verdict()->text().startsWith(QStringLiteral("Fits: ")));
    const auto &worst = plan->buckets[std::size_t(plan->worstBucket)];
    QCOMPARE(std::accumulate(worst.byKind.begin(), worst.byKind.end(), std::int64_t(0)), worst.peakBytes);
    QCOMPARE(panel()->chosenBucket(), int(plan->worstBucket));
    QVERIFY(panel()->bars()->accessibleDescription().contains(pages::bucketWords(worst)));
}

void MemoryPageTest::otherDeviceIsPlannedFor()
{
    chooseDevice(QStringLiteral("NVIDIA GeForce RTX 3090"));
    QVERIFY(panel()->plan()->contextBytes > 0);
    QVERIFY(panel()->verdict()->text().contains(QStringLiteral("RTX 3090")));
}

void MemoryPageTest::whatDoesNotFitIsSaid()
{
    set("memory_limit", "0.06");
    QVERIFY(QTest::qWaitFor([this] { return panel()->plan() && !panel()->plan()->fits; }, kDeadlineMs));
    QVERIFY(panel()->verdict()->text().startsWith(QStringLiteral("Does not fit: ")));
    QVERIFY(panel()->bars()->accessibleDescription().contains(QStringLiteral("does not fit")));
}

void MemoryPageTest::changedStageIsPlannedAgain()
{
    const auto before = panel()->plan()->peakBytes;
    set("ema_decay", "None");
    QVERIFY(QTest::qWaitFor([&] { return panel()->plan() && panel()->plan()->peakBytes < before; }, kDeadlineMs));
}

void MemoryPageTest::invalidStageIsASentenceInPlace()
{
    set("dtype", "'float3'");
    QVERIFY(QTest::qWaitFor([this] { return panel()->verdict()->text().startsWith(QStringLiteral("This stage cannot be planned yet.")); }, kDeadlineMs));
    QVERIFY2(panel()->verdict()->text().contains(QStringLiteral("dtype")), qPrintable(panel()->verdict()->text()));
    QVERIFY(!panel()->plan());
    m_stage->undoStack()->undo();
    QVERIFY(planned());
}

void MemoryPageTest::killedPlannerIsASentenceAndTheNextQuestionIsAnswered()
{
    const int pid = m_page->planner()->helperPid();
    QVERIFY(pid > 0);
    QCOMPARE(::kill(pid, SIGSTOP), 0);                 // it shall not answer before it is killed
    set("ema_decay", "None");
    QVERIFY(QTest::qWaitFor([this] { return m_page->planner()->waiting() > 0; }, kDeadlineMs));
    QCOMPARE(::kill(pid, SIGKILL), 0);
    QVERIFY(QTest::qWaitFor([this] { return !panel()->plan(); }, kDeadlineMs));
    QVERIFY2(panel()->verdict()->text().contains(QStringLiteral("planning helper")), qPrintable(panel()->verdict()->text()));
    m_stage->undoStack()->undo();
    QVERIFY(planned());
    QVERIFY(m_page->planner()->helperPid() != pid);
}

void MemoryPageTest::barsAreChosenByMouseAndKeys()
{
    auto *bars = panel()->bars();
    QTest::mouseClick(bars->canvas(), Qt::LeftButton, {}, {bars->canvas()->width() / 2, bars->yOf(1)});
    QCOMPARE(panel()->chosenBucket(), 1);
    QVERIFY(bars->hasFocus());
    QTest::keyClick(bars, Qt::Key_Up);
    QCOMPARE(panel()->chosenBucket(), 0);
}

void MemoryPageTest::gridOfDepthsIsPlanned()
{
    showGrid();
    const auto blocks = 3 * 5;                         // 0 … 2 double and 0 … 4 single blocks of the demo's model
    QCOMPARE(int(sweep()->sweep().points().size()), blocks);
    const auto &points = sweep()->sweep().points();
    QVERIFY(points.front().peakBytes > points.back().peakBytes);           // nothing checkpointed against everything
    QVERIFY(points.front().stepSeconds < points.back().stepSeconds);
    const auto front = session::paretoFront(points);
    QVERIFY(!front.empty());
    for (std::size_t i = 1; i < front.size(); ++i)
        QVERIFY(points[front[i]].peakBytes > points[front[i - 1]].peakBytes && points[front[i]].stepSeconds < points[front[i - 1]].stepSeconds);
}

void MemoryPageTest::clickedCellIsAppliedAndUndone()
{
    showGrid();
    const std::string before = m_stage->text();
    auto *map = sweep()->pictures()->heatMap();
    const int cell = 2 * 5 + 3;                        // two double and three single blocks
    QTest::mouseClick(map->canvas(), Qt::LeftButton, {}, map->pixelOf(cell));
    QCOMPARE(sweep()->chosen(), cell);
    QVERIFY2(sweep()->chosenWords()->text().contains(QStringLiteral("(2, 3)")), qPrintable(sweep()->chosenWords()->text()));
    QVERIFY(sweep()->useButton()->isVisible());
    QTest::mouseClick(sweep()->useButton(), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([this] { return m_stage->isSettled() && depth() == "(2, 3)"; }, kDeadlineMs));
    m_stage->undoStack()->undo();
    QCOMPARE(m_stage->text(), before);
}

void MemoryPageTest::keysMoveTheRing()
{
    showGrid();
    auto *map = sweep()->pictures()->heatMap();
    QTest::mouseClick(map->canvas(), Qt::LeftButton, {}, map->pixelOf(0));
    QTest::keyClick(map, Qt::Key_Right);
    QCOMPARE(sweep()->chosen(), 1);
    QTest::keyClick(map, Qt::Key_Up);
    QCOMPARE(sweep()->chosen(), 6);
    QTest::keyClick(map, Qt::Key_Left);
    QTest::keyClick(map, Qt::Key_Left);
    QCOMPARE(sweep()->chosen(), 5);
}

void MemoryPageTest::sliderRepaintsWithinFiftyMilliseconds()
{
    showGrid();
    auto *slider = sweep()->pictures()->slider();
    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_Home);
    qint64 worst = 0;
    for (int i = 0; i < slider->maximum(); ++i) {
        QSignalSpy painted(sweep()->pictures()->peakPlot(), &plots::CurvePlot::painted);
        QElapsedTimer clock;
        clock.start();
        QTest::keyClick(slider, Qt::Key_Right);
        QVERIFY(QTest::qWaitFor([&] { return painted.count() > 0; }, kDeadlineMs));
        worst = std::max(worst, clock.elapsed());
        const auto &curves = sweep()->pictures()->peakPlot()->curves();
        const auto strong = std::find_if(curves.begin(), curves.end(), [](const auto &curve) { return curve.strong; });
        QVERIFY(strong != curves.end());
        QCOMPARE(strong->label, QString::number(i + 1));
        QCOMPARE(strong->y.front(), double(sweep()->sweep().points()[std::size_t(i + 1) * 5].peakBytes) / (1 << 30));
    }
    qInfo("a move of the slider is painted within %lld ms", static_cast<long long>(worst));
    QVERIFY2(worst <= 50, qPrintable(QStringLiteral("%1 ms").arg(worst)));
}

void MemoryPageTest::oneSettingIsACurve()
{
    showGrid();
    sweep()->choices()->choose("dtype", Kind::Option, {}, Kind::Option);
    QVERIFY(swept());
    QVERIFY(!sweep()->pictures()->heatMap()->isVisible());
    const auto &points = sweep()->sweep().points();
    QVERIFY(points.size() >= 2);
    for (const auto &point : points)
        QVERIFY2(point.sentence.empty() ? point.peakBytes > 0 : true, point.sentence.c_str());
    QVERIFY(points.front().peakBytes != points.back().peakBytes);
}

void MemoryPageTest::typedValuesAreTheAxis()
{
    showGrid();
    const auto first = QStringLiteral("0, 2, 4");
    auto *field = sweep()->choices()->acrossValues();
    field->setFocus();
    QTest::keyClicks(field, first);
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(swept());
    QCOMPARE(int(sweep()->sweep().points().size()), 3 * 3);
    QCOMPARE(sweep()->sweep().points()[1].values.back().text, std::string("(0, 2)"));
}

void MemoryPageTest::tooManyPointsAreASentence()
{
    showGrid();
    auto *field = sweep()->choices()->acrossValues();
    QStringList many;
    for (int i = 0; i < 2000; ++i)
        many << QString::number(i);
    field->setText(many.join(QLatin1Char(',')));
    field->setModified(true);
    field->setFocus();
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(sweep()->sweep().points().empty());
    const auto *words = static_cast<look::ElidedLabel *>(sweep()->progressWords());
    QVERIFY2(words->fullText().contains(QStringLiteral("give fewer values")), qPrintable(words->fullText()));
}

void MemoryPageTest::fastestThatFitsIsFoundAndApplied()
{
    set("memory_limit", "0.075");                      // between the least and the most that the depths take
    QVERIFY2(QTest::qWaitFor([this] { return panel()->verdict()->text().contains(QStringLiteral("of 76.8 MiB")); }, kDeadlineMs), qPrintable(panel()->verdict()->text()));
    showGrid();
    QTest::mouseClick(sweep()->fitButton(), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([this] { return sweep()->useFitButton()->isVisible(); }, kDeadlineMs));
    QVERIFY2(sweep()->fitWordsLabel()->text().contains(QStringLiteral("The next faster")), qPrintable(sweep()->fitWordsLabel()->text()));
    QTest::mouseClick(sweep()->useFitButton(), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([this] { return m_stage->isSettled() && panel()->plan() && m_page->planner()->waiting() == 0 && panel()->plan()->fits; }, kDeadlineMs));
}

void MemoryPageTest::nothingThatFitsIsASentence()
{
    set("memory_limit", "0.01");
    QVERIFY(QTest::qWaitFor([this] { return panel()->plan() && !panel()->plan()->fits; }, kDeadlineMs));
    showGrid();
    QTest::mouseClick(sweep()->fitButton(), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([this] { return sweep()->fitWordsLabel()->text().contains(QStringLiteral("fits")); }, kDeadlineMs));
    QVERIFY(!sweep()->useFitButton()->isVisible());
}

void MemoryPageTest::pictureAndTableAreExported_data()
{
    QTest::addColumn<bool>("settings");
    QTest::addColumn<QString>("ending");
    QTest::addColumn<QByteArray>("begin");
    for (const bool settings : {false, true}) {
        const char *where = settings ? "settings" : "stage";
        QTest::addRow("%s PNG", where) << settings << "png" << QByteArray("\x89PNG");
        QTest::addRow("%s SVG", where) << settings << "svg" << QByteArray("<?xml");
        QTest::addRow("%s PDF", where) << settings << "pdf" << QByteArray("%PDF");
        QTest::addRow("%s CSV", where) << settings << "csv" << QByteArray(settings ? "Double blocks" : "bucket,");
    }
}

void MemoryPageTest::pictureAndTableAreExported()
{
    QFETCH(bool, settings);
    QFETCH(QString, ending);
    QFETCH(QByteArray, begin);
    if (settings)
        showGrid();
    const QString file = m_dir.path() + QStringLiteral("/picture%1.").arg(settings) + ending;
    QCOMPARE(settings ? sweep()->exportTo(file) : panel()->exportTo(file), QString());
    QFile written(file);
    QVERIFY(written.open(QIODevice::ReadOnly));
    const QByteArray bytes = written.readAll();
    QVERIFY2(bytes.startsWith(begin), bytes.left(40).constData());
    if (ending == QLatin1String("csv"))
        QCOMPARE(bytes.count('\n'), settings ? 16 : qsizetype(panel()->plan()->buckets.size()) + 1);
    const QString wrong = settings ? sweep()->exportTo(QStringLiteral("/nowhere/picture.") + ending) : panel()->exportTo(QStringLiteral("/nowhere/picture.") + ending);
    QVERIFY(wrong.contains(QStringLiteral("/nowhere/picture.")));
}

void MemoryPageTest::pictureHasATableAndWords()
{
    QTest::mouseClick(panel()->tableButton(), Qt::LeftButton);
    QVERIFY(panel()->table()->isVisible());
    QCOMPARE(panel()->table()->model()->rowCount(), int(panel()->plan()->buckets.size()));
    showGrid();
    QTest::mouseClick(sweep()->tableButton(), Qt::LeftButton);
    QVERIFY(sweep()->pictures()->table()->isVisible());
    QCOMPARE(sweep()->pictures()->table()->model()->rowCount(), 15);
    for (QWidget *plot : std::initializer_list<QWidget *>{panel()->bars(), sweep()->pictures()->heatMap(), sweep()->pictures()->peakPlot(), sweep()->pictures()->timePlot(), panel()->table(), sweep()->pictures()->table()})
        QVERIFY(!plot->accessibleName().isEmpty());
}

void MemoryPageTest::pointIsMeasuredBesideItsPrediction()
{
    showGrid();
    auto *map = sweep()->pictures()->heatMap();
    QTest::mouseClick(map->canvas(), Qt::LeftButton, {}, map->pixelOf(14));
    QTest::mouseClick(sweep()->measureButton(), Qt::LeftButton);
    QCOMPARE(sweep()->measureButton()->text(), QStringLiteral("Stop measuring"));
    QVERIFY(QTest::qWaitFor([this] { return sweep()->chosenWords()->text().contains(QStringLiteral("measured")); }, kMeasureMs));
    QVERIFY2(sweep()->chosenWords()->text().contains(QStringLiteral(" %), ")), qPrintable(sweep()->chosenWords()->text()));
    qInfo("%s", qPrintable(sweep()->chosenWords()->text()));
    const auto &curves = sweep()->pictures()->peakPlot()->curves();
    QVERIFY(std::any_of(curves.begin(), curves.end(), [](const auto &curve) { return curve.dotsOnly && curve.x.size() == 1; }));
}

// Four points, so that it does not take long.
void MemoryPageTest::measuredGridNamesItsFastest()
{
    showGrid();
    for (auto *field : {sweep()->choices()->acrossValues(), sweep()->choices()->upValues()}) {
        field->setFocus();
        QTest::keyClicks(field, field == sweep()->choices()->acrossValues() ? QStringLiteral("0, 4") : QStringLiteral("0, 2"));
        QTest::keyClick(field, Qt::Key_Return);
        QVERIFY(swept());
    }
    QCOMPARE(sweep()->sweep().cells(), 4);
    sweep()->choose(3);
    QVERIFY(!sweep()->bestWords()->isVisible());
    QTest::mouseClick(sweep()->gridButton(), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([this] { return sweep()->measureButton()->text() == QLatin1String("Measure this point"); }, kMeasureMs));
    QTRY_VERIFY_WITH_TIMEOUT(sweep()->bestWords()->isVisible(), kDeadlineMs);
    const QString words = sweep()->bestWords()->text();
    QVERIFY2(words.startsWith(QStringLiteral("Fastest of the 4 measured settings that fit: model.grad_ckpt_settings = (")), qPrintable(words));
    QVERIFY2(words.contains(QStringLiteral("The chosen one took ")), qPrintable(words));
    qInfo("%s", qPrintable(words));
}

void MemoryPageTest::measuringIsGivenUp()
{
    showGrid();
    QTest::mouseClick(sweep()->measureButton(), Qt::LeftButton);
    QTest::mouseClick(sweep()->measureButton(), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([this] { return sweep()->measureButton()->text() == QLatin1String("Measure this point"); }, kMeasureMs));
    QVERIFY(!sweep()->chosenWords()->text().contains(QStringLiteral("measured")));
}

void MemoryPageTest::chineseIsSwitchedLive()
{
    look::language().set(look::LanguageId::Chinese);
    QTRY_VERIFY_WITH_TIMEOUT(panel()->verdict()->text().startsWith(QStringLiteral("放得下")), kDeadlineMs);
    look::language().set(look::LanguageId::English);
    QTRY_VERIFY_WITH_TIMEOUT(panel()->verdict()->text().startsWith(QStringLiteral("Fits")), kDeadlineMs);
}

QTEST_MAIN(MemoryPageTest)
#include "memory_page_test.moc"
