// Predictions against what the CPU's ledger measures of the trainer itself, and compositions against whole dry runs.
#include <QTest>

#include "core/memory/ledger.h"
#include "core/plan/update_workspace.h"
#include "core/train/setup.h"
#include "tests/unit/train/recording_sink.h"
#include "tests/unit/train/synthetic_source.h"
#include "tests/unit/train/tiny_stage.h"

using namespace stagewright;
using namespace stagewright::test;

namespace {

using Value = config::Value;

// Highest bytes of the third update of the stage's own trainer on the CPU: everything that stays is there by then.
struct Measured {
    std::int64_t peak = 0;
    memory::KindBytes byKind{};
};

Measured measure(const config::Stage &stage, const plan::ClipShape &shape)
{
    auto attached = memory::attachLedger(torch::kCPU);
    if (!attached)
        qFatal("%s", attached.error().message().c_str());
    const auto before = (*attached)->snapshot();
    SyntheticSource data(syntheticEpoch(5, shape.batch, shape.frames, shape.height, shape.width));
    RecordingSink sink;
    train::Reporter reporter(sink);
    const auto settings = *train::readSettings(stage, 1);
    const train::TrainerParts parts{.stage = stage, .data = data, .sink = sink, .runFolder = "."};
    auto run = train::buildRun(parts, settings, reporter);
    if (!run)
        qFatal("%s", run.error().message().c_str());
    for (int update = 0; update < 3; ++update) {
        memory::ledger().resetPeak();
        do {
            data::Batch batch;
            {
                memory::PhaseScope phase(Phase::Data);
                for (auto next = data.next(); !next->has_value() || !batch.video.defined(); next = data.next()) {
                    if (next->has_value()) {
                        batch = **next;
                        break;
                    }
                }
                memory::ledger().resetPeak();          // the synthetic clips' own making is no part of a run
            }
            run->engine->microStep(batch, *run->encoding, *run->draws);
        } while (!run->engine->isUpdateDue());
        run->engine->update();
        run->engine->afterMicroStep();
    }
    const auto after = memory::ledger().snapshot();
    Measured measured{after.peakTotal - before.total, after.peakByKind};
    for (std::size_t kind = 0; kind < measured.byKind.size(); ++kind)
        measured.byKind[kind] -= before.byKind[kind];
    return measured;
}

plan::Prediction composed(const plan::Work &work, const plan::ClipShape &shape, bool whole)
{
    const auto reduced = whole ? plan::notReduced(work, shape) : plan::reduced(work, shape);
    const auto run = plan::dryRun(reduced.work, shape);
    return plan::predict(reduced, run, plan::replay(reduced, run), plan::updateWorkspace(reduced, run));
}

QString words(const memory::KindBytes &a, const memory::KindBytes &b)
{
    QString text;
    for (std::size_t kind = 0; kind < a.size(); ++kind) {
        if (a[kind] != b[kind])
            text += QStringLiteral(" %1 %2/%3").arg(QString::fromLatin1(kMemoryKindNames[kind].data())).arg(a[kind]).arg(b[kind]);
    }
    return text;
}

} // namespace

class PredictionTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); }              // tensors are tiny: threads would wait for each other
    void predictsWhatTheCpuTakes_data();
    void predictsWhatTheCpuTakes();
    void composesWhatAWholeDryRunSays_data();
    void composesWhatAWholeDryRunSays();
};

void PredictionTest::predictsWhatTheCpuTakes_data()
{
    QTest::addColumn<QString>("dtype");
    QTest::addColumn<int>("accumulation");
    QTest::addColumn<bool>("checkpoints");
    QTest::addColumn<int>("buffer");
    QTest::addColumn<bool>("average");
    QTest::addColumn<int>("hidden");
    QTest::addColumn<int>("frames");
    for (const char *dtype : {"fp32", "bf16"}) {
        for (const int accumulation : {1, 3}) {
            for (const int memory : {0, 1, 2}) {
                QTest::addRow("%s, window %d, %s", dtype, accumulation, memory == 0 ? "plain" : memory == 1 ? "checkpointed" : "offloaded")
                    << QString::fromLatin1(dtype) << accumulation << (memory > 0) << (memory == 2 ? 1 << 20 : 0) << (accumulation == 1) << 64 << 9;
            }
        }
    }
}

void PredictionTest::predictsWhatTheCpuTakes()
{
    QFETCH(QString, dtype);
    QFETCH(int, accumulation);
    QFETCH(bool, checkpoints);
    QFETCH(int, buffer);
    QFETCH(bool, average);
    QFETCH(int, hidden);
    QFETCH(int, frames);
    Changes changes{{"dtype", dtype.toStdString()}, {"accumulation_steps", accumulation}, {"grad_checkpoint", checkpoints}, {"grad_ckpt_buffer_size", buffer},
                    {"model.hidden_size", hidden}, {"model.axes_dim", Value::list({8, 12, 12})}, {"model.depth", 2}, {"model.depth_single_blocks", 3},
                    {"dropout_ratio", Value::dict({})}};
    if (average)
        changes.emplace_back("ema_decay", 0.99);
    const auto stage = tinyStage(changes);
    const plan::ClipShape shape{"64px", "1:1", frames, 64, 64, 2, 1};
    Problems notes;
    const auto work = plan::workOf(stage, torch::kCPU, 0, notes);
    QVERIFY2(work.ok(), work ? "" : work.error().message().c_str());
    const auto predicted = composed(*work, shape, false);
    const auto measured = measure(stage, shape);
    const double deviation = std::abs(double(predicted.peak) / double(measured.peak) - 1);
    const auto facts = QStringLiteral("predicted %1, measured %2 (%3 %):%4").arg(predicted.peak).arg(measured.peak).arg(100 * deviation).arg(words(predicted.byKind, measured.byKind));
    qInfo("%s", qPrintable(facts));
    QVERIFY2(deviation <= (dtype == u"fp32" ? 0.01 : 0.04), qPrintable(facts));
}

void PredictionTest::composesWhatAWholeDryRunSays_data()
{
    QTest::addColumn<int>("doubles");
    QTest::addColumn<int>("singles");
    QTest::addColumn<int>("buffer");
    QTest::addColumn<QString>("device");
    for (const char *device : {"cpu", "cuda"}) {
        for (const auto &[doubles, singles, buffer] : {std::tuple(0, 0, 0), std::tuple(7, 9, 0), std::tuple(4, 5, 0), std::tuple(6, 1, 700'000), std::tuple(7, 9, 400'000)})
            QTest::addRow("%s (%d, %d) buffer %d", device, doubles, singles, buffer) << doubles << singles << buffer << QString::fromLatin1(device);
    }
}

void PredictionTest::composesWhatAWholeDryRunSays()
{
    QFETCH(int, doubles);
    QFETCH(int, singles);
    QFETCH(int, buffer);
    QFETCH(QString, device);
    const auto stage = tinyStage({{"dtype", "bf16"}, {"grad_checkpoint", true}, {"model.grad_ckpt_settings", Value::tuple({doubles, singles})}, {"grad_ckpt_buffer_size", buffer},
                                  {"model.hidden_size", 128}, {"model.num_heads", 2}, {"model.axes_dim", Value::list({16, 24, 24})}, {"model.depth", 7}, {"ema_decay", 0.9},
                                  {"model.depth_single_blocks", 9}});
    Problems notes;
    const auto work = plan::workOf(stage, device == u"cpu" ? torch::kCPU : torch::kCUDA, 0, notes);
    QVERIFY2(work.ok(), work ? "" : work.error().message().c_str());
    const plan::ClipShape shape{"256px", "16:9", 33, 192, 336, 2, 1};
    const auto few = composed(*work, shape, false), whole = composed(*work, shape, true);
    QVERIFY2(few.peak == whole.peak, qPrintable(QStringLiteral("%1 and %2:%3").arg(few.peak).arg(whole.peak).arg(words(few.byKind, whole.byKind))));
    QCOMPARE(few.byKind, whole.byKind);
    for (std::size_t phase = 0; phase < few.byPhase.size(); ++phase)
        QVERIFY2(few.byPhase[phase] == whole.byPhase[phase], qPrintable(QStringLiteral("%1: %2 and %3").arg(QString::fromLatin1(kPhaseNames[phase].data())).arg(few.byPhase[phase]).arg(whole.byPhase[phase])));
    QCOMPARE(few.fixed, whole.fixed);
    QCOMPARE(few.offloadedBlocks, whole.offloadedBlocks);
    QCOMPARE(few.bufferBytes, whole.bufferBytes);
    QCOMPARE(int(few.phase), int(whole.phase));
    QCOMPARE(few.block, whole.block);
}

QTEST_GUILESS_MAIN(PredictionTest)
#include "prediction_test.moc"
