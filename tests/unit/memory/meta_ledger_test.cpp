// The ledger on the meta device, where nothing is allocated and everything is counted.
#include <QTest>

#include "core/memory/checkpointing.h"
#include "core/memory/ledger.h"

using namespace stagewright;
using namespace stagewright::memory;
using torch::Tensor;

class MetaLedgerTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void countsWhatMetaTensorsWouldTake()
    {
        auto attached = attachLedger(torch::kMeta);
        QVERIFY(attached.ok());
        Ledger &meta = **attached;
        const std::int64_t before = meta.total();
        Tensor t = torch::empty({1 << 20, 1 << 14}, torch::TensorOptions(torch::kMeta).dtype(torch::kBFloat16));
        QCOMPARE(meta.total() - before, std::int64_t(1) << 35);        // 32 GiB that do not exist
        meta.rekind(t, MemoryKind::Parameter);
        QCOMPARE(meta.snapshot().byKind[static_cast<std::size_t>(MemoryKind::Parameter)], std::int64_t(1) << 35);
        t.reset();
        QCOMPARE(meta.total(), before);
    }

    void checkpointingAndOffloadRunOnMeta()
    {
        Ledger &meta = **attachLedger(torch::kMeta);
        const auto options = torch::TensorOptions(torch::kMeta);
        const Tensor weight = torch::empty({64, 64}, options.requires_grad(true));
        const BlockFunction block = [&](const std::vector<Tensor> &x) { return std::vector<Tensor>{torch::mm(x[0], weight).tanh()}; };
        auto backend = makeOffloadBackend(torch::kMeta, 1 << 30);
        QVERIFY(backend.ok());
        ActivationOffload offload(std::move(*backend), 1 << 20, torch::kFloat32, OverflowPolicy::Error);
        offload.beginStep();
        Tensor x = torch::empty({32, 64}, options);
        for (int i = 0; i < 3; ++i)
            x = checkpoint(block, {x}, {"block", 1, {weight}, &offload})[0];
        QCOMPARE(offload.usedBytes(), std::int64_t(3 * 32 * 64 * 4));
        x.sum().backward();
        QCOMPARE(weight.grad().sizes().vec(), (std::vector<std::int64_t>{64, 64}));
        QCOMPARE(offload.usedBytes(), std::int64_t(0));
        QVERIFY(meta.total() > 0);
    }
};

QTEST_GUILESS_MAIN(MetaLedgerTest)
#include "meta_ledger_test.moc"
