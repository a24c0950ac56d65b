// The Compare page as a person uses it, with real mouse and key events, on runs whose every record is known.
#include <QFile>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>
#include <fstream>

#include "core/base/host.h"
#include "core/config/overrides.h"
#include "core/runlog/config_files.h"
#include "core/runlog/event_writer.h"
#include "core/runlog/lease.h"
#include "tests/ui/demo_place.h"
#include "ui/look/language.h"
#include "ui/look/words.h"
#include "ui/pages/compare_choice.h"
#include "ui/pages/compare_page.h"
#include "ui/pages/techniques_panel.h"
#include "ui/plots/curve_plot.h"
#include "ui/plots/kind_bars.h"
#include "ui/plots/overlay_plot.h"

using namespace stagewright;
using namespace Qt::StringLiterals;
using pages::CompareView;
using plots::OverlayLane;
namespace fs = std::filesystem;

namespace {

constexpr int kDeadlineMs = 30000, kPlanMs = 120000;
constexpr std::int64_t kMiB = 1 << 20;
constexpr double kStarted = 1.7e9;

// A run whose updates take turns between two buckets; the wider one takes twice the memory and time.
struct Recipe {
    std::string name;
    int steps = 10;
    std::int64_t mib = 100;                            // at the peak of the smaller bucket
    double seconds = 1;                                // an update of the smaller bucket
    double loss = 1;
    double started = kStarted;
    std::string setting = {}, value = {};              // set besides
    bool isRunning = false;
};

events::Record stepRecord(const Recipe &recipe, int step)
{
    const int factor = step % 2 ? 1 : 2;
    events::Step update;
    update.loss = recipe.loss / step;
    update.bucket = {"256px", factor == 1 ? 17 : 33, 192, 336, 4};
    update.seconds = step == 1 ? 100 : recipe.seconds * factor;            // the first sets up
    update.samples = 4;
    update.peakByKind[std::size_t(MemoryKind::Parameter)] = recipe.mib * kMiB / 4;
    update.peakByKind[std::size_t(MemoryKind::Activation)] = recipe.mib * kMiB * factor - recipe.mib * kMiB / 4;
    update.peakBytes = recipe.mib * kMiB * factor;
    return {recipe.started + step, step, update};
}

} // namespace

class ComparePageTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void emptyFolderSaysWhatToDo();
    void newestTwoAreComparedAtFirst();
    void keysTickAndUntickRuns();
    void runsAreAlignedByBucket();
    void memoryIsStackedByKind();
    void pointerReadsOutEveryRun();
    void wheelDragAndKeysZoomAndPan();
    void figuresAndSettingsThatDifferAreListed();
    void runningRunIsFollowed();
    void damagedRunIsASentenceBesideTheOthers();
    void folderThatIsNoRunIsRefused();
    void moreRunsThanCanBeToldApartAreRefused();
    void pictureAndTableAreExported_data();
    void pictureAndTableAreExported();
    void pictureIsReadAsATable_data();
    void pictureIsReadAsATable();
    void techniquesOfTheOpenStageArePlannedAndMeasured();
    void stageThatCannotBePlannedIsASentence();
    void chineseIsSwitchedLive();

private:
    fs::path makeRun(const Recipe &recipe);
    void append(const fs::path &folder, const std::vector<events::Record> &records);
    void show();
    bool compared(std::size_t runs) const { return QTest::qWaitFor([&] { return !m_page->session()->isReading() && m_page->session()->runs().size() == runs; }, kDeadlineMs); }
    void toggle(const QString &run);
    QString cell(const QString &key, int column) const;
    const session::ComparedRun &run(std::size_t at) const { return *m_page->session()->runs()[at]; }

    QTemporaryDir m_dir;
    fs::path m_outputs;
    std::unique_ptr<session::StageSession> m_stage;
    std::unique_ptr<session::Preferences> m_preferences;
    std::unique_ptr<session::PlanSession> m_planner;
    std::unique_ptr<pages::ComparePage> m_page;
    QStringList m_said;
    int m_number = 0;
};

void ComparePageTest::initTestCase()
{
    QString stage;
    const QString wrong = tests::makeDemoPlace(m_dir, stage);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    if (!qEnvironmentVariableIsSet("STAGEWRIGHT_WORKER"))
        qputenv("STAGEWRIGHT_WORKER", STAGEWRIGHT_BIN "/stagewright-worker");
    QVERIFY(QFile::rename(stage, m_dir.path() + QStringLiteral("/demo/base.yaml")));
}

// Every test has an outputs folder of its own.
void ComparePageTest::init()
{
    m_outputs = fs::path(m_dir.path().toStdString()) / ("outputs" + std::to_string(++m_number));
    fs::create_directories(m_outputs);
    m_said.clear();
    m_stage = std::make_unique<session::StageSession>();
    m_preferences = std::make_unique<session::Preferences>();
    m_planner = std::make_unique<session::PlanSession>();
    m_page = std::make_unique<pages::ComparePage>(m_stage.get(), m_preferences.get(), m_planner.get());
    connect(m_page.get(), &pages::ComparePage::said, this, [this](const QString &sentence) { m_said << sentence; });
    m_page->resize(1200, 800);
    QVERIFY(m_stage->open(m_dir.path().toStdString() + "/demo/base.yaml").ok());
    QVERIFY(QTest::qWaitFor([this] { return m_stage->isSettled(); }, kDeadlineMs));
    const auto set = m_stage->setValue("outputs", "'" + m_outputs.string() + "'");
    QVERIFY2(set.ok(), set.ok() ? "" : set.error().message().c_str());
    QVERIFY(QTest::qWaitFor([this] { return m_stage->isSettled(); }, kDeadlineMs));
}

void ComparePageTest::cleanup()
{
    m_page.reset();
    m_planner.reset();
    m_preferences.reset();
    m_stage.reset();
}

void ComparePageTest::append(const fs::path &folder, const std::vector<events::Record> &records)
{
    std::ofstream out(runlog::historyPath(folder), std::ios::app);
    for (const auto &record : records)
        out << events::toJsonLine(record) << '\n';
    QVERIFY(out.flush().good());
}

fs::path ComparePageTest::makeRun(const Recipe &recipe)
{
    const fs::path folder = m_outputs / recipe.name;
    fs::create_directories(folder);
    runlog::RunIdentity identity;
    identity.id = runlog::newRunId();
    identity.name = recipe.name;
    identity.started = recipe.started;
    const bool isWritten = runlog::writeIdentity(folder, identity).ok();
    auto stage = config::loadStage(m_dir.path().toStdString() + "/demo/base.yaml");
    if (stage && !recipe.setting.empty())
        stage = config::overridden(std::move(*stage), {{recipe.setting, recipe.value, config::OriginKind::Edit}});
    if (!isWritten || !stage || !runlog::writeConfigFiles(folder, runlog::configFilesOf(*stage)).ok())
        qFatal("%s could not be made", folder.c_str());
    std::vector<events::Record> records{{recipe.started, -1, events::RunStarted{}}};
    for (int step = 1; step <= recipe.steps; ++step)
        records.push_back(stepRecord(recipe, step));
    append(folder, records);
    runlog::Lease lease;
    lease.process = runlog::thisProcess();
    lease.runId = identity.id;
    lease.heartbeat = lease.trainingSign = wallSeconds();
    lease.state = recipe.isRunning ? "training" : "finished";
    lease.step = recipe.steps;
    if (!recipe.isRunning)
        lease.exit = 0;
    if (!runlog::writeLease(folder, lease).ok())
        qFatal("%s could not be made", folder.c_str());
    return folder;
}

void ComparePageTest::show()
{
    m_page->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_page.get(), kDeadlineMs));
}

void ComparePageTest::toggle(const QString &name)
{
    QListWidget *list = m_page->choice()->list();
    const auto found = list->findItems(name, Qt::MatchExactly);
    QCOMPARE(found.size(), 1);
    list->setFocus();
    QTest::keyClick(list, Qt::Key_Home);
    while (list->currentItem() != found.first())
        QTest::keyClick(list, Qt::Key_Down);
    QTest::keyClick(list, Qt::Key_Space);
}

QString ComparePageTest::cell(const QString &key, int column) const
{
    const auto *model = qobject_cast<const models::KeyedTableModel *>(m_page->differences()->model());
    const int row = model->indexOfKey(key);
    return row < 0 ? QString() : model->row(row).cells[column].text;
}

void ComparePageTest::emptyFolderSaysWhatToDo()
{
    show();
    QTRY_VERIFY_WITH_TIMEOUT(m_page->notice()->isVisible(), kDeadlineMs);
    QVERIFY2(m_page->notice()->text().startsWith(QStringLiteral("Tick two or more runs")), qPrintable(m_page->notice()->text()));
    QVERIFY(!m_page->plot()->isVisible());
    QVERIFY(!m_page->exportButton()->isEnabled());
}

void ComparePageTest::newestTwoAreComparedAtFirst()
{
    makeRun({"oldest", 5, 100, 1, 1, kStarted});
    makeRun({"middle", 8, 100, 1, 1, kStarted + 100});
    makeRun({"newest", 12, 100, 1, 1, kStarted + 200});
    show();
    QVERIFY(compared(2));
    QCOMPARE(run(0).name, std::string("newest"));
    QCOMPARE(run(1).name, std::string("middle"));
    for (const OverlayLane lane : plots::kOverlayLanes) {
        QCOMPARE(m_page->plot()->drawnPoints(0, lane), 12);
        QCOMPARE(m_page->plot()->drawnPoints(1, lane), 8);
    }
    QVERIFY(m_page->plot()->range().first < 1 && m_page->plot()->range().second > 12);
}

void ComparePageTest::keysTickAndUntickRuns()
{
    for (int i = 0; i < 3; ++i)
        makeRun({"run" + std::to_string(i), 5, 100, 1, 1, kStarted + i});
    show();
    QVERIFY(compared(2));
    toggle(QStringLiteral("run0"));
    QVERIFY(compared(3));
    QCOMPARE(run(2).name, std::string("run0"));
    toggle(QStringLiteral("run2"));
    QVERIFY(compared(2));
    QCOMPARE(run(0).name, std::string("run1"));
    toggle(QStringLiteral("run1"));
    QVERIFY(compared(1));
    QVERIFY2(m_page->notice()->text().startsWith(QStringLiteral("Tick another run")), qPrintable(m_page->notice()->text()));
}

void ComparePageTest::runsAreAlignedByBucket()
{
    makeRun({"slim", 9, 100, 1, 1, kStarted + 1});
    makeRun({"wide", 5, 200, 3, 1, kStarted});
    show();
    QVERIFY(compared(2));
    QTest::mouseClick(m_page->viewTab(CompareView::ByBuckets), Qt::LeftButton);
    QCOMPARE(m_page->view(), CompareView::ByBuckets);
    QCOMPARE(m_page->plot()->drawnPoints(0, OverlayLane::StepTime), 2);
    const QString narrow = m_page->plot()->readoutAt(0), broad = m_page->plot()->readoutAt(1);
    QVERIFY2(narrow.startsWith(QStringLiteral("256px × 17 frames\n")), qPrintable(narrow));
    // The first update, which sets up, is no part of the mean time.
    QVERIFY2(narrow.contains(QStringLiteral("slim: 100 MiB · 1.00 s a step")), qPrintable(narrow));
    QVERIFY2(narrow.contains(QStringLiteral("wide: 200 MiB · 3.00 s a step")), qPrintable(narrow));
    QVERIFY2(broad.contains(QStringLiteral("wide: 400 MiB · 6.00 s a step")), qPrintable(broad));
}

void ComparePageTest::memoryIsStackedByKind()
{
    makeRun({"slim", 4, 100, 1, 1, kStarted + 1});
    makeRun({"wide", 4, 300, 1, 1, kStarted});
    show();
    QVERIFY(compared(2));
    QTest::mouseClick(m_page->viewTab(CompareView::ByKinds), Qt::LeftButton);
    QVERIFY(m_page->bars()->isVisible());
    QTest::mouseClick(m_page->bars()->canvas(), Qt::LeftButton, {}, {m_page->bars()->canvas()->width() / 2, m_page->bars()->yOf(1)});
    QCOMPARE(m_page->bars()->chosen(), 1);
    QCOMPARE(run(1).peakByKind[std::size_t(MemoryKind::Activation)], 525 * kMiB);
}

void ComparePageTest::pointerReadsOutEveryRun()
{
    makeRun({"slim", 20, 100, 1, 1, kStarted + 1});
    makeRun({"wide", 20, 300, 2, 1, kStarted});
    show();
    QVERIFY(compared(2));
    QWidget *canvas = m_page->plot()->canvas();
    QTest::mouseMove(canvas, canvas->rect().center());
    QTRY_VERIFY_WITH_TIMEOUT(!m_page->plot()->shownReadout().isEmpty(), kDeadlineMs);
    const QString said = m_page->plot()->shownReadout();
    const int step = int(std::lround(m_page->plot()->xOf(canvas->rect().center().x())));
    QVERIFY2(said.startsWith(QStringLiteral("step %1\n").arg(step)), qPrintable(said));
    QVERIFY2(said.contains(QStringLiteral("slim: ")) && said.contains(QStringLiteral("wide: ")), qPrintable(said));
}

void ComparePageTest::wheelDragAndKeysZoomAndPan()
{
    makeRun({"slim", 200, 100, 1, 1, kStarted + 1});
    makeRun({"wide", 200, 300, 2, 1, kStarted});
    show();
    QVERIFY(compared(2));
    auto *plot = m_page->plot();
    const auto whole = plot->range();
    QWidget *canvas = plot->canvas();
    const QPoint middle = canvas->rect().center();
    QWheelEvent wheel(middle, canvas->mapToGlobal(middle), {}, {0, 480}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(canvas, &wheel);
    const auto zoomed = plot->range();
    QVERIFY(zoomed.second - zoomed.first < 0.5 * (whole.second - whole.first));
    QVERIFY(plot->drawnPoints(0, OverlayLane::Memory) < 120);
    QTest::mousePress(canvas, Qt::LeftButton, {}, middle);
    QTest::mouseMove(canvas, middle - QPoint(100, 0));
    QTest::mouseRelease(canvas, Qt::LeftButton, {}, middle - QPoint(100, 0));
    QVERIFY(plot->range().first > zoomed.first);
    const auto dragged = plot->range();
    QTest::keyClick(plot, Qt::Key_Left);
    QVERIFY(plot->range().first < dragged.first);
    QTest::keyClick(plot, Qt::Key_Home);
    QCOMPARE(plot->range(), whole);
}

void ComparePageTest::figuresAndSettingsThatDifferAreListed()
{
    makeRun({"first", 10, 100, 1, 1, kStarted + 1});
    makeRun({"second", 10, 150, 2, 1, kStarted, "model.grad_ckpt_settings", "(0, 0)"});
    show();
    QVERIFY(compared(2));
    QCOMPARE(cell(QStringLiteral("figure.state"), 1), QStringLiteral("finished"));
    QCOMPARE(cell(QStringLiteral("figure.updates"), 1), QStringLiteral("10"));
    QCOMPARE(cell(QStringLiteral("figure.peak"), 1), QStringLiteral("200 MiB"));
    QCOMPARE(cell(QStringLiteral("figure.peak"), 2), QStringLiteral("300 MiB  +50.0 %"));
    QVERIFY2(cell(QStringLiteral("figure.seconds"), 2).endsWith(QStringLiteral("+100.0 %")), qPrintable(cell(QStringLiteral("figure.seconds"), 2)));
    QCOMPARE(cell(QStringLiteral("settings"), 0), QStringLiteral("SETTINGS THAT DIFFER · 1"));
    QCOMPARE(cell(QStringLiteral("setting.model.grad_ckpt_settings"), 1), QStringLiteral("(1, 2)"));
    QCOMPARE(cell(QStringLiteral("setting.model.grad_ckpt_settings"), 2), QStringLiteral("(0, 0)"));
}

void ComparePageTest::runningRunIsFollowed()
{
    const Recipe recipe{"going-on", 5, 100, 1, 1, kStarted + 1, {}, {}, true};
    const fs::path folder = makeRun(recipe);
    makeRun({"over", 5, 100, 1, 1, kStarted});
    show();
    QVERIFY(compared(2));
    QCOMPARE(cell(QStringLiteral("figure.state"), 1), QStringLiteral("running"));
    append(folder, {stepRecord(recipe, 6), stepRecord(recipe, 7)});
    QVERIFY(QTest::qWaitFor([this] { return m_page->plot()->drawnPoints(0, OverlayLane::Memory) == 7; }, kDeadlineMs));
    QCOMPARE(cell(QStringLiteral("figure.updates"), 1), QStringLiteral("7"));
}

void ComparePageTest::damagedRunIsASentenceBesideTheOthers()
{
    const fs::path damaged = makeRun({"damaged", 0, 100, 1, 1, kStarted + 1});
    std::ofstream(runlog::configPath(damaged)) << "model: [unclosed";
    std::ofstream(runlog::historyPath(damaged)) << "no record\n" << std::string(3, '\0') << "\n{\"event\":\"step\"\n";
    makeRun({"whole", 5});
    show();
    QVERIFY(compared(2));
    const QString said = cell(QStringLiteral("figure.state"), 1);
    QVERIFY2(said.contains(QStringLiteral("config.yaml")), qPrintable(said));
    QCOMPARE(cell(QStringLiteral("figure.updates"), 2), QStringLiteral("5"));
    QCOMPARE(m_page->plot()->drawnPoints(1, OverlayLane::Memory), 5);
}

void ComparePageTest::folderThatIsNoRunIsRefused()
{
    show();
    m_page->choice()->add(m_dir.path());
    QCOMPARE(m_said.size(), 1);
    QVERIFY2(m_said.first().contains(m_dir.path()) && m_said.first().contains(QStringLiteral("run.json")), qPrintable(m_said.first()));
    QVERIFY(m_page->session()->folders().isEmpty());
}

void ComparePageTest::moreRunsThanCanBeToldApartAreRefused()
{
    for (int i = 0; i <= session::CompareSession::kMostRuns; ++i)
        makeRun({"run" + std::to_string(i), 2, 100, 1, 1, kStarted - i});
    show();
    QVERIFY(compared(2));
    for (int i = 2; i <= session::CompareSession::kMostRuns; ++i)
        toggle(QStringLiteral("run%1").arg(i));
    QVERIFY(compared(session::CompareSession::kMostRuns));
    QCOMPARE(m_said.size(), 1);
    QVERIFY2(m_said.first().contains(QStringLiteral("untick one first")), qPrintable(m_said.first()));
}

void ComparePageTest::pictureAndTableAreExported_data()
{
    QTest::addColumn<CompareView>("view");
    QTest::addColumn<QString>("ending");
    QTest::addColumn<QByteArray>("begin");
    QTest::addColumn<int>("lines");
    for (const auto &[view, name, first, lines] : {std::tuple(CompareView::BySteps, "steps", "step,first: peak GiB", 11), std::tuple(CompareView::ByBuckets, "buckets", "bucket,first: peak GiB", 3),
                                                   std::tuple(CompareView::ByKinds, "kinds", "run,peak GiB", 3)}) {
        QTest::addRow("%s PNG", name) << view << "png" << QByteArray("\x89PNG") << 0;
        QTest::addRow("%s SVG", name) << view << "svg" << QByteArray("<?xml") << 0;
        QTest::addRow("%s PDF", name) << view << "pdf" << QByteArray("%PDF") << 0;
        QTest::addRow("%s CSV", name) << view << "csv" << QByteArray(first) << lines;
    }
}

void ComparePageTest::pictureAndTableAreExported()
{
    QFETCH(CompareView, view);
    QFETCH(QString, ending);
    QFETCH(QByteArray, begin);
    QFETCH(int, lines);
    makeRun({"first", 10, 100, 1, 1, kStarted + 1});
    makeRun({"second", 6});
    show();
    QVERIFY(compared(2));
    QTest::mouseClick(m_page->viewTab(view), Qt::LeftButton);
    const QString file = m_dir.path() + QStringLiteral("/compared.") + ending;
    QCOMPARE(m_page->exportTo(file), QString());
    QFile written(file);
    QVERIFY(written.open(QIODevice::ReadOnly));
    const QByteArray bytes = written.readAll();
    QVERIFY2(bytes.startsWith(begin), bytes.left(60).constData());
    if (lines > 0)
        QCOMPARE(int(bytes.count('\n')), lines);
    const QString wrong = m_page->exportTo(QStringLiteral("/nowhere/compared.") + ending);
    QVERIFY2(wrong.contains(QStringLiteral("/nowhere/compared.")), qPrintable(wrong));
}

void ComparePageTest::pictureIsReadAsATable_data()
{
    QTest::addColumn<CompareView>("view");
    QTest::addColumn<int>("rows");
    QTest::addColumn<QStringList>("first");
    QTest::newRow("steps") << CompareView::BySteps << 10 << QStringList{u"1"_s, u"0.0976562"_s, u"100"_s, u"1"_s, u"0.195312"_s, u"100"_s, u"1"_s};
    QTest::newRow("buckets") << CompareView::ByBuckets << 2 << QStringList{u"256px × 17 frames"_s, u"0.0976562"_s, u"1"_s, u"0.357460"_s, u"0.195312"_s, u"2"_s, u"0.511111"_s};
    QTest::newRow("kinds") << CompareView::ByKinds << 2 << QStringList{u"first"_s, u"0.195312"_s};
}

void ComparePageTest::pictureIsReadAsATable()
{
    QFETCH(CompareView, view);
    QFETCH(int, rows);
    QFETCH(QStringList, first);
    makeRun({"first", 10, 100, 1, 1, kStarted + 1});
    makeRun({"second", 6, 200, 2, 1});
    show();
    QVERIFY(compared(2));
    QTest::mouseClick(m_page->viewTab(view), Qt::LeftButton);
    QTest::mouseClick(m_page->tableButton(), Qt::LeftButton);
    QVERIFY(m_page->table()->isVisible());
    const auto *model = m_page->table()->model();
    QCOMPARE(model->rowCount(), rows);
    for (int column = 0; column < first.size(); ++column) {
        bool isNumber = false;
        const double expected = first[column].toDouble(&isNumber);
        const QString shown = model->index(0, column).data().toString();
        QVERIFY2(isNumber ? std::fabs(shown.toDouble() - expected) <= 1e-5 * expected : shown == first[column], qPrintable(shown));
    }
    for (QWidget *widget : std::initializer_list<QWidget *>{m_page->plot(), m_page->bars(), m_page->table(), m_page->differences(), m_page->choice()->list()})
        QVERIFY(!widget->accessibleName().isEmpty());
    QTest::mouseClick(m_page->tableButton(), Qt::LeftButton);
    QVERIFY(!m_page->table()->isVisible());
}

void ComparePageTest::techniquesOfTheOpenStageArePlannedAndMeasured()
{
    if (!QFileInfo(qEnvironmentVariable("STAGEWRIGHT_WORKER")).isExecutable())
        QSKIP("there is no worker (a build with STAGEWRIGHT_TORCH=OFF has none); set STAGEWRIGHT_WORKER to one");
    const auto set = m_stage->setValue("bucket_config", "{'128px': {5: (1.0, 1)}}");
    QVERIFY2(set.ok(), set.ok() ? "" : set.error().message().c_str());
    show();
    QTest::mouseClick(m_page->viewTab(CompareView::Techniques), Qt::LeftButton);
    auto *panel = m_page->techniques();
    auto *session = panel->session();
    QVERIFY2(QTest::qWaitFor([&] { return session->rows().size() == 10 && !session->isPlanning(); }, kPlanMs), qPrintable(panel->words()->text()));
    QVERIFY(panel->table()->isVisible());
    QVERIFY(!m_page->choice()->isVisible());
    QVERIFY(panel->words()->text().contains(u"128px/5"_s));
    for (const auto &row : session->rows())
        QVERIFY(row.planned);
    const auto *model = panel->table()->model();
    QCOMPARE(model->index(0, 0).data().toString(), u"none, in fp32"_s);
    QCOMPARE(model->index(0, 4).data().toString(), u"+0.0 %"_s);
    QVERIFY(model->index(1, 1).data().toString().contains(u"iB"_s));
    QVERIFY(model->index(1, 2).data().toString().isEmpty());
    QVERIFY(!panel->plot()->accessibleDescription().isEmpty());
    QTest::mouseClick(panel->measureButton(), Qt::LeftButton);
    QVERIFY(session->isMeasuring());
    QVERIFY(QTest::qWaitFor([&] { return session->measured() >= 2; }, kPlanMs));
    QVERIFY2(!model->index(1, 2).data().toString().isEmpty(), qPrintable(session->rows()[1].measured->sentence));
    QTest::mouseClick(panel->measureButton(), Qt::LeftButton);
    QVERIFY(QTest::qWaitFor([&] { return !session->isMeasuring(); }, kPlanMs));
    const QString file = m_dir.path() + u"/techniques.csv"_s;
    QCOMPARE(m_page->exportTo(file), QString());
    QFile written(file);
    QVERIFY(written.open(QIODevice::ReadOnly));
    QCOMPARE(written.readAll().count('\n'), 11);
}

void ComparePageTest::stageThatCannotBePlannedIsASentence()
{
    const auto set = m_stage->setValue("dtype", "'float3'");
    QVERIFY(set.ok());
    show();
    QTest::mouseClick(m_page->viewTab(CompareView::Techniques), Qt::LeftButton);
    auto *panel = m_page->techniques();
    QTRY_VERIFY_WITH_TIMEOUT(panel->words()->text().startsWith(u"This stage cannot be planned yet."_s), kDeadlineMs);
    QVERIFY(!panel->table()->isVisible());
    QVERIFY(!panel->measureButton()->isEnabled());
    QTest::mouseClick(m_page->viewTab(CompareView::BySteps), Qt::LeftButton);
    QVERIFY(m_page->choice()->isVisible());
}

void ComparePageTest::chineseIsSwitchedLive()
{
    makeRun({"first", 4, 100, 1, 1, kStarted + 1});
    makeRun({"second", 4});
    show();
    QVERIFY(compared(2));
    look::language().set(look::LanguageId::Chinese);
    QTRY_COMPARE_WITH_TIMEOUT(cell(QStringLiteral("figure.state"), 1), QStringLiteral("已完成"), kDeadlineMs);
    look::language().set(look::LanguageId::English);
    QTRY_COMPARE_WITH_TIMEOUT(cell(QStringLiteral("figure.state"), 1), QStringLiteral("finished"), kDeadlineMs);
}

QTEST_MAIN(ComparePageTest)
#include "compare_page_test.moc"
