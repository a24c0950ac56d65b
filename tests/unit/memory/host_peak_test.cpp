// What an operator takes while it runs, as watched.
#include <QTest>

#include <stdexcept>

#include "core/memory/host_peak.h"
#include "core/torchpch/torch.h"

using namespace stagewright;

class HostPeakTest : public QObject
{
    Q_OBJECT

    static torch::Tensor bytes(std::int64_t count) { return torch::empty({count}, torch::kUInt8); }

private Q_SLOTS:
    void countsWhatIsThereAtOnce()
    {
        const std::int64_t peak = memory::hostPeakDuring([] {
            const auto kept = bytes(1000);
            for (int i = 0; i < 5; ++i)
                bytes(300);
        });
        QCOMPARE(peak, std::int64_t(1300));
    }

    void beginsAnewEveryTime()
    {
        memory::hostPeakDuring([] { bytes(5000); });
        QCOMPARE(memory::hostPeakDuring([] { bytes(10); }), std::int64_t(10));
        QCOMPARE(memory::hostPeakDuring([] {}), std::int64_t(0));
    }

    void whatWasMadeMeanwhileLivesOn()
    {
        torch::Tensor made;
        memory::hostPeakDuring([&] { made = torch::full({100}, 7, torch::kInt64); });
        QCOMPARE(made.sum().item<std::int64_t>(), std::int64_t(700));
        made.reset();
        QCOMPARE(memory::hostPeakDuring([] { bytes(10); }), std::int64_t(10));
    }

    void theAllocatorComesBackWhateverHappens()
    {
        auto *before = c10::GetAllocator(c10::kCPU);
        bool caught = false;
        try {
            memory::hostPeakDuring([] { throw std::runtime_error("as a test"); });
        } catch (const std::runtime_error &) {
            caught = true;
        }
        QVERIFY(caught);
        QCOMPARE(c10::GetAllocator(c10::kCPU), before);
    }
};

QTEST_GUILESS_MAIN(HostPeakTest)
#include "host_peak_test.moc"
