// The cost model: what it must say whatever its constants are, and the well-known count of a transformer's arithmetic.
#include <QTest>

#include "core/plan/cost.h"
#include "tests/unit/train/tiny_stage.h"

using namespace stagewright;
using namespace stagewright::test;

namespace {

using Value = config::Value;

plan::Work workWith(Changes changes = {})
{
    changes.insert(changes.begin(), {{"model.hidden_size", 1024}, {"model.num_heads", 8}, {"model.axes_dim", Value::list({16, 56, 56})}, {"model.depth", 4}, {"model.depth_single_blocks", 8},
                                     {"grad_checkpoint", true}});
    Problems notes;
    const auto work = plan::workOf(tinyStage(changes), torch::kCPU, 0, notes);
    if (!work)
        qFatal("%s", work.error().message().c_str());
    return *work;
}

plan::Work withDepth(int doubles, int singles) { return workWith({{"model.grad_ckpt_settings", Value::tuple({doubles, singles})}}); }

const plan::ClipShape kShape{"64px", "1:1", 9, 64, 64, 2, 1};

config::TargetDevice device()
{
    config::TargetDevice device;
    device.name = "a device";
    device.halfFlops = 100e12;
    device.singleFlops = 10e12;
    device.memoryRate = 1e12;
    device.linkRate = 10e9;
    return device;
}

double secondsOf(const plan::Work &work, std::int64_t offloaded = 0, std::int64_t accumulation = 1) { return plan::stepSeconds(work, kShape, offloaded, accumulation, device()); }

} // namespace

class CostTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void countsSixTimesParametersTimesTokens();
    void recomputesOneForwardAtMost();
    void attentionGrowsWithTheSquareOfTokens();
    void everyKnobCostsWhatItMust_data();
    void everyKnobCostsWhatItMust();
    void offloadCostsWhatItMoves();
};

// Forward and backward of a transformer take six operations a weight and token, beside attention's own.
void CostTest::countsSixTimesParametersTimesTokens()
{
    const auto work = withDepth(0, 0);
    const double tokens = double(plan::imageTokens(work, kShape) + plan::textTokens(work, kShape));
    double attention = 0;
    for (std::int64_t block = 0; block < work.model.blocks(); ++block)
        attention += 3.5 * 4 * double(kShape.batch) * tokens * tokens * double(work.model.hiddenSize);
    // The modulations' matrices see one row a sample, not one a token; double blocks have two sets of weights, one for text and one for images.
    const auto h = work.model.hiddenSize, m = work.model.mlpHidden();
    const double onTokens = double(work.model.blocks()) * double(4 * h * h + 2 * h * m);
    const double expected = 6 * onTokens * double(kShape.batch) * tokens;
    const double found = plan::stepCost(work, kShape, 0).flops - attention;
    QVERIFY2(found >= expected && found <= 1.1 * expected, qPrintable(QStringLiteral("%1, expected %2").arg(found).arg(expected)));
}

void CostTest::recomputesOneForwardAtMost()
{
    const auto none = plan::stepCost(withDepth(0, 0), kShape, 0), half = plan::stepCost(withDepth(2, 4), kShape, 0), all = plan::stepCost(withDepth(4, 8), kShape, 0);
    QCOMPARE(none.recomputeFlops, 0.0);
    QVERIFY(qFuzzyCompare(2 * half.recomputeFlops, all.recomputeFlops));
    QVERIFY(qFuzzyCompare(all.flops, none.flops + all.recomputeFlops));
    QVERIFY2(all.recomputeFlops > 0.25 * none.flops && all.recomputeFlops < 0.35 * none.flops, "a forward is about a third of forward and backward");
}

void CostTest::attentionGrowsWithTheSquareOfTokens()
{
    const auto work = withDepth(0, 0);
    plan::ClipShape large = kShape;
    large.height *= 16;
    large.width *= 16;
    const double tokens = double(plan::imageTokens(work, kShape) + plan::textTokens(work, kShape));
    const double manyTokens = double(plan::imageTokens(work, large) + plan::textTokens(work, large));
    const double growth = plan::stepCost(work, large, 0).flops / plan::stepCost(work, kShape, 0).flops, tokenGrowth = manyTokens / tokens;
    QVERIFY2(growth > 1.5 * tokenGrowth && growth < tokenGrowth * tokenGrowth, qPrintable(QStringLiteral("%1 for %2 times the tokens").arg(growth).arg(tokenGrowth)));
}

void CostTest::everyKnobCostsWhatItMust_data()
{
    QTest::addColumn<double>("seconds");
    QTest::addColumn<double>("atLeast");               // times the plain step's
    QTest::addColumn<double>("atMost");
    QTest::newRow("itself") << secondsOf(withDepth(0, 0)) << 1.0 << 1.0;
    QTest::newRow("checkpointing everything costs a third of the arithmetic at most") << secondsOf(withDepth(4, 8)) << 1.01 << 1.34;
    QTest::newRow("half of the blocks, about half of it") << secondsOf(withDepth(2, 4)) << 1.005 << 1.17;
    QTest::newRow("a window of four costs less than four updates") << secondsOf(withDepth(0, 0), 0, 4) << 1.5 << 3.99;
    QTest::newRow("bf16 is faster by the device's rates at most") << secondsOf(workWith({{"model.grad_ckpt_settings", Value::tuple({0, 0})}, {"dtype", "bf16"}})) << 0.09 << 0.99;
    QTest::newRow("an average is more to write") << secondsOf(workWith({{"model.grad_ckpt_settings", Value::tuple({0, 0})}, {"ema_decay", 0.99}})) << 1.001 << 1.4;
}

void CostTest::everyKnobCostsWhatItMust()
{
    QFETCH(double, seconds);
    QFETCH(double, atLeast);
    QFETCH(double, atMost);
    const double factor = seconds / secondsOf(withDepth(0, 0));
    QVERIFY2(factor >= atLeast && factor <= atMost, qPrintable(QString::number(factor)));
}

void CostTest::offloadCostsWhatItMoves()
{
    const auto work = withDepth(4, 8);
    const auto cost = plan::stepCost(work, kShape, 6);
    const double tokens = double(plan::imageTokens(work, kShape) + plan::textTokens(work, kShape));
    QCOMPARE(cost.linkBytes, 2.0 * 6 * double(kShape.batch) * tokens * double(work.model.hiddenSize) * 4);
    auto slow = device();
    slow.linkRate = 1e8;
    const double none = plan::stepSeconds(work, kShape, 0, 1, slow), some = plan::stepSeconds(work, kShape, 6, 1, slow);
    QVERIFY(some > none);
    QVERIFY2(some <= none + cost.linkBytes / slow.linkRate, "copies cost at most their own time");
}

QTEST_GUILESS_MAIN(CostTest)
#include "cost_test.moc"
