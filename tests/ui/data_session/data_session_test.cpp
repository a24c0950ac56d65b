// The dataset of an open stage as the window asks for it: on the demo's clips and on tables with known faults.
#include <QDir>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

#include "core/base/files.h"
#include "core/demo/demo_stage.h"
#include "ui/session/data_session.h"
#include "ui/session/thumbnail.h"

using namespace stagewright;
using session::DataSession;
using session::RowChoice;

namespace {

constexpr int kWaitMs = 20000;

// Four rows that train (two batches of two), one too short, one too small, one whose number cannot be read.
const char *const kTable = "path,text,num_frames,height,width,fps\n"
                           "a.mp4,one,33,256,256,16\nb.mp4,two,33,256,256,16\nc.mp4,three,33,256,256,16\nd.mp4,four,33,256,256,16\n"
                           "short.mp4,five,5,256,256,16\nsmall.mp4,six,33,32,32,16\nodd.mp4,seven,12 frames,256,256,16\n";
const char *const kStage = "dataset = dict(type=\"video_text\", data_path=\"%1\", fps_max=16)\nbucket_config = {\"256px\": {33: (1.0, 2)}}\n";

} // namespace

class DataSessionTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init();
    void cleanup();
    void reasonsSumToTheRows();
    void rowsOfAReasonAreListedWithWhy();
    void rowsAreSearchedAndExported();
    void trialChangesTheCountsAndNotTheStage();
    void triedBucketIsRefusedAsCheckWould();
    void appliedTrialIsOneUndoStep();
    void otherPolicyIsCountedBeside();
    void missingColumnIsMeasuredFromTheFiles();
    void unreadableTableSaysWhy_data();
    void unreadableTableSaysWhy();
    void valueOfTheWrongTypeIsASentence_data();
    void valueOfTheWrongTypeIsASentence();
    void sleepsUntilItIsShown();

private:
    void open(const std::string &table);
    void openStage(const std::filesystem::path &file);
    bool comesTo(DataSession::State state) { return QTest::qWaitFor([&] { return m_data->state() == state; }, kWaitMs); }
    bool answers(const std::function<bool(const DataSession::Answer &)> &as) { return QTest::qWaitFor([&] { return m_data->answer() && as(*m_data->answer()); }, kWaitMs); }
    static std::int64_t lost(const table::Simulation &s, table::DropReason reason) { return s.dropped[static_cast<std::size_t>(reason)]; }
    static RowChoice reason(table::DropReason which) { return {RowChoice::Kind::Reason, static_cast<std::size_t>(which), {}, 0}; }

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<session::StageSession> m_stage;
    std::unique_ptr<DataSession> m_data;
};

void DataSessionTest::init()
{
    m_dir = std::make_unique<QTemporaryDir>();
    QVERIFY(m_dir->isValid());
    QVERIFY(QDir::setCurrent(m_dir->path()));
    qputenv("XDG_STATE_HOME", m_dir->path().toUtf8() + "/state");
    m_stage = std::make_unique<session::StageSession>();
    m_data = std::make_unique<DataSession>(m_stage.get());
}

void DataSessionTest::cleanup()
{
    m_data.reset();
    m_stage.reset();
    QDir::setCurrent(QDir::tempPath());
}

void DataSessionTest::openStage(const std::filesystem::path &file)
{
    QVERIFY(m_stage->open(file).ok());
    QVERIFY(QTest::qWaitFor([&] { return m_stage->isSettled(); }, kWaitMs));
    m_data->setActive(true);
}

void DataSessionTest::open(const std::string &table)
{
    const std::string file = m_dir->filePath(QStringLiteral("meta.csv")).toStdString();
    QVERIFY(replaceFile(file, table).ok());
    const std::string stage = m_dir->filePath(QStringLiteral("stage.py")).toStdString();
    QVERIFY(replaceFile(stage, QString::fromLatin1(kStage).arg(QString::fromStdString(file)).toStdString()).ok());
    openStage(stage);
}

void DataSessionTest::reasonsSumToTheRows()
{
    open(kTable);
    QVERIFY(comesTo(DataSession::State::Ready));
    const auto &shown = m_data->answer()->shown;
    QCOMPARE(shown.rows, 7);
    QCOMPARE(shown.kept, 4);
    QCOMPARE(lost(shown, table::DropReason::TooFewFrames), 1);
    QCOMPARE(lost(shown, table::DropReason::TooSmall), 1);
    QCOMPARE(lost(shown, table::DropReason::UnreadableValue), 1);
    const auto losses = session::lossesOf(shown);
    QCOMPARE(shown.kept + losses.dropped + losses.notDrawn, shown.rows);
    QCOMPARE(losses.never(), 3);
}

void DataSessionTest::rowsOfAReasonAreListedWithWhy()
{
    open(kTable);
    QVERIFY(comesTo(DataSession::State::Ready));
    m_data->choose(reason(table::DropReason::TooFewFrames), {});
    QVERIFY(QTest::qWaitFor([&] { return m_data->rows() && !m_data->isFindingRows(); }, kWaitMs));
    QCOMPARE(m_data->rows()->rows, std::vector<std::int64_t>{4});
    const auto why = m_data->rows()->why(4);
    QVERIFY2(why.starts_with("5 frames") && why.find("33") != std::string::npos, why.c_str());
}

void DataSessionTest::rowsAreSearchedAndExported()
{
    open(kTable);
    QVERIFY(comesTo(DataSession::State::Ready));
    m_data->choose({RowChoice::Kind::Bucket, 0, "256px", 33}, QStringLiteral("THREE"));
    QVERIFY(QTest::qWaitFor([&] { return m_data->rows() && !m_data->isFindingRows(); }, kWaitMs));
    QCOMPARE(m_data->rows()->rows, std::vector<std::int64_t>{2});
    QCOMPARE(m_data->rows()->found, 4);
    m_data->choose(reason(table::DropReason::TooSmall), {});
    QVERIFY(QTest::qWaitFor([&] { return m_data->rows() && m_data->rows()->found == 1; }, kWaitMs));
    QSignalSpy exported(m_data.get(), &DataSession::exported);
    const QString file = m_dir->filePath(QStringLiteral("out.csv"));
    m_data->exportTo(file.toStdString());
    QVERIFY(QTest::qWaitFor([&] { return exported.size() == 1; }, kWaitMs));
    QCOMPARE(exported.at(0).at(1).toString(), QString());
    QFile in(file);
    QVERIFY(in.open(QIODevice::ReadOnly));
    const auto text = in.readAll();
    QVERIFY2(text.startsWith("row,path,reason,why\n5,small.mp4,too_small,"), text.constData());
}

void DataSessionTest::trialChangesTheCountsAndNotTheStage()
{
    open(kTable);
    QVERIFY(comesTo(DataSession::State::Ready));
    const std::string before = m_stage->text();
    QVERIFY(m_data->tryBucket("256px", 33, "1.0", "3").ok());
    QVERIFY(answers([](const auto &answer) { return answer.stage && answer.shown.use.lost == 1 && answer.stage->use.lost == 0; }));
    QCOMPARE(session::lossesOf(m_data->answer()->shown).never(), 4);
    QCOMPARE(m_stage->text(), before);
    m_data->choose({RowChoice::Kind::Tail, 0, {}, 0}, {});
    QVERIFY(QTest::qWaitFor([&] { return m_data->rows() && m_data->rows()->rows == std::vector<std::int64_t>{3}; }, kWaitMs));
    m_data->forgetTries();
    QVERIFY(answers([](const auto &answer) { return !answer.stage && answer.shown.use.lost == 0; }));
}

void DataSessionTest::triedBucketIsRefusedAsCheckWould()
{
    open(kTable);
    QVERIFY(comesTo(DataSession::State::Ready));
    QVERIFY(!m_data->tryBucket("256px", 33, "1.0", "0").ok());
    QVERIFY(!m_data->tryBucket("256px", 33, "1.5", "2").ok());
    QVERIFY(!m_data->tryBucket("256px", 33, "oops(", "2").ok());
    QVERIFY(!m_data->hasTries());
}

void DataSessionTest::appliedTrialIsOneUndoStep()
{
    open(kTable);
    QVERIFY(comesTo(DataSession::State::Ready));
    const std::string before = m_stage->text();
    QVERIFY(m_data->tryBucket("256px", 33, "1.0", "3").ok());
    QVERIFY(m_data->applyTries().ok());
    QVERIFY(QTest::qWaitFor([&] { return m_stage->isSettled() && !m_data->hasTries(); }, kWaitMs));
    QVERIFY(answers([](const auto &answer) { return !answer.stage && answer.shown.use.lost == 1; }));
    QCOMPARE(m_stage->undoStack()->count(), 1);
    m_stage->undoStack()->undo();
    QCOMPARE(m_stage->text(), before);
    QVERIFY(answers([](const auto &answer) { return answer.shown.use.lost == 0; }));
}

void DataSessionTest::otherPolicyIsCountedBeside()
{
    open(std::string(kTable) + "nearly.mp4,eight,30,256,256,16\n");
    QVERIFY(comesTo(DataSession::State::Ready));
    QVERIFY(answers([](const auto &answer) { return answer.otherPolicy.has_value(); }));
    QCOMPARE(m_data->answer()->otherPolicy->kept - m_data->answer()->shown.kept, 1);
    QVERIFY(m_data->usePolicy(table::DataPolicy::Keep).ok());
    QVERIFY(answers([](const auto &answer) { return answer.rules.policy == table::DataPolicy::Keep && answer.shown.kept == 5; }));
    QCOMPARE(m_data->answer()->shown.use.lost, 0);
}

void DataSessionTest::missingColumnIsMeasuredFromTheFiles()
{
    const auto demo = demo::makeDemoStage(m_dir->filePath(QStringLiteral("demo")).toStdString());
    QVERIFY(demo.ok());
    const auto folder = demo->stage.parent_path();
    QFile meta(QString::fromStdString((folder / "meta.csv").string()));
    QVERIFY(meta.open(QIODevice::ReadOnly));
    // Row by row without what a probe can find out.
    std::string bare;
    const auto whole = table::readTable(folder / "meta.csv");
    QVERIFY(whole.ok());
    bare = "path,text\n";
    for (std::int64_t row = 0; row < (*whole)->rowCount(); ++row)
        bare += std::string((*whole)->path(row)) + ",clip " + std::to_string(row) + '\n';
    QVERIFY(replaceFile(folder / "meta.csv", bare).ok());
    openStage(demo->stage);
    QVERIFY(comesTo(DataSession::State::Unreadable));
    QVERIFY2(m_data->sentence().contains(QStringLiteral("num_frames")), qPrintable(m_data->sentence()));
    QVERIFY(m_data->canProbe());
    std::filesystem::path written;
    QString refusal;
    connect(m_data->probe(), &session::TableProbe::finished, this, [&](const Result<session::ProbedTable> &result) {
        result ? void(written = result->file) : void(refusal = QString::fromStdString(result.error().message()));
    });
    m_data->startProbe();
    QVERIFY(QTest::qWaitFor([&] { return !written.empty() || !refusal.isEmpty(); }, kWaitMs));
    QVERIFY2(refusal.isEmpty(), qPrintable(refusal));
    QVERIFY(m_data->useTable(written).ok());
    QVERIFY(comesTo(DataSession::State::Ready));
    QCOMPARE(m_data->answer()->shown.rows, (*whole)->rowCount());
    const auto picture = session::thumbnail(m_data->open()->table->mediaPath(0), 0, 96);
    QVERIFY2(picture.ok(), picture ? "" : picture.error().message().c_str());
    QCOMPARE(std::max(picture->width(), picture->height()), 96);
}

void DataSessionTest::unreadableTableSaysWhy_data()
{
    QTest::addColumn<QByteArray>("table");
    QTest::addColumn<QString>("says");
    QTest::newRow("empty file") << QByteArray() << "empty";
    QTest::newRow("a row too short") << QByteArray("path,text,num_frames,height,width,fps\na.mp4,one,33\n") << ":2: ";
    QTest::newRow("no path") << QByteArray("text,num_frames,height,width,fps\none,33,256,256,16\n") << "path";
}

void DataSessionTest::unreadableTableSaysWhy()
{
    QFETCH(QByteArray, table);
    QFETCH(QString, says);
    open(table.toStdString());
    QVERIFY(comesTo(DataSession::State::Unreadable));
    QVERIFY2(m_data->sentence().contains(says) && m_data->sentence().contains(QStringLiteral("meta.csv")), qPrintable(m_data->sentence()));
    QVERIFY(!m_data->canProbe());
    // Mended on disk, and looked at again.
    QVERIFY(replaceFile(m_dir->filePath(QStringLiteral("meta.csv")).toStdString(), kTable).ok());
    m_data->setActive(true);
    QVERIFY(comesTo(DataSession::State::Ready));
}

void DataSessionTest::valueOfTheWrongTypeIsASentence_data()
{
    QTest::addColumn<QByteArray>("line");
    for (const char *line : {"seed = \"many\"\n", "data_policy = 3\n", "dataset = dict(type=\"video_text\", data_path=7)\n", "dataset = dict(type=\"video_text\", data_path=\"x.csv\", fps_max=\"fast\")\n",
                             "dataset = dict(type=\"video_text\", data_path=\"x.csv\", memory_efficient=2)\n", "bucket_config = 5\n", "bucket_config = {}\n", "cached_text = None\n"})
        QTest::newRow(line) << QByteArray(line);
}

// While a stage is edited it may hold anything; the table comes back with the value.
void DataSessionTest::valueOfTheWrongTypeIsASentence()
{
    QFETCH(QByteArray, line);
    open(kTable);
    QVERIFY(comesTo(DataSession::State::Ready));
    const std::string before = m_stage->text();
    m_stage->setText(before + line.toStdString(), QStringLiteral("typed"));
    QVERIFY(comesTo(DataSession::State::NoBuckets));
    QVERIFY(!m_data->sentence().isEmpty() && !m_data->answer());
    m_stage->undoStack()->undo();
    QVERIFY(comesTo(DataSession::State::Ready));
    QVERIFY(answers([](const auto &answer) { return answer.shown.rows == 7; }));
    QCOMPARE(m_stage->text(), before);
}

void DataSessionTest::sleepsUntilItIsShown()
{
    open(kTable);
    DataSession asleep(m_stage.get());
    QVERIFY(comesTo(DataSession::State::Ready));
    QCOMPARE(asleep.state(), DataSession::State::NoStage);
    QVERIFY(!asleep.open());
}

QTEST_MAIN(DataSessionTest)
#include "data_session_test.moc"
