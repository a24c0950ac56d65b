// The ledger on real CPU allocations: kinds, phases, peaks, the timeline, the budget, threads.
#include <thread>

#include <QTest>

#include "core/memory/ledger.h"

using namespace stagewright;
using namespace stagewright::memory;
using torch::Tensor;

namespace {

constexpr std::int64_t kMiB = 1 << 20;
Tensor bytes(std::int64_t count) { return torch::empty({count}, torch::kUInt8); }
std::int64_t of(const KindBytes &byKind, MemoryKind kind) { return byKind[static_cast<std::size_t>(kind)]; }
std::int64_t of(const PhaseBytes &byPhase, Phase phase) { return byPhase[static_cast<std::size_t>(phase)]; }

} // namespace

class LedgerTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        m_before = bytes(4 * kMiB);        // exists before the ledger, so it is never counted
        auto attached = attachLedger(torch::kCPU);
        QVERIFY(attached.ok());
        m_ledger = *attached;
        QCOMPARE(*attachLedger(torch::kCPU), m_ledger);
        QCOMPARE(&ledger(), m_ledger);
    }

    void init()
    {
        m_ledger->setBudget(0);
        m_ledger->resetPeak();
    }

    void countsEveryByteOfATensorUntilItIsFreed()
    {
        const std::int64_t before = m_ledger->total();
        Tensor a = bytes(3 * kMiB + 1);
        QCOMPARE(m_ledger->total() - before, 3 * kMiB + 1);
        Tensor view = a.slice(0, 10, 20);
        a.reset();
        QCOMPARE(m_ledger->total() - before, 3 * kMiB + 1);      // the view keeps the storage
        view.reset();
        QCOMPARE(m_ledger->total(), before);
    }

    void memoryFromBeforeIsNotCountedWhenFreed()
    {
        const std::int64_t before = m_ledger->total();
        m_ledger->rekind(m_before, MemoryKind::Parameter);
        m_before.reset();
        QCOMPARE(m_ledger->total(), before);
    }

    void dataIsAlignedAsTorchWants()
    {
        for (const std::int64_t size : {1, 7, 64, 1000, 5000000}) {
            const Tensor t = bytes(size);
            QCOMPARE(reinterpret_cast<std::uintptr_t>(t.data_ptr()) % c10::gAlignment, std::uintptr_t(0));
        }
    }

    void emptyTensorsCostNothing()
    {
        const std::int64_t before = m_ledger->total();
        const Tensor empty = torch::empty({0, 5});
        m_ledger->rekind(empty, MemoryKind::Parameter);
        m_ledger->rekind(Tensor(), MemoryKind::Parameter);
        QCOMPARE(m_ledger->total(), before);
    }

    void resizedStoragesAreFollowed()
    {
        const std::int64_t before = m_ledger->total();
        Tensor t = bytes(kMiB);
        t.resize_({2 * kMiB});
        QCOMPARE(m_ledger->total() - before, 2 * kMiB);
        t.reset();
        QCOMPARE(m_ledger->total(), before);
    }

    void kindComesFromTheInnermostScopeAndElseFromThePhase()
    {
        const KindBytes start = m_ledger->snapshot().byKind;
        const auto grown = [&](MemoryKind kind) { return of(m_ledger->snapshot().byKind, kind) - of(start, kind); };
        Tensor activation, parameter, gradient, encoder, workspace;
        {
            PhaseScope forward(Phase::Forward);
            activation = bytes(1000);
            KindScope outer(MemoryKind::Parameter);
            {
                KindScope inner(MemoryKind::Gradient);
                gradient = bytes(300);
            }
            parameter = bytes(20);
        }
        {
            PhaseScope encode(Phase::Encode);
            encoder = bytes(4);
        }
        workspace = bytes(7);
        QCOMPARE(grown(MemoryKind::Activation), std::int64_t(1000));
        QCOMPARE(grown(MemoryKind::Gradient), std::int64_t(300));
        QCOMPARE(grown(MemoryKind::Parameter), std::int64_t(20));
        QCOMPARE(grown(MemoryKind::Encoder), std::int64_t(4));
        QCOMPARE(grown(MemoryKind::Workspace), std::int64_t(7));
    }

    void kindAndPhaseStayWhenFreedElsewhere()
    {
        const Snapshot start = m_ledger->snapshot();
        Tensor t;
        {
            PhaseScope forward(Phase::Forward);
            t = bytes(512);
        }
        {
            PhaseScope backward(Phase::Backward);
            KindScope other(MemoryKind::Optimizer);
            QCOMPARE(of(m_ledger->snapshot().byPhase, Phase::Forward) - of(start.byPhase, Phase::Forward), std::int64_t(512));
            std::thread([&] { t.reset(); }).join();
        }
        const Snapshot end = m_ledger->snapshot();
        QCOMPARE(end.byKind, start.byKind);
        QCOMPARE(end.byPhase, start.byPhase);
    }

    void rekindMovesAWholeStorage()
    {
        const KindBytes start = m_ledger->snapshot().byKind;
        const Tensor t = bytes(100);
        m_ledger->rekind(t.slice(0, 0, 1), MemoryKind::CheckpointedInput);
        const KindBytes now = m_ledger->snapshot().byKind;
        QCOMPARE(of(now, MemoryKind::CheckpointedInput) - of(start, MemoryKind::CheckpointedInput), std::int64_t(100));
        QCOMPARE(of(now, MemoryKind::Workspace), of(start, MemoryKind::Workspace));
    }

    void peakKeepsItsComposition()
    {
        const std::int64_t base = m_ledger->total();
        {
            PhaseScope forward(Phase::Forward);
            const Tensor a = bytes(1000);
            KindScope kind(MemoryKind::Optimizer);
            const Tensor b = bytes(50);
        }
        const Tensor later = bytes(10);
        const Snapshot s = m_ledger->snapshot();
        QCOMPARE(s.peakTotal, base + 1050);
        QCOMPARE(s.peakPhase, Phase::Forward);
        std::int64_t sum = 0;
        for (const std::int64_t part : s.peakByKind)
            sum += part;
        QCOMPARE(sum, s.peakTotal);
        QCOMPARE(of(s.peakInPhase, Phase::Forward), base + 1050);
        QCOMPARE(of(s.peakInPhase, Phase::Backward), std::int64_t(0));
        m_ledger->resetPeak();
        QCOMPARE(m_ledger->snapshot().peakTotal, base + 10);
    }

    void blocksAreToldApart()
    {
        m_ledger->setPerBlock(true);
        Tensor a, b;
        {
            BlockScope scope(0);
            a = bytes(11);
            BlockScope inner(2);
            b = bytes(22);
        }
        m_ledger->resetPeak();
        const Snapshot s = m_ledger->snapshot();
        QCOMPARE(s.byBlock.at(1), std::int64_t(11));
        QCOMPARE(s.byBlock.at(3), std::int64_t(22));
        QCOMPARE(s.peakByBlock.at(3), std::int64_t(22));
        m_ledger->setPerBlock(false);
        QVERIFY(m_ledger->snapshot().byBlock.empty());
    }

    void gradientsCountAsGradients()
    {
        Tensor parameter = torch::zeros({1000}, torch::requires_grad());
        trackGradients({parameter});
        const std::int64_t before = of(m_ledger->snapshot().byKind, MemoryKind::Gradient);
        for (int i = 0; i < 2; ++i) {
            PhaseScope backward(Phase::Backward);
            (parameter * torch::ones({1000})).sum().backward();
        }
        QCOMPARE(of(m_ledger->snapshot().byKind, MemoryKind::Gradient) - before, std::int64_t(4000));
        parameter.mutable_grad().reset();
        QCOMPARE(of(m_ledger->snapshot().byKind, MemoryKind::Gradient), before);
    }

    // --- timeline ---

    void timelineIsBoundedAndKeepsThePeakAndThePhases()
    {
        const std::int64_t base = m_ledger->total();
        m_ledger->startTrace(64);
        {
            PhaseScope forward(Phase::Forward);
            for (int i = 0; i < 500; ++i)
                const Tensor t = bytes(100);
            const Tensor peak = bytes(kMiB);
        }
        {
            PhaseScope backward(Phase::Backward);
            for (int i = 0; i < 500; ++i)
                const Tensor t = bytes(100);
        }
        const std::vector<TracePoint> trace = m_ledger->takeTrace();
        QVERIFY(trace.size() >= 16 && trace.size() <= 64);
        std::int64_t highest = 0;
        std::set<Phase> phases;
        for (std::size_t i = 0; i < trace.size(); ++i) {
            std::int64_t total = 0;
            for (const std::int64_t part : trace[i].byKind)
                total += part;
            highest = std::max(highest, total);
            phases.insert(trace[i].phase);
            QVERIFY(i == 0 || trace[i].seconds >= trace[i - 1].seconds);
        }
        QCOMPARE(highest, base + kMiB);
        QVERIFY(phases.count(Phase::Forward) && phases.count(Phase::Backward));
        QVERIFY(m_ledger->takeTrace().empty());
    }

    void timelineStaysBoundedWhenPhasesAlternate()
    {
        m_ledger->startTrace(16);
        for (int i = 0; i < 1000; ++i) {
            PhaseScope scope(i % 2 ? Phase::Forward : Phase::Backward);
            const Tensor t = bytes(10);
        }
        QVERIFY(m_ledger->takeTrace().size() <= 16);
    }

    // --- budget ---

    void refusesWhatTheBudgetDoesNotAllow()
    {
        const Snapshot before = m_ledger->snapshot();
        m_ledger->setBudget(before.total + kMiB);
        PhaseScope forward(Phase::Forward);
        BlockScope block(5);
        const Tensor fits = bytes(kMiB / 2);
        bool refused = false;
        try {
            bytes(kMiB);
        } catch (const OutOfMemory &error) {
            refused = true;
            QCOMPARE(error.facts().requested, kMiB);
            QCOMPARE(error.facts().limit, before.total + kMiB);
            QCOMPARE(error.facts().inUse, before.total + kMiB / 2);
            QCOMPARE(error.facts().phase, Phase::Forward);
            QCOMPARE(error.facts().kind, MemoryKind::Activation);
            QCOMPARE(error.facts().block, 5);
            QCOMPARE(of(error.facts().byKind, MemoryKind::Activation) - of(before.byKind, MemoryKind::Activation), kMiB / 2);
            QVERIFY(describe(error.facts()).find("memory_limit") != std::string::npos);
        }
        QVERIFY(refused);
        QCOMPARE(m_ledger->total(), before.total + kMiB / 2);
        const Tensor stillFits = bytes(kMiB / 2);
    }

    void refusalInBackwardArrivesAsItself()
    {
        Tensor parameter = torch::ones({kMiB}, torch::requires_grad());
        const Tensor loss = (parameter.exp() * parameter).sum();
        m_ledger->setBudget(m_ledger->total() + 1000);
        QVERIFY_THROWS_EXCEPTION(OutOfMemory, loss.backward());
        m_ledger->setBudget(0);
    }

    void aRequestBeyondTheMachineIsOutOfMemoryWithFacts()
    {
        const std::int64_t before = m_ledger->total();
        bool refused = false;
        try {
            bytes(std::int64_t(1) << 46);
        } catch (const OutOfMemory &error) {
            refused = true;
            QCOMPARE(error.facts().limit, std::int64_t(0));
            QCOMPARE(error.facts().requested, std::int64_t(1) << 46);
        }
        QVERIFY(refused);
        QCOMPARE(m_ledger->total(), before);
    }

    // --- threads ---

    void threadsCountTogetherAndKeepTheirOwnKindAndPhase()
    {
        const Snapshot before = m_ledger->snapshot();
        {
            PhaseScope forward(Phase::Forward);
            std::vector<std::thread> threads;
            std::vector<std::vector<Tensor>> held(4);
            for (int i = 0; i < 4; ++i) {
                threads.emplace_back([i, &held] {
                    std::optional<ThreadPhaseScope> phase;
                    if (i % 2)
                        phase.emplace(Phase::Data);
                    for (int n = 0; n < 2000; ++n) {
                        held[static_cast<std::size_t>(i)].push_back(bytes(64));
                        if (n % 2)
                            held[static_cast<std::size_t>(i)].pop_back();
                    }
                });
            }
            for (int n = 0; n < 200; ++n)
                QVERIFY(m_ledger->snapshot().total >= before.total);
            for (std::thread &thread : threads)
                thread.join();
            const Snapshot now = m_ledger->snapshot();
            QCOMPARE(now.total - before.total, std::int64_t(4 * 1000 * 64));
            QCOMPARE(of(now.byPhase, Phase::Data) - of(before.byPhase, Phase::Data), std::int64_t(2 * 1000 * 64));
            QCOMPARE(of(now.byKind, MemoryKind::Activation) - of(before.byKind, MemoryKind::Activation), std::int64_t(2 * 1000 * 64));
        }
        QCOMPARE(m_ledger->total(), before.total);
        QCOMPARE(m_ledger->snapshot().byKind, before.byKind);
    }

    // --- other allocators ---

    void reportedAllocationsCountAndUnknownReleasesDoNot()
    {
        Ledger reported;
        int place = 0, other = 0;
        {
            KindScope kind(MemoryKind::Optimizer);
            reported.allocated(&place, 100);
        }
        reported.released(&other);
        QCOMPARE(reported.total(), std::int64_t(100));
        QCOMPARE(of(reported.snapshot().byKind, MemoryKind::Optimizer), std::int64_t(100));
        reported.setReserved(2048);
        QCOMPARE(reported.snapshot().reserved, std::int64_t(2048));
        reported.released(&place);
        QCOMPARE(reported.total(), std::int64_t(0));
    }

    void devicesWithoutALedgerAreRefusedWithASentence()
    {
        const auto attached = attachLedger(torch::Device(torch::kXPU, 0));
        QVERIFY(!attached.ok());
        QVERIFY(attached.error().message().find("xpu") != std::string::npos);
        QCOMPARE(&ledger(), m_ledger);
    }

    void hostEntriesCountWhileTheyLive()
    {
        const auto cache = [] { return hostBytes()[static_cast<std::size_t>(HostKind::DataCache)]; };
        const std::int64_t before = cache();
        {
            HostEntry entry(HostKind::DataCache, 100);
            HostEntry moved = std::move(entry);
            moved.resize(250);
            QCOMPARE(cache() - before, std::int64_t(250));
            QCOMPARE(m_ledger->snapshot().host[static_cast<std::size_t>(HostKind::DataCache)] - before, std::int64_t(250));
        }
        QCOMPARE(cache(), before);
    }

private:
    Tensor m_before;
    Ledger *m_ledger = nullptr;
};

QTEST_GUILESS_MAIN(LedgerTest)
#include "ledger_test.moc"
