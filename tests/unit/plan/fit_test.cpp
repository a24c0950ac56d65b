// Sweeps, fits and remedies of a tiny stage, checked against each other: the fastest that fits is the fastest of all that fit.
#include <QTest>

#include "core/plan/fit.h"
#include "core/plan/remedies.h"
#include "core/plan/sweep.h"
#include "tests/unit/train/tiny_stage.h"

using namespace stagewright;
using namespace stagewright::test;

namespace {

using Value = config::Value;

config::Stage stage()
{
    const auto tiny = tinyStage({{"model.hidden_size", 64}, {"model.axes_dim", Value::list({8, 12, 12})}, {"model.depth", 3}, {"model.depth_single_blocks", 4}, {"grad_checkpoint", true},
                                 {"model.grad_ckpt_settings", Value::tuple({0, 0})}});
    const auto whole = plan::withValues(tiny, {{"bucket_config", "{'64px': {9: (1.0, 4)}}"}});
    if (!whole)
        qFatal("%s", whole.error().message().c_str());
    return *whole;
}

// Deep enough for its activations to count beside everything else.
config::Stage deepStage()
{
    const auto deep = plan::withValues(stage(), {{"model.depth", "12"}, {"model.depth_single_blocks", "16"}});
    if (!deep)
        qFatal("%s", deep.error().message().c_str());
    return *deep;
}

plan::PlanQuery queryWith(std::int64_t totalBytes)
{
    plan::PlanQuery query{config::cpuDevice()};
    query.device.name = "a device";
    query.device.totalBytes = totalBytes;
    query.reserved = false;
    return query;
}

const events::PlanVary kDepths{"model.grad_ckpt_settings", {}};

std::vector<events::PlannedPoint> allDepths(plan::Planner &planner, const plan::PlanQuery &query)
{
    const auto depths = plan::candidates(stage(), kDepths.path);
    if (!depths)
        qFatal("%s", depths.error().message().c_str());
    const auto points = plan::sweep(planner, stage(), query, {{kDepths.path, *depths}});
    if (!points)
        qFatal("%s", points.error().message().c_str());
    return *points;
}

std::int64_t peakOf(plan::Planner &planner, const config::Stage &of, const plan::PlanQuery &query)
{
    Problems notes;
    const auto plan = planner.plan(of, query, notes);
    if (!plan)
        qFatal("%s", plan.error().message().c_str());
    return plan->peakBytes;
}

} // namespace

class FitTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void sweepsAllCombinations();
    void moreCheckpointingNeverTakesMore();
    void findsTheFastestOfAllThatFit_data();
    void findsTheFastestOfAllThatFit();
    void saysWhatComesNearestWhereNothingFits();
    void refusesWhatCannotBe_data();
    void refusesWhatCannotBe();
    void endsWhenCancelled();
    void remediesDoWhatTheySay();
    void remediesOfAPredictionThatWasTooLowGoBelowIt();
    void composesAsWholeRunsDo();
    void cacheOfEncodingsIsPlannedWithoutItsEncoders();

private:
    plan::Planner m_planner;
    std::int64_t m_plain = 0, m_least = 0;             // peaks without checkpointing and with all of it
};

void FitTest::sweepsAllCombinations()
{
    const auto points = plan::sweep(m_planner, stage(), queryWith(1 << 30), {{"model.depth", {"1", "2", "x"}}, {"dtype", {"fp32", "bf16"}}});
    QVERIFY(points.ok());
    QCOMPARE(points->size(), std::size_t(6));
    QCOMPARE(QString::fromStdString(points->at(1).values[1].text), QStringLiteral("bf16"));
    for (const std::size_t i : {0, 1, 2, 3})
        QVERIFY2(points->at(i).peakBytes > 0 && points->at(i).sentence.empty(), points->at(i).sentence.c_str());
    QVERIFY2(points->at(2).peakBytes > points->at(0).peakBytes, "two blocks take more than one");
    QVERIFY2(!points->at(4).sentence.empty() && points->at(4).peakBytes == 0, "a value that is none says so in its own point");
}

void FitTest::moreCheckpointingNeverTakesMore()
{
    const auto points = allDepths(m_planner, queryWith(1 << 30));
    QCOMPARE(points.size(), std::size_t(4 * 5));
    m_plain = points.front().peakBytes;
    m_least = points.back().peakBytes;
    QVERIFY(m_least < m_plain);
    for (std::size_t i = 1; i < points.size(); ++i)
        QVERIFY(points[i].peakBytes <= m_plain);
}

void FitTest::findsTheFastestOfAllThatFit_data()
{
    QTest::addColumn<double>("share");                 // of the way from the least to the most
    for (const double share : {1.1, 0.8, 0.5, 0.2, 0.03})
        QTest::addRow("%.2f", share) << share;
}

void FitTest::findsTheFastestOfAllThatFit()
{
    QFETCH(double, share);
    constexpr double kMargin = 1.005;                  // half the band of fp32 on the CPU
    const auto query = queryWith(static_cast<std::int64_t>((double(m_least) + share * double(m_plain - m_least)) * kMargin));
    const auto found = plan::fit(m_planner, stage(), query, {kDepths});
    QVERIFY2(found.ok(), found ? "" : found.error().message().c_str());
    double fastest = 1e9;
    const events::PlannedPoint *best = nullptr;
    const auto points = allDepths(m_planner, query);
    for (const auto &point : points) {
        const bool fits = double(point.peakBytes) * kMargin <= double(query.device.totalBytes);
        if (fits && point.stepSeconds < fastest) {
            fastest = point.stepSeconds;
            best = &point;
        }
    }
    QVERIFY(best);
    QVERIFY2(double(found->peakBytes) * kMargin <= double(query.device.totalBytes), "it does not fit");
    QVERIFY2(found->stepSeconds <= fastest * (1 + 1e-9), qPrintable(QStringLiteral("%1, the fastest takes %2").arg(found->stepSeconds).arg(fastest)));
    QCOMPARE(found->stoppedBy.empty(), share > 1);
    QVERIFY(share > 1 || double(found->stoppedByPeakBytes) * kMargin > double(query.device.totalBytes));
}

void FitTest::saysWhatComesNearestWhereNothingFits()
{
    const auto found = plan::fit(m_planner, stage(), queryWith(m_least / 2), {kDepths});
    QVERIFY(!found.ok());
    QCOMPARE(found.error().exit, ExitCode::OutOfMemory);
    QCOMPARE(QString::fromStdString(found.error().problem.code), QStringLiteral("memory.no-fit"));
    QVERIFY(QString::fromStdString(found.error().message()).contains(QStringLiteral("model.grad_ckpt_settings = (")));
}

void FitTest::refusesWhatCannotBe_data()
{
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("says");
    QTest::newRow("no option") << "" << "at least one";
    QTest::newRow("unknown") << "model.dept" << "model.depth";
    QTest::newRow("text") << "exp_name" << "give the values";
    QTest::newRow("no such bucket") << "bucket_config.999px.5" << "no such bucket";
}

void FitTest::refusesWhatCannotBe()
{
    QFETCH(QString, path);
    QFETCH(QString, says);
    const auto found = plan::fit(m_planner, stage(), queryWith(1 << 30), path.isEmpty() ? std::vector<events::PlanVary>() : std::vector<events::PlanVary>{{path.toStdString(), {}}});
    QVERIFY(!found.ok());
    QCOMPARE(found.error().exit, ExitCode::Usage);
    QVERIFY2(QString::fromStdString(found.error().message()).contains(says), found.error().message().c_str());
    std::vector<std::string> many;
    for (int i = 0; i < 3163; ++i)
        many.push_back(std::to_string(i));
    const auto tooMany = plan::sweep(m_planner, stage(), queryWith(1 << 30), {{"model.depth", many}, {"model.depth_single_blocks", many}});
    QVERIFY(!tooMany.ok());
    QCOMPARE(QString::fromStdString(tooMany.error().problem.code), QStringLiteral("memory.too-many-points"));
}

void FitTest::endsWhenCancelled()
{
    int asked = 0;
    const auto cancelled = [&] { return ++asked > 3; };
    const auto points = plan::sweep(m_planner, stage(), queryWith(1 << 30), {{"model.depth", {"1", "2", "3", "4", "5"}}}, cancelled);
    QVERIFY(!points.ok());
    QCOMPARE(QString::fromStdString(points.error().problem.code), QStringLiteral("memory.plan-cancelled"));
}

void FitTest::remediesDoWhatTheySay()
{
    const auto deep = deepStage();
    const std::int64_t plain = peakOf(m_planner, deep, queryWith(std::int64_t(1) << 40));
    const auto query = queryWith(plain * 3 / 4);
    const auto found = plan::remedies(m_planner, deep, query);
    QVERIFY2(found.ok(), found ? "" : found.error().message().c_str());
    QVERIFY2(found->size() >= 2 && found->size() <= plan::kMostRemedies, qPrintable(QString::number(found->size())));
    QVERIFY(found->front().fits);
    bool fitted = true;
    double time = 0;
    for (const auto &remedy : *found) {
        const auto changed = plan::withValues(deep, remedy.values);
        QVERIFY2(changed.ok(), remedy.title.c_str());
        QCOMPARE(peakOf(m_planner, *changed, query), remedy.peakBytes);
        QCOMPARE(remedy.savedBytes, plain - remedy.peakBytes);
        QCOMPARE(remedy.fits, double(remedy.peakBytes) * 1.01 <= double(query.device.totalBytes));
        QVERIFY2(fitted || !remedy.fits, "what fits stands first");
        QVERIFY2(!remedy.fits || remedy.timeRelative >= time, "the fastest of those stands first");
        fitted = remedy.fits;
        time = remedy.timeRelative;
        QVERIFY(!remedy.title.empty() && QString::fromStdString(remedy.sentence).contains(QString::fromStdString(remedy.title)));
    }
}

void FitTest::remediesOfAPredictionThatWasTooLowGoBelowIt()
{
    const auto deep = deepStage();
    const auto query = queryWith(std::int64_t(1) << 40);
    const auto found = plan::remedies(m_planner, deep, query);
    QVERIFY(found.ok());
    QVERIFY(!found->empty());
    for (const auto &remedy : *found)
        QVERIFY(!remedy.fits || double(remedy.peakBytes) <= 0.9 * double(peakOf(m_planner, deep, query)));
}

void FitTest::composesAsWholeRunsDo()
{
    plan::Planner planner;
    planner.setCheckAll(true);
    allDepths(planner, queryWith(1 << 30));
    QVERIFY(planner.checkedPoints() > 5);
    QCOMPARE(planner.largestDeviation(), 0.0);
}

// Nothing is loaded for what encoding_cache or the cached datasets hold, and both are planned alike.
void FitTest::cacheOfEncodingsIsPlannedWithoutItsEncoders()
{
    const auto learned = plan::withValues(stage(), {{"ae.type", "'hunyuan_vae'"}, {"t5.type", "'text_embedder'"}, {"clip.type", "'text_embedder'"}});
    const auto cached = plan::withValues(*learned, {{"encoding_cache", "'somewhere'"}}), files = plan::withValues(*learned, {{"cached_video", "True"}, {"cached_text", "True"}});
    QVERIFY(learned.ok() && cached.ok() && files.ok());
    const auto planned = [&](const config::Stage &of, Problems &notes) {
        const auto plan = m_planner.plan(of, queryWith(std::int64_t(1) << 40), notes);
        return plan ? plan->byKind[std::size_t(MemoryKind::Encoder)] : std::int64_t(-1);
    };
    Problems notes, ignored;
    const auto without = planned(*learned, ignored), with = planned(*cached, notes);
    QVERIFY2(without > (std::int64_t(1) << 30), std::to_string(without).c_str());
    QVERIFY2(with >= 0 && with < without / 100, std::to_string(with).c_str());
    QCOMPARE(planned(*files, ignored), with);
    QVERIFY(std::any_of(notes.begin(), notes.end(), [](const Problem &note) { return note.path == "encoding_cache"; }));
}

QTEST_GUILESS_MAIN(FitTest)
#include "fit_test.moc"
