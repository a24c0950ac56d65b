// Weights, optimizer and counters: what an update changes, what a skipped one leaves alone, and that training learns.
#include <QTest>

#include "core/train/average.h"
#include "core/train/draws.h"
#include "core/train/parallel.h"
#include "core/train/setup.h"
#include "tests/unit/train/recording_sink.h"
#include "tests/unit/train/synthetic_source.h"
#include "tests/unit/train/tiny_stage.h"

using namespace stagewright;
using namespace stagewright::test;
using namespace stagewright::train;

namespace {

// A run's parts, without the loop around them.
struct Bench {
    explicit Bench(const Changes &changes, std::vector<SyntheticBatch> epoch = syntheticEpoch(5, 2)) : stage(tinyStage(changes)), data(std::move(epoch)), reporter(sink)
    {
        settings = *readSettings(stage, 1);
        parts = std::make_unique<TrainerParts>(TrainerParts{.stage = stage, .data = data, .sink = sink, .runFolder = "."});
        auto built = buildRun(*parts, settings, reporter);
        if (!built)
            qFatal("%s", built.error().message().c_str());
        run = std::move(*built);
    }
    Engine &engine() { return *run.engine; }
    data::Batch nextBatch()
    {
        auto next = data.next();
        while (!next->has_value())
            next = data.next();
        return **next;
    }
    UpdateOutcome step()
    {
        do {
            engine().microStep(nextBatch(), *run.encoding, *run.draws);
        } while (!engine().isUpdateDue());
        const auto outcome = engine().update();
        engine().afterMicroStep();
        return outcome;
    }

    config::Stage stage;
    SyntheticSource data;
    RecordingSink sink;
    Reporter reporter;
    Settings settings;
    std::unique_ptr<TrainerParts> parts;
    RunParts run;
};

// The same draws whatever the step.
class FixedDraws final : public Draws
{
public:
    void beginStep(std::int64_t, std::int64_t batch) override { m_inner->beginStep(0, batch); }
    double conditionUniform(std::int64_t sample) override { return m_inner->conditionUniform(sample); }
    model::Generators autoencoderStreams() override { return {}; }
    torch::Tensor timeNormals() override { return m_inner->timeNormals(); }
    torch::Tensor textUniforms(bool pooled) override { return m_inner->textUniforms(pooled); }
    torch::Tensor noise(std::int64_t tokens, std::int64_t width) override { return m_inner->noise(tokens, width); }

private:
    std::unique_ptr<Draws> m_inner = makeSampleDraws(4711, 0);
};

double fixedLoss(Bench &bench, const data::Batch &batch)
{
    FixedDraws draws;
    const double loss = bench.engine().microStep(batch, *bench.run.encoding, draws).loss.item<double>();
    bench.engine().abandonWindow();
    return loss;
}

std::vector<torch::Tensor> copyOf(Engine &engine)
{
    std::vector<torch::Tensor> copies;
    for (const auto &parameter : engine.state().parameters) {
        for (const auto &tensor : {parameter.weight, parameter.master, parameter.expAvg, parameter.expAvgSq, parameter.ema}) {
            if (tensor.defined())
                copies.push_back(tensor.detach().clone());
        }
    }
    return copies;
}

bool areEqual(const std::vector<torch::Tensor> &a, const std::vector<torch::Tensor> &b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto &x, const auto &y) { return torch::equal(x, y); });
}

} // namespace

class EngineTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void trainingLowersTheLossAndNeedsTheRightCaptions();
    void skippedUpdateLeavesEverythingAsItWas_data();
    void skippedUpdateLeavesEverythingAsItWas();
    void halfPrecisionWeightsFollowTheirMasters();
    void accumulationInFloat32EqualsTheExactSum();
    void accumulatedBatchesEqualOneLargeBatch();
    void averageInFloat32MovesAtAnyDecay();
    void averageAdvancesOnceAnUpdate();
    void scheduleAdvancesByUpdatesOrByMicroSteps();
    void updateDoesNotDependOnTheNumberOfThreads();
    void drawsOfASampleDependOnNothingElse();
    void ranksAndStepsDrawDifferently();
    void lossScaleFollowsTheRule();
    void referencesLeaveTheLossWhereAsked();
    void clipsTooShortForEveryConditionGetNone();
    void chunksAreAllVisitedOnce();
};

void EngineTest::trainingLowersTheLossAndNeedsTheRightCaptions()
{
    const Changes changes{{"optim.lr", 4e-3}, {"model.hidden_size", 32}};
    Bench right(changes, syntheticEpoch(6, 6)), wrong(changes, syntheticEpoch(6, 6));
    wrong.data.shuffledCaptions = true;
    auto fixed = right.nextBatch();
    const double before = fixedLoss(right, fixed);
    for (int i = 0; i < 150; ++i) {
        right.step();
        wrong.step();
    }
    const double after = fixedLoss(right, fixed), withWrongCaptions = fixedLoss(wrong, fixed);
    QVERIFY2(after < 0.6 * before, qPrintable(QStringLiteral("%1 -> %2").arg(before).arg(after)));
    QVERIFY2(after < withWrongCaptions, qPrintable(QStringLiteral("%1, with wrong captions %2").arg(after).arg(withWrongCaptions)));
}

void EngineTest::skippedUpdateLeavesEverythingAsItWas_data()
{
    QTest::addColumn<QString>("dtype");
    QTest::addColumn<QString>("compat");
    for (const char *dtype : {"fp32", "bf16", "fp16"}) {
        for (const char *compat : {"none", "opensora"})
            QTest::addRow("%s %s", dtype, compat) << QString::fromLatin1(dtype) << QString::fromLatin1(compat);
    }
}

void EngineTest::skippedUpdateLeavesEverythingAsItWas()
{
    QFETCH(QString, dtype);
    QFETCH(QString, compat);
    Bench bench({{"dtype", dtype.toStdString()}, {"compat", compat.toStdString()}, {"accumulation_steps", 2}, {"warmup_steps", 10}, {"plugin_config.initial_scale", 64.0}});
    bench.engine().makeAverage();
    QVERIFY(!bench.step().skipped);
    const auto before = copyOf(bench.engine());
    const auto updates = bench.engine().updates();
    const double lr = bench.engine().schedule().lr();
    bool poisonedLoss = false;                               // no loss scale is to blame for a loss that is not finite
    for (int micro = 0; micro < 2; ++micro) {
        auto batch = bench.nextBatch();
        batch.index = micro;                                 // a whole window, as the original counts it too
        // Where sums are kept beside the weights' own gradients, a poisoned clip is what makes them not finite.
        const bool inData = micro == 1 && !bench.engine().state().parameters[3].weight.grad().defined();
        if (inData)
            batch.video.fill_(std::nanf(""));
        poisonedLoss = poisonedLoss || inData;
        bench.engine().microStep(batch, *bench.run.encoding, *bench.run.draws);
        if (micro == 1 && !inData)
            bench.engine().state().parameters[3].weight.mutable_grad().fill_(std::nanf(""));
    }
    const auto outcome = bench.engine().update();
    QVERIFY(outcome.skipped && outcome.countsAsNonFinite == (poisonedLoss || dtype != QStringLiteral("fp16")));
    QVERIFY(areEqual(before, copyOf(bench.engine())));
    QCOMPARE(bench.engine().updates(), updates);
    QCOMPARE(bench.engine().counters().skippedUpdates, std::int64_t(1));
    QCOMPARE(bench.engine().schedule().lr(), lr);
    QVERIFY(!bench.step().skipped);
    QVERIFY(!areEqual(before, copyOf(bench.engine())));
}

void EngineTest::halfPrecisionWeightsFollowTheirMasters()
{
    for (const char *dtype : {"bf16", "fp16"}) {
        Bench bench({{"dtype", dtype}, {"plugin_config.initial_scale", 64.0}});
        for (int i = 0; i < 3; ++i)
            bench.step();
        for (const auto &parameter : bench.engine().state().parameters) {
            QCOMPARE(parameter.master.scalar_type(), torch::kFloat32);
            QVERIFY(torch::equal(parameter.weight.detach(), parameter.master.to(parameter.weight.scalar_type())));
        }
    }
}

void EngineTest::accumulationInFloat32EqualsTheExactSum()
{
    std::vector<checkpoint::ParameterState> parameters(1);
    parameters[0].weight = torch::zeros({1000}, torch::kBFloat16).set_requires_grad(true);
    auto exact = torch::zeros({1000}, torch::kFloat64);
    const auto run = [&](Accumulation accumulation) {
        torch::manual_seed(5);
        exact.zero_();
        Gradients gradients(parameters, accumulation, 64);
        for (int i = 0; i < 64; ++i) {
            const auto gradient = torch::randn({1000}).to(torch::kBFloat16);
            exact += gradient.to(torch::kFloat64);
            (parameters[0].weight * gradient).sum().backward();
            gradients.collect();
        }
        const double error = (gradients.tensors()[0].to(torch::kFloat64) - exact).norm().item<double>() / exact.norm().item<double>();
        gradients.release();
        return error;
    };
    const double inFloat32 = run(Accumulation::Float32), inDtype = run(Accumulation::ParameterDtype);
    QVERIFY2(inFloat32 < 1e-6, QByteArray::number(inFloat32).constData());
    QVERIFY2(inDtype > 1e-3, QByteArray::number(inDtype).constData());
}

void EngineTest::accumulatedBatchesEqualOneLargeBatch()
{
    Bench bench({{"accumulation_steps", 2}});
    auto one = bench.nextBatch(), two = bench.nextBatch();
    FixedDraws draws;
    bench.engine().microStep(one, *bench.run.encoding, draws);
    bench.engine().microStep(one, *bench.run.encoding, draws);
    bench.engine().fillState();
    std::vector<torch::Tensor> twice;
    for (const auto &parameter : bench.engine().state().parameters)
        twice.push_back(parameter.gradient.clone());
    bench.engine().abandonWindow();
    Bench single({});
    single.engine().microStep(one, *single.run.encoding, draws);
    single.engine().fillState();
    for (std::size_t i = 0; i < twice.size(); ++i)
        QVERIFY(torch::allclose(twice[i], single.engine().state().parameters[i].gradient, 1e-5, 1e-7));
}

void EngineTest::averageInFloat32MovesAtAnyDecay()
{
    std::vector<checkpoint::ParameterState> parameters(1);
    parameters[0].weight = torch::ones({5}, torch::kBFloat16);
    parameters[0].master = torch::ones({5});
    startAverage(parameters, AveragePrecision::Float32);
    parameters[0].master.fill_(2);
    for (int i = 0; i < 1000; ++i)
        updateAverage(parameters, 0.9999);
    QVERIFY(std::abs(parameters[0].ema[0].item<double>() - 1.0952) < 1e-4);
    parameters[0].master.fill_(1);
    startAverage(parameters, AveragePrecision::WeightDtype);
    parameters[0].master.fill_(2);
    for (int i = 0; i < 1000; ++i)
        updateAverage(parameters, 0.9999);
    QCOMPARE(parameters[0].ema[0].item<double>(), 1.0);      // the original's, recorded fault and all
}

void EngineTest::averageAdvancesOnceAnUpdate()
{
    Bench bench({{"accumulation_steps", 4}, {"ema_decay", 0.5}});
    const auto start = bench.engine().state().parameters[0].weight.detach().clone();
    bench.step();
    const auto &parameter = bench.engine().state().parameters[0];
    QVERIFY(torch::allclose(parameter.ema, 0.5 * start + 0.5 * parameter.weight.detach(), 1e-6, 1e-8));
}

void EngineTest::scheduleAdvancesByUpdatesOrByMicroSteps()
{
    Bench right({{"accumulation_steps", 2}, {"warmup_steps", 10}}), original({{"accumulation_steps", 2}, {"warmup_steps", 10}, {"compat", "opensora"}});
    for (int i = 0; i < 2; ++i) {
        right.step();
        do {
            original.engine().microStep(original.nextBatch(), *original.run.encoding, *original.run.draws);
            if (original.engine().isUpdateDue())
                break;
            original.engine().afterMicroStep();
        } while (true);
        original.engine().update();
        original.engine().afterMicroStep();
    }
    QCOMPARE(right.engine().schedule().index(), std::int64_t(2));
    QCOMPARE(original.engine().schedule().index(), std::int64_t(4));
}

void EngineTest::updateDoesNotDependOnTheNumberOfThreads()
{
    const auto run = [](int threads) {
        torch::set_num_threads(threads);
        torch::manual_seed(3);
        std::vector<checkpoint::ParameterState> parameters(3);
        std::vector<torch::Tensor> gradients;
        for (auto &parameter : parameters) {
            parameter.weight = torch::randn({200, 513}).set_requires_grad(true);
            gradients.push_back(torch::randn({200, 513}));
            parameter.weight.mutable_grad() = gradients.back();
        }
        Gradients collected(parameters, Accumulation::Float32, 1);
        collected.collect();
        HybridAdam adam(parameters, {});
        adam.step(collected.tensors(), 1e-3, clipFactor(collected.norm(), 1));
        std::vector<torch::Tensor> weights;
        for (const auto &parameter : parameters)
            weights.push_back(parameter.weight.detach().clone());
        return std::pair(collected.norm(), weights);
    };
    const int threads = torch::get_num_threads();
    const auto one = run(1), four = run(4);
    torch::set_num_threads(threads);
    QCOMPARE(one.first, four.first);
    QVERIFY(areEqual(one.second, four.second));
}

void EngineTest::drawsOfASampleDependOnNothingElse()
{
    const auto draws = makeSampleDraws(7, 1);
    draws->beginStep(3, 4);
    const auto times = draws->timeNormals(), uniforms = draws->textUniforms(true), noise = draws->noise(6, 5);
    draws->beginStep(3, 2);
    QVERIFY(torch::equal(draws->noise(6, 5), noise.narrow(0, 0, 2)));
    QVERIFY(torch::equal(draws->timeNormals(), times.narrow(0, 0, 2)));
    QVERIFY(torch::equal(draws->textUniforms(true), uniforms.narrow(0, 0, 2)));
    QVERIFY(!torch::equal(draws->textUniforms(false), uniforms.narrow(0, 0, 2)));
    QVERIFY(!torch::equal(noise[0], noise[1]));
}

void EngineTest::ranksAndStepsDrawDifferently()
{
    std::vector<torch::Tensor> drawn;
    for (const int rank : {0, 1, 2}) {
        for (const int step : {0, 1}) {
            const auto draws = makeSampleDraws(7, rank);
            draws->beginStep(step, 2);
            drawn.push_back(draws->noise(4, 4));
        }
    }
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j)
            QVERIFY(!torch::equal(drawn[i], drawn[j]));
    }
    const auto many = makeSampleDraws(1, 0);
    many->beginStep(0, 4000);
    const auto times = many->timeNormals();
    QVERIFY(std::abs(times.mean().item<double>()) < 0.06 && std::abs(times.std().item<double>() - 1) < 0.05);
}

void EngineTest::lossScaleFollowsTheRule()
{
    LossScaler scaler({.initialScale = 1024, .minScale = 256, .maxScale = 2048, .growthInterval = 3, .hysteresis = 2});
    scaler.update(true);
    QCOMPARE(scaler.scale(), 1024.0);                        // one overflow is forgiven
    scaler.update(true);
    QCOMPARE(scaler.scale(), 512.0);
    for (int i = 0; i < 3; ++i)
        scaler.update(false);
    QCOMPARE(scaler.scale(), 1024.0);
    for (int i = 0; i < 9; ++i)
        scaler.update(false);
    QCOMPARE(scaler.scale(), 2048.0);
    for (int i = 0; i < 9; ++i)
        scaler.update(true);
    QCOMPARE(scaler.scale(), 256.0);
    QVERIFY(scaler.isAtMinimum());
}

void EngineTest::referencesLeaveTheLossWhereAsked()
{
    config::Dict conditions;
    conditions.set("i2v_head", 1);
    const Changes common{{"model.cond_embed", true}, {"condition_config", config::Value::dict(conditions)}};
    auto changes = common;
    changes.push_back({"no_i2v_ref_loss", true});
    Bench plain(common), without(changes);
    const auto batch = plain.nextBatch();
    QVERIFY(std::abs(fixedLoss(plain, batch) - fixedLoss(without, batch)) > 1e-6);
}

void EngineTest::clipsTooShortForEveryConditionGetNone()
{
    config::Dict conditions;
    conditions.set("v2v_head", 1);
    Bench bench({{"model.cond_embed", true}, {"condition_config", config::Value::dict(conditions)}});
    bench.engine().microStep(bench.nextBatch(), *bench.run.encoding, *bench.run.draws);
    QVERIFY(bench.engine().lastHadNothingToChoose());
}

void EngineTest::chunksAreAllVisitedOnce()
{
    std::vector<int> visits(1000, 0);
    forEachChunk(visits.size(), 4, [&](std::size_t i) { ++visits[i]; });
    QCOMPARE(visits, std::vector<int>(1000, 1));
}

QTEST_GUILESS_MAIN(EngineTest)
#include "engine_test.moc"
