// The activation buffer: what goes in comes back, whatever overflows, fails or is thrown away in between.
#include <QTest>

#include "core/memory/checkpointing.h"
#include "core/memory/ledger.h"
#include "core/memory/offload.h"

using namespace stagewright;
using namespace stagewright::memory;
using torch::Tensor;

namespace {

std::unique_ptr<OffloadBackend> cpuBackend(std::int64_t bytes = 1 << 24) { return std::move(makeOffloadBackend(torch::kCPU, bytes)).value(); }

// Backend that copies late, as a side stream does: stores happen only when somebody waits, from a snapshot of nothing but the tensor it was
// given. It finds code that reuses a source or a slice too early, and prefetches one block ahead.
class LateBackend : public OffloadBackend
{
public:
    explicit LateBackend(std::int64_t bytes) : m_arena(static_cast<std::size_t>(bytes)) {}
    std::string name() const override { return "late"; }
    void store(const Tensor &tensor, const ArenaSlice &slice) override
    {
        m_queue.push_back([this, tensor, slice] { std::memcpy(m_arena.data() + slice.offset, tensor.const_data_ptr(), static_cast<std::size_t>(slice.bytes)); });
        m_touched = std::max(m_touched, slice.offset + slice.bytes);
    }
    std::unique_ptr<PendingLoad> load(const ArenaSlice &slice) override
    {
        ++loads;
        Tensor target = torch::full(slice.sizes, std::nan(""), torch::TensorOptions(slice.dtype));
        m_queue.push_back([this, target, slice] { std::memcpy(target.mutable_data_ptr(), m_arena.data() + slice.offset, static_cast<std::size_t>(slice.bytes)); });
        struct Pending : PendingLoad {
            LateBackend *backend;
            Tensor target;
            Tensor finish() override
            {
                backend->synchronize();
                return target;
            }
        };
        auto pending = std::make_unique<Pending>();
        pending->backend = this;
        pending->target = target;
        return pending;
    }
    int prefetchDepth() const override { return 1; }
    std::int64_t touchedBytes() const override { return m_touched; }
    std::int64_t pinnedBytes() const override { return 0; }
    double takeStallSeconds() override { return 0; }
    std::string takeNote() override { return {}; }
    void synchronize() override
    {
        for (const auto &job : m_queue)
            job();
        m_queue.clear();
    }
    int loads = 0;

private:
    std::vector<char> m_arena;
    std::vector<std::function<void()>> m_queue;
    std::int64_t m_touched = 0;
};

// A chain of checkpointed blocks over one stream and a shared vector.
struct Chain {
    std::vector<Tensor> weights;
    Tensor shared = torch::linspace(0.5, 1.5, 8).requires_grad_(true);
    explicit Chain(int blocks)
    {
        torch::manual_seed(5);
        for (int i = 0; i < blocks; ++i)
            weights.push_back(torch::randn({8, 8}, torch::requires_grad()));
    }
    Tensor forward(int rows, int checkpointed, ActivationOffload *offload)
    {
        Tensor x = torch::linspace(-1, 1, rows * 8).view({rows, 8}) * shared;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const BlockFunction block = [w = weights[i]](const std::vector<Tensor> &in) { return std::vector<Tensor>{(torch::mm(in[0], w) * in[1]).tanh()}; };
            const bool chosen = static_cast<int>(i) < checkpointed;
            x = chosen ? checkpoint(block, {x, shared}, {"block " + std::to_string(i), 1, {weights[i]}, offload})[0] : block({x, shared})[0];
        }
        return x.square().sum();
    }
    std::vector<Tensor> step(int rows, int checkpointed, ActivationOffload *offload)
    {
        for (Tensor &weight : weights)
            weight.mutable_grad().reset();
        shared.mutable_grad().reset();
        if (offload)
            offload->beginStep();
        forward(rows, checkpointed, offload).backward();
        std::vector<Tensor> result;
        for (const Tensor &weight : weights)
            result.push_back(weight.grad().clone());
        result.push_back(shared.grad().clone());
        return result;
    }
};

void compareBits(const std::vector<Tensor> &a, const std::vector<Tensor> &b)
{
    for (std::size_t i = 0; i < a.size(); ++i)
        QVERIFY2(torch::equal(a[i], b[i]), std::to_string(i).c_str());
}

} // namespace

class OffloadTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        torch::set_num_threads(1);
        QVERIFY(attachLedger(torch::kCPU).ok());
    }

    void gradientsAreBitEqualOverSeveralStepsAndSizes()
    {
        Chain chain(4);
        ActivationOffload offload(cpuBackend(), 1 << 16, torch::kFloat32, OverflowPolicy::Error);
        for (const int rows : {20, 5, 40, 20})
            compareBits(chain.step(rows, 4, nullptr), chain.step(rows, 4, &offload));
        QCOMPARE(offload.usedBytes(), std::int64_t(0));
    }

    void copiesAreRealAndComeFromTheBuffer()
    {
        ActivationOffload offload(cpuBackend(), 1000, torch::kFloat32, OverflowPolicy::Error);
        Tensor source = torch::arange(10).to(torch::kFloat32);
        auto slot = offload.push("block", {source});
        source.fill_(-1);
        const Tensor back = slot->fetch()[0];
        QVERIFY(torch::equal(back, torch::arange(10).to(torch::kFloat32)));
        auto next = offload.push("block", {torch::full({10}, 7.0)});       // overwrites the same slice
        QVERIFY(torch::equal(back, torch::arange(10).to(torch::kFloat32)));
    }

    void lateCopiesAndPrefetchKeepGradientsRight()
    {
        Chain chain(5);
        auto backend = std::make_unique<LateBackend>(1 << 20);
        LateBackend *late = backend.get();
        ActivationOffload offload(std::move(backend), 1 << 16, torch::kFloat32, OverflowPolicy::Keep);
        for (int step = 0; step < 3; ++step)
            compareBits(chain.step(16, 4, nullptr), chain.step(16, 4, &offload));
        QCOMPARE(late->loads, 3 * 4);          // each block once, ahead of need or not
    }

    void exactlyOneCheckpointedBlockBeforePlainOnes()
    {
        Chain chain(3);
        ActivationOffload offload(cpuBackend(), 1 << 16, torch::kFloat32, OverflowPolicy::Error);
        compareBits(chain.step(8, 0, nullptr), chain.step(8, 0, &offload));
        const auto without = chain.step(8, 1, nullptr);
        compareBits(without, chain.step(8, 1, &offload));
        QCOMPARE(offload.counters().offloadedBlocks, std::int64_t(1));
    }

    // --- a buffer that is too small ---

    void blocksThatDoNotFitStayAndAreCounted()
    {
        Chain chain(4);
        const int rows = 10;
        ActivationOffload offload(cpuBackend(), 3 * rows * 8 - 1, torch::kFloat32, OverflowPolicy::Keep);      // one element less than three blocks
        compareBits(chain.step(rows, 4, nullptr), chain.step(rows, 4, &offload));
        const OffloadCounters counters = offload.counters();
        QCOMPARE(counters.offloadedBlocks, std::int64_t(2));
        QCOMPARE(counters.keptBlocks, std::int64_t(2));
        QCOMPARE(counters.highWaterElements, std::int64_t(2 * rows * 8));
        QCOMPARE(counters.storedBytes, counters.loadedBytes);
        QCOMPARE(counters.storedBytes, std::int64_t(2 * rows * 8 * 4));
        offload.resetCounters();
        QCOMPARE(offload.counters().keptBlocks, std::int64_t(0));
    }

    void aFullBufferIsAnErrorWithNumbersWhereTheStageWantsIt()
    {
        Chain chain(4);
        ActivationOffload offload(cpuBackend(), 3 * 80 - 1, torch::kFloat32, OverflowPolicy::Error);
        bool full = false;
        try {
            chain.step(10, 4, &offload);
        } catch (const ActivationBufferFull &error) {
            full = true;
            QCOMPARE(QString::fromStdString(error.block), QStringLiteral("block 2"));
            QCOMPARE(error.needed, std::int64_t(80));
            QCOMPARE(error.used, std::int64_t(160));
            QCOMPARE(error.capacity, std::int64_t(239));
            QVERIFY(QString::fromUtf8(error.what()).contains(QStringLiteral("grad_ckpt_buffer_size")));
        }
        QVERIFY(full);
        compareBits(chain.step(5, 4, nullptr), chain.step(5, 4, &offload));        // the next, smaller step is as if nothing had been
        QCOMPARE(offload.usedBytes(), std::int64_t(0));
    }

    // --- nothing is left behind ---

    void forwardWithoutGradientsPushesNothing()
    {
        Chain chain(3);
        ActivationOffload offload(cpuBackend(), 1 << 16, torch::kFloat32, OverflowPolicy::Error);
        torch::NoGradGuard unrecorded;
        for (int i = 0; i < 100; ++i)
            chain.forward(1000, 3, &offload);
        QCOMPARE(offload.usedBytes(), std::int64_t(0));
        QCOMPARE(offload.counters().offloadedBlocks, std::int64_t(0));
    }

    void aForgottenForwardFreesItsPlace()
    {
        Chain chain(3);
        ActivationOffload offload(cpuBackend(), 1 << 16, torch::kFloat32, OverflowPolicy::Error);
        {
            const Tensor loss = chain.forward(8, 3, &offload);
            QCOMPARE(offload.usedBytes(), std::int64_t(3 * 64 * 4));
        }
        QCOMPARE(offload.usedBytes(), std::int64_t(0));
    }

    void anExceptionInBackwardDoesNotSpoilTheNextStep()
    {
        Chain chain(3);
        ActivationOffload offload(cpuBackend(), 1 << 16, torch::kFloat32, OverflowPolicy::Error);
        offload.beginStep();
        Tensor kept = chain.forward(8, 3, &offload);           // its graph outlives the step
        struct Failing : torch::autograd::Function<Failing> {
            static Tensor forward(torch::autograd::AutogradContext *, const Tensor &x) { return x.clone(); }
            static torch::autograd::variable_list backward(torch::autograd::AutogradContext *, torch::autograd::variable_list) { TORCH_CHECK(false, "on purpose"); }
        };
        const Tensor x = Failing::apply(chain.weights[0]);
        const Tensor failing = checkpoint([](const std::vector<Tensor> &in) { return std::vector<Tensor>{in[0] * 2}; }, {x}, {"block", 1, {}, &offload})[0].sum();
        QVERIFY_THROWS_EXCEPTION(c10::Error, failing.backward());
        compareBits(chain.step(12, 3, nullptr), chain.step(12, 3, &offload));
        QVERIFY_THROWS_EXCEPTION(c10::Error, kept.backward());        // what it offloaded was given away: an error, not wrong gradients
        QCOMPARE(offload.usedBytes(), std::int64_t(0));
    }

    void slotsMayOutliveTheBuffer()
    {
        Chain chain(2);
        Tensor loss;
        {
            ActivationOffload offload(cpuBackend(), 1 << 16, torch::kFloat32, OverflowPolicy::Error);
            loss = chain.forward(8, 2, &offload);
        }
        QVERIFY_THROWS_EXCEPTION(c10::Error, loss.backward());
    }

    void placesFreedOutOfOrderAreReused()
    {
        ActivationOffload offload(cpuBackend(), 30, torch::kFloat32, OverflowPolicy::Keep);
        auto a = offload.push("a", {torch::ones({10})}), b = offload.push("b", {torch::ones({10})}), c = offload.push("c", {torch::ones({10})});
        b.reset();
        QCOMPARE(offload.usedBytes(), std::int64_t(120));
        c.reset();
        QCOMPARE(offload.usedBytes(), std::int64_t(40));
        QVERIFY(offload.push("d", {torch::ones({20})}) != nullptr);
    }

    // --- sizes ---

    void onlyWhatIsUsedIsTouched()
    {
        const std::int64_t huge = std::int64_t(1) << 40;               // a terabyte of address space
        const auto pinned = [] { return hostBytes()[static_cast<std::size_t>(HostKind::PinnedActivations)]; };
        const std::int64_t before = pinned();
        {
            ActivationOffload offload(cpuBackend(huge), huge / 4, torch::kFloat32, OverflowPolicy::Error);
            QCOMPARE(offload.touchedBytes(), std::int64_t(0));
            const auto slot = offload.push("block", {torch::ones({100000})});
            QVERIFY(offload.touchedBytes() >= 400000 && offload.touchedBytes() < 410000);
            QCOMPARE(pinned() - before, offload.touchedBytes());
        }
        QCOMPARE(pinned(), before);
    }

    void needsCountLikeTheOriginals()
    {
        QCOMPARE(offloadNeedElements(57, 80, 2048, 3072), std::int64_t(57) * 80 * 2048 * 3072);
        QCOMPARE(offloadNeedElements(0, 80, 2048, 3072), std::int64_t(0));
    }

    void otherDtypesAreStoredByTheirBytes()
    {
        ActivationOffload offload(cpuBackend(), 100, torch::kBFloat16, OverflowPolicy::Keep);
        const Tensor odd = torch::ones({3}, torch::kBFloat16), wide = torch::full({4}, 2.5);
        auto slot = offload.push("block", {odd, wide});
        QVERIFY(slot);
        const auto back = slot->fetch();
        QVERIFY(torch::equal(back[0], odd) && torch::equal(back[1], wide));
    }

    void aBufferOfNothingIsRefused()
    {
        QVERIFY(!makeOffloadBackend(torch::kCPU, 0).ok());
        QVERIFY_THROWS_EXCEPTION(c10::Error, ActivationOffload(cpuBackend(), 0, torch::kFloat32, OverflowPolicy::Keep));
    }
};

QTEST_GUILESS_MAIN(OffloadTest)
#include "offload_test.moc"
