// The Data page as a person uses it, with real mouse and key events, on tables with known faults.
#include <QComboBox>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

#include "core/base/files.h"
#include "tests/ui/demo_place.h"
#include "ui/look/language.h"
#include "ui/look/parts.h"
#include "ui/look/words.h"
#include "ui/pages/data_page.h"

using namespace stagewright;
using namespace Qt::StringLiterals;
using session::DataSession;
namespace fs = std::filesystem;

namespace {

constexpr int kDeadlineMs = 30000;

// Five rows of a bucket of two (one is left over), images, one row too short, one too small, one whose number cannot be read.
const char *const kTable = "path,text,num_frames,height,width,fps\n"
                           "a.mp4,a red fox,33,256,256,16\nb.mp4,two,33,256,256,16\nc.mp4,three,33,256,256,16\nd.mp4,four,33,256,256,16\ne.mp4,five,33,256,256,16\n"
                           "i.png,an image,1,256,256,\nj.png,another,1,256,480,\n"
                           "short.mp4,a short fox,20,256,256,16\nsmall.mp4,seven,33,32,32,16\nodd.mp4,eight,12 frames,256,256,16\n";

} // namespace

class DataPageTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void nothingIsOpenSaysWhatToDo();
    void stageWithoutATableSaysWhatToDo();
    void everyRowIsCountedOnce();
    void reasonLeadsToItsRows();
    void bucketLeadsToItsRowsAndTheSearch();
    void aspectsAreShownBeneathTheirBucket();
    void typedBatchIsCountedAtOnceAndNotInTheStage();
    void refusedNumberSaysWhyAndCountsNothing();
    void trialIsPutIntoTheStageAsOneUndoStep();
    void policyIsOneChoiceAndSaysWhatItBrings();
    void moreGpusMakeFewerSteps();
    void missingColumnIsFoundOutFromTheFiles();
    void unreadableTableIsASentence();
    void picturesComeOnDemand();
    void rowsAreExported();
    void costsStandBesideTheBuckets();
    void encodingsAreMadeFromThePage();
    void chineseIsSwitchedLive();

private:
    void open(const std::string &table, const std::string &more = {});
    void show();
    bool ready() const { return QTest::qWaitFor([&] { return m_page->session()->state() == DataSession::State::Ready && m_page->session()->answer(); }, kDeadlineMs); }
    bool becomes(const std::function<bool()> &condition) const { return QTest::qWaitFor(condition, kDeadlineMs); }
    static QString cell(QTableView *view, int row, int column) { return view->model()->index(row, column).data().toString(); }
    static int rowWith(QTableView *view, const QString &text)
    {
        for (int row = 0; row < view->model()->rowCount(); ++row) {
            if (cell(view, row, 0).contains(text))
                return row;
        }
        return -1;
    }
    static void click(QTableView *view, int row) { QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, view->visualRect(view->model()->index(row, 0)).center()); }
    QStringList files() const
    {
        QStringList all;
        for (int row = 0; row < m_page->rowTable()->model()->rowCount(); ++row)
            all << cell(m_page->rowTable(), row, pages::RowListModel::PathColumn);
        return all;
    }
    void type(QLineEdit *field, const QString &text)
    {
        field->selectAll();
        QTest::keyClicks(field, text);
    }

    QTemporaryDir m_dir;
    QString m_demoStage;
    fs::path m_folder;
    std::unique_ptr<session::StageSession> m_stage;
    std::unique_ptr<pages::DataPage> m_page;
    QStringList m_said;
    int m_number = 0;
};

void DataPageTest::initTestCase()
{
    const QString wrong = tests::makeDemoPlace(m_dir, m_demoStage);
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
    if (!qEnvironmentVariableIsSet("STAGEWRIGHT_WORKER"))
        qputenv("STAGEWRIGHT_WORKER", STAGEWRIGHT_BIN "/stagewright-worker");
}

void DataPageTest::init()
{
    m_folder = fs::path(m_dir.path().toStdString()) / ("place" + std::to_string(++m_number));
    fs::create_directories(m_folder);
    m_said.clear();
    m_stage = std::make_unique<session::StageSession>();
    m_page = std::make_unique<pages::DataPage>(m_stage.get());
    connect(m_page.get(), &pages::DataPage::said, this, [this](const QString &sentence) { m_said << sentence; });
    m_page->resize(1200, 720);
}

void DataPageTest::cleanup()
{
    m_page.reset();
    m_stage.reset();
    look::language().set(look::LanguageId::English);
}

void DataPageTest::show()
{
    m_page->show();
    QVERIFY(QTest::qWaitForWindowExposed(m_page.get()));
}

void DataPageTest::open(const std::string &table, const std::string &more)
{
    QVERIFY(replaceFile(m_folder / "meta.csv", table).ok());
    const std::string text = "dataset: {type: video_text, data_path: " + (m_folder / "meta.csv").string() + ", fps_max: 16}\nbucket_config: {256px: {33: !tuple [1.0, 2], 1: !tuple [1.0, 1]}}\n" + more;
    QVERIFY(replaceFile(m_folder / "stage.yaml", text).ok());
    QVERIFY(m_stage->open(m_folder / "stage.yaml").ok());
    show();
}

void DataPageTest::nothingIsOpenSaysWhatToDo()
{
    show();
    QVERIFY(m_page->notice()->isVisible());
    QVERIFY(m_page->notice()->text().contains(u"Ctrl+O"_s));
    QVERIFY(!m_page->grid()->isVisible() && !m_page->neverLabel()->isVisible());
}

void DataPageTest::stageWithoutATableSaysWhatToDo()
{
    QVERIFY(replaceFile(m_folder / "stage.yaml", "bucket_config: {256px: {1: !tuple [1.0, 1]}}\n").ok());
    QVERIFY(m_stage->open(m_folder / "stage.yaml").ok());
    show();
    QVERIFY(becomes([&] { return m_page->notice()->text().contains(u"dataset.data_path"_s); }));
    QVERIFY(!m_page->grid()->isVisible());
}

void DataPageTest::everyRowIsCountedOnce()
{
    open(kTable);
    QVERIFY(ready());
    std::int64_t samples = 0, left = 0;
    for (int row = 0; row < m_page->grid()->model()->rowCount(); ++row) {
        samples += cell(m_page->grid(), row, 4).toLongLong();
        left += cell(m_page->grid(), row, 6).toLongLong();
    }
    std::int64_t lost = 0;
    for (int row = 0; row < m_page->losses()->model()->rowCount(); ++row)
        lost += cell(m_page->losses(), row, 1).toLongLong();
    QCOMPARE(samples, 7);
    QCOMPARE(left, 1);
    QCOMPARE(samples - left + lost, 10);               // the left-over row is named among the losses
    QCOMPARE(m_page->neverLabel()->text(), u"40.0 % of samples never train"_s);
    QVERIFY(m_page->neverLabel()->isVisible());
}

void DataPageTest::reasonLeadsToItsRows()
{
    open(kTable);
    QVERIFY(ready());
    const int reason = rowWith(m_page->losses(), u"too short"_s);
    QVERIFY(reason >= 0);
    click(m_page->losses(), reason);
    QVERIFY(becomes([&] { return files() == QStringList{u"short.mp4"_s}; }));
    const QString why = cell(m_page->rowTable(), 0, pages::RowListModel::WhyColumn);
    QVERIFY2(why.contains(u"20 frames"_s) && why.contains(u"33"_s), qPrintable(why));
    QVERIFY(!m_page->rowTable()->isColumnHidden(pages::RowListModel::WhyColumn));
    click(m_page->losses(), rowWith(m_page->losses(), u"left over"_s));
    QVERIFY(becomes([&] { return files() == QStringList{u"e.mp4"_s}; }));
}

void DataPageTest::bucketLeadsToItsRowsAndTheSearch()
{
    open(kTable);
    QVERIFY(ready());
    click(m_page->grid(), rowWith(m_page->grid(), u"33 frames"_s));
    QVERIFY(becomes([&] { return files().size() == 5; }));
    QVERIFY(m_page->rowTable()->isColumnHidden(pages::RowListModel::WhyColumn));
    QTest::keyClicks(m_page->searchField(), u"FOX"_s);
    QVERIFY(becomes([&] { return files() == QStringList{u"a.mp4"_s}; }));
    click(m_page->grid(), rowWith(m_page->grid(), u"images"_s));       // the search stays
    QVERIFY(becomes([&] { return files().isEmpty(); }));
    m_page->searchField()->clear();
    QTest::keyClicks(m_page->searchField(), u"j"_s);
    QVERIFY(becomes([&] { return files() == QStringList{u"j.png"_s}; }));
}

void DataPageTest::aspectsAreShownBeneathTheirBucket()
{
    open(kTable);
    QVERIFY(ready());
    QCOMPARE(m_page->grid()->model()->rowCount(), 2);
    QTest::mouseClick(m_page->aspectsButton(), Qt::LeftButton);
    QCOMPARE(m_page->grid()->model()->rowCount(), 5);  // 33 frames: 1:1; images: 1:1 and a wide one
    std::int64_t images = 0;
    const int first = rowWith(m_page->grid(), u"images"_s);
    for (int row = first + 1; row < first + 3; ++row)
        images += cell(m_page->grid(), row, 4).toLongLong();
    QCOMPARE(images, cell(m_page->grid(), first, 4).toLongLong());
    click(m_page->grid(), first + 1);
    QVERIFY(becomes([&] { return files().size() == 1; }));
}

void DataPageTest::typedBatchIsCountedAtOnceAndNotInTheStage()
{
    open(kTable);
    QVERIFY(ready());
    const std::string before = m_stage->text();
    click(m_page->grid(), rowWith(m_page->grid(), u"33 frames"_s));
    QCOMPARE(m_page->batchField()->text(), u"2"_s);
    type(m_page->batchField(), u"5"_s);
    QVERIFY(becomes([&] { return m_page->neverLabel()->text() == u"30.0 % of samples never train"_s; }));
    QVERIFY(m_page->applyButton()->isVisible());
    QCOMPARE(m_stage->text(), before);
    QTest::mouseClick(m_page->forgetButton(), Qt::LeftButton);
    QVERIFY(becomes([&] { return m_page->neverLabel()->text() == u"40.0 % of samples never train"_s; }));
    QCOMPARE(m_page->batchField()->text(), u"2"_s);
    QVERIFY(!m_page->applyButton()->isVisible());
}

void DataPageTest::refusedNumberSaysWhyAndCountsNothing()
{
    open(kTable);
    QVERIFY(ready());
    click(m_page->grid(), rowWith(m_page->grid(), u"33 frames"_s));
    for (const auto &[field, typed] : {std::pair(m_page->batchField(), u"0"_s), std::pair(m_page->probabilityField(), u"1.5"_s), std::pair(m_page->batchField(), u"two"_s)}) {
        type(field, typed);
        QCOMPARE(field->property("state").toString(), u"error"_s);
        QVERIFY(!m_page->session()->hasTries());
        QTest::mouseClick(m_page->forgetButton(), Qt::LeftButton);
        QCOMPARE(field->property("state").toString(), QString());
    }
}

void DataPageTest::trialIsPutIntoTheStageAsOneUndoStep()
{
    open(kTable);
    QVERIFY(ready());
    const std::string before = m_stage->text();
    click(m_page->grid(), rowWith(m_page->grid(), u"33 frames"_s));
    type(m_page->batchField(), u"5"_s);
    QVERIFY(becomes([&] { return m_page->applyButton()->isVisible() && m_page->applyButton()->isEnabled(); }));
    QTest::mouseClick(m_page->applyButton(), Qt::LeftButton);
    QVERIFY(becomes([&] { return m_stage->isSettled() && !m_page->session()->hasTries(); }));
    QVERIFY2(m_said.isEmpty(), qPrintable(m_said.join(u' ')));
    QVERIFY(m_stage->text() != before);
    QCOMPARE(m_stage->undoStack()->count(), 1);
    m_stage->undoStack()->undo();
    QVERIFY(becomes([&] { return m_page->neverLabel()->text() == u"40.0 % of samples never train"_s; }));
}

void DataPageTest::policyIsOneChoiceAndSaysWhatItBrings()
{
    open(kTable);
    QVERIFY(ready());
    QVERIFY(becomes([&] { return m_page->session()->answer()->otherPolicy.has_value(); }));
    m_page->policyBox()->setFocus();
    QTest::keyClick(m_page->policyBox(), Qt::Key_Down);
    QVERIFY(becomes([&] { return m_page->session()->answer() && m_page->session()->answer()->rules.policy == table::DataPolicy::Keep; }));
    QVERIFY(becomes([&] { return m_page->neverLabel()->text() == u"30.0 % of samples never train"_s; }));
    QVERIFY(m_stage->text().find("data_policy") != std::string::npos);
}

void DataPageTest::moreGpusMakeFewerSteps()
{
    open(kTable);
    QVERIFY(ready());
    QCOMPARE(m_page->session()->answer()->shown.batchesPerRank, 4);
    type(m_page->ranksField(), u"4"_s);
    QVERIFY(becomes([&] { return m_page->session()->answer()->shown.batchesPerRank == 1; }));
    type(m_page->epochField(), u"3"_s);
    QVERIFY(becomes([&] { return m_page->session()->epoch() == 3; }));
}

void DataPageTest::missingColumnIsFoundOutFromTheFiles()
{
    const fs::path demo = fs::path(m_demoStage.toStdString()).parent_path();
    const auto whole = table::readTable(demo / "meta.csv");
    QVERIFY(whole.ok());
    std::string bare = "path,text\n";
    for (std::int64_t row = 0; row < std::min<std::int64_t>((*whole)->rowCount(), 6); ++row)
        bare += (*whole)->mediaPath(row).string() + ",clip\n";
    open(bare);
    QVERIFY(becomes([&] { return m_page->session()->state() == DataSession::State::Unreadable; }));
    QVERIFY2(m_page->notice()->text().contains(u"num_frames"_s), qPrintable(m_page->notice()->text()));
    QVERIFY(m_page->probeButton()->isVisible());
    QTest::mouseClick(m_page->probeButton(), Qt::LeftButton);
    QVERIFY(becomes([&] { return m_page->useProbedButton()->isVisible(); }));
    QTest::mouseClick(m_page->useProbedButton(), Qt::LeftButton);
    QVERIFY(ready());
    QCOMPARE(m_page->session()->answer()->shown.rows, 6);
}

void DataPageTest::unreadableTableIsASentence()
{
    open("path,text,num_frames,height,width,fps\na.mp4,one,33\n");
    QVERIFY(becomes([&] { return m_page->session()->state() == DataSession::State::Unreadable; }));
    QVERIFY2(m_page->notice()->text().contains(u":2: "_s) && m_page->notice()->text().contains(u"meta.csv"_s), qPrintable(m_page->notice()->text()));
    QVERIFY(!m_page->probeButton()->isVisible() && !m_page->grid()->isVisible());
}

void DataPageTest::picturesComeOnDemand()
{
    const fs::path demo = fs::path(m_demoStage.toStdString()).parent_path();
    open("path,text,num_frames,height,width,fps\n" + (demo / "clips/clip00.mp4").string() + ",one,33,256,256,16\n" + (m_folder / "gone.mp4").string() + ",two,33,256,256,16\n");
    QVERIFY(ready());
    click(m_page->grid(), rowWith(m_page->grid(), u"33 frames"_s));
    QVERIFY(becomes([&] { return files().size() == 2; }));
    const auto picture = [&](int row) { return m_page->rowTable()->model()->index(row, pages::RowListModel::RowColumn).data(Qt::DecorationRole).value<QImage>(); };
    QVERIFY(picture(0).isNull());
    QTest::mouseClick(m_page->picturesButton(), Qt::LeftButton);
    QVERIFY(becomes([&] { return !picture(0).isNull(); }));
    QCOMPARE(std::max(picture(0).width(), picture(0).height()), pages::RowListModel::kPictureSide);
    QVERIFY(becomes([&] { return cell(m_page->rowTable(), 1, pages::RowListModel::WhyColumn).contains(u"gone.mp4"_s); }));
}

void DataPageTest::rowsAreExported()
{
    open(kTable);
    QVERIFY(ready());
    click(m_page->losses(), rowWith(m_page->losses(), u"too small"_s));
    QVERIFY(becomes([&] { return files() == QStringList{u"small.mp4"_s}; }));
    const QString out = look::q(m_folder / "rows.csv");
    m_page->exportTo(out);
    QVERIFY(becomes([&] { return m_said.size() == 1; }));
    QFile in(out);
    QVERIFY(in.open(QIODevice::ReadOnly));
    QVERIFY(in.readAll().contains("small.mp4,too_small,"));
    m_page->exportTo(look::q(m_folder / "none/rows.csv"));
    QVERIFY(becomes([&] { return m_said.size() == 2; }));
    QVERIFY2(m_said.last().contains(u"none"_s), qPrintable(m_said.last()));
}

// The planner's figures, and others for a batch that is only tried.
void DataPageTest::costsStandBesideTheBuckets()
{
    if (!QFileInfo(qEnvironmentVariable("STAGEWRIGHT_WORKER")).isExecutable())
        QSKIP("there is no worker (a build with STAGEWRIGHT_TORCH=OFF has none); set STAGEWRIGHT_WORKER to one");
    QVERIFY(m_stage->open(m_demoStage.toStdString()).ok());
    show();
    QVERIFY(ready());
    const auto peak = [&] { return cell(m_page->grid(), 0, 7); };
    QVERIFY(QTest::qWaitFor([&] { return peak().contains(u'i'); }, 120000));
    const QString before = peak();
    click(m_page->grid(), 0);
    type(m_page->batchField(), u"8"_s);
    QVERIFY(QTest::qWaitFor([&] { return peak() != before && peak().contains(u'i'); }, 120000));
}

// The stage's cache: how much of it is there, the rest made by a worker, stopped and gone on with.
void DataPageTest::encodingsAreMadeFromThePage()
{
    if (!QFileInfo(qEnvironmentVariable("STAGEWRIGHT_WORKER")).isExecutable())
        QSKIP("there is no worker (a build with STAGEWRIGHT_TORCH=OFF has none); set STAGEWRIGHT_WORKER to one");
    const auto text = readFile(m_demoStage.toStdString());
    QVERIFY(text.ok());
    QVERIFY(replaceFile(m_folder / "cached.yaml", *text + "\nencoding_cache: " + (m_folder / "encodings").string() + "\n").ok());
    QVERIFY(m_stage->open(m_folder / "cached.yaml").ok());
    show();
    QVERIFY(ready());
    const auto words = [&] { return m_page->cacheLabel()->fullText(); };
    QVERIFY2(becomes([&] { return words().contains(u": 0 of the first"_s); }), qPrintable(words()));
    QVERIFY(m_page->encodeButton()->isVisible());
    QTest::mouseClick(m_page->encodeButton(), Qt::LeftButton);
    QVERIFY(m_page->cache()->isBuilding());
    QVERIFY(becomes([&] { return m_page->cache()->progress().encoded > 0; }));
    QTest::mouseClick(m_page->encodeButton(), Qt::LeftButton);                   // stop
    QVERIFY(becomes([&] { return !m_page->cache()->isBuilding() && m_page->cache()->glance(); }));
    const auto some = m_page->cache()->glance()->present();
    QVERIFY(some > 0);
    QVERIFY2(m_page->cache()->refusal().isEmpty(), qPrintable(m_page->cache()->refusal()));
    if (m_page->encodeButton()->isVisible()) {         // unless it was done before it heard
        QTest::mouseClick(m_page->encodeButton(), Qt::LeftButton);
        QVERIFY(becomes([&] { return !m_page->cache()->isBuilding() && m_page->cache()->glance(); }));
    }
    const auto &glance = *m_page->cache()->glance();
    QCOMPARE(glance.missing + glance.unknown, 0);
    QCOMPARE(glance.present() + glance.refused, glance.wanted);
    QVERIFY2(words().contains(u"1 cannot be made"_s), qPrintable(words()));      // the demo's broken clip
    QVERIFY(!m_page->encodeButton()->isVisible());
    // Another encoder wants other entries.
    QVERIFY(m_stage->setValue("ae.latent_channels", "24").ok());
    QVERIFY(becomes([&] { return m_stage->isSettled() && (!m_page->cache()->isShown() || (m_page->cache()->glance() && m_page->cache()->glance()->missing > 0)); }));
}

void DataPageTest::chineseIsSwitchedLive()
{
    open(kTable);
    QVERIFY(ready());
    look::language().set(look::LanguageId::Chinese);
    QVERIFY(!m_page->neverLabel()->text().contains(u"samples"_s));
    for (int row = 0; row < m_page->losses()->model()->rowCount(); ++row)
        QVERIFY2(!cell(m_page->losses(), row, 0).contains(u"too"_s), qPrintable(cell(m_page->losses(), row, 0)));
    look::language().set(look::LanguageId::English);
    QCOMPARE(m_page->neverLabel()->text(), u"40.0 % of samples never train"_s);
}

QTEST_MAIN(DataPageTest)
#include "data_page_test.moc"
