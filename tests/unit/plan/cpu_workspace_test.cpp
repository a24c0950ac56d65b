// What Torch's attention on the CPU takes for its own work, against what stands for it on meta.
#include <QTest>

#include "core/memory/device.h"
#include "core/memory/ledger.h"
#include "core/model/attention_kernel.h"

using namespace stagewright;

class CpuWorkspaceTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void attentionTakesAsMuchOnMeta_data();
    void attentionTakesAsMuchOnMeta();
};

namespace {

struct Peaks { std::int64_t forward = 0, backward = 0; };

torch::Tensor tokensFirst(std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t dim, const torch::TensorOptions &options)
{
    return torch::zeros({batch, tokens, heads, dim}, options).transpose(1, 2);
}

Peaks peaksOn(torch::Device device, torch::Dtype dtype, std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t dim)
{
    const torch::NoGradGuard noGrad;
    const auto options = torch::TensorOptions(dtype).device(device);
    const auto q = tokensFirst(batch, tokens, heads, dim, options), k = tokensFirst(batch, tokens, heads, dim, options), v = tokensFirst(batch, tokens, heads, dim, options);
    if (!memory::attachLedger(device.type()))
        qFatal("the allocator cannot be watched");
    auto &ledger = memory::ledger();
    const auto measured = [&](auto &&call) {
        ledger.resetPeak();
        const auto before = ledger.total();
        auto result = call();
        return std::pair(std::move(result), ledger.snapshot().peakTotal - before);
    };
    auto [result, forward] = measured([&] { return model::attentionForward(q, k, v); });
    const auto dOut = tokensFirst(batch, tokens, heads, dim, options);
    auto [gradients, backward] = measured([&] { return model::attentionBackward(dOut, q, k, v, result); });
    return {forward, backward};
}

} // namespace

void CpuWorkspaceTest::attentionTakesAsMuchOnMeta_data()
{
    QTest::addColumn<int>("dtype");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<int>("dim");
    QTest::addColumn<int>("threads");
    for (const auto dtype : {torch::kFloat32, torch::kBFloat16, torch::kFloat16}) {
        for (const int tokens : {24, 100, 500, 800}) {
            for (const int dim : {16, 64}) {
                for (const int threads : {1, 2})
                    QTest::addRow("%s, %d tokens, head of %d, %d threads", c10::toString(dtype), tokens, dim, threads) << int(dtype) << tokens << dim << threads;
            }
        }
    }
}

void CpuWorkspaceTest::attentionTakesAsMuchOnMeta()
{
    QFETCH(int, dtype);
    QFETCH(int, tokens);
    QFETCH(int, dim);
    QFETCH(int, threads);
    const int before = at::get_num_threads();
    at::set_num_threads(threads);
    memory::setMetaStandsFor(torch::kCPU);
    const auto cpu = peaksOn(torch::kCPU, torch::Dtype(dtype), 2, tokens, 3, dim), meta = peaksOn(torch::kMeta, torch::Dtype(dtype), 2, tokens, 3, dim);
    at::set_num_threads(before);
    const auto facts = QStringLiteral("forward %1 and %2, backward %3 and %4").arg(cpu.forward).arg(meta.forward).arg(cpu.backward).arg(meta.backward);
    QVERIFY2(std::abs(double(cpu.forward - meta.forward)) <= 0.01 * double(meta.forward), qPrintable(facts));
    // Of backward a bound is known: threads do not always hold the matrix library's copies at the same time.
    const double room = dtype != int(torch::kFloat32) ? 0.35 * double(cpu.backward) + threads * double(24 << 10) : 0.02 * double(cpu.backward);
    QVERIFY2(double(cpu.backward) <= 1.02 * double(meta.backward) && double(meta.backward) <= double(cpu.backward) + room, qPrintable(facts));
}

QTEST_GUILESS_MAIN(CpuWorkspaceTest)
#include "cpu_workspace_test.moc"
