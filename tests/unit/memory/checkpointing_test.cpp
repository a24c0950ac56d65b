// Gradient checkpointing: the same gradients for any block, and what it keeps.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>

#include <QTest>

#include <torch/nn/modules/linear.h>

#include "core/memory/checkpointing.h"
#include "core/memory/ledger.h"

using namespace stagewright;
using namespace stagewright::memory;
using torch::Tensor;

namespace {

// A block with dropout, two streams and a shared vector.
struct TestBlock : torch::nn::Module {
    torch::nn::Linear a{nullptr}, b{nullptr};
    double dropout;
    explicit TestBlock(double rate) : dropout(rate)
    {
        a = register_module("a", torch::nn::Linear(16, 16));
        b = register_module("b", torch::nn::Linear(16, 16));
    }
    std::vector<Tensor> operator()(const std::vector<Tensor> &x)
    {
        const Tensor first = torch::dropout(torch::tanh(a(x[0]) + x[2]), dropout, true);
        const Tensor second = torch::dropout(torch::tanh(b(x[1]) * x[2]), dropout, true) + first.mean();
        return {x[0] + first, x[1] + second};
    }
};

struct Net {
    std::vector<std::shared_ptr<TestBlock>> blocks;
    Tensor entry;                          // parameter in front, so that the blocks' inputs require grad (or not)
    explicit Net(int count, double dropout = 0.1)
    {
        torch::manual_seed(3);
        for (int i = 0; i < count; ++i)
            blocks.push_back(std::make_shared<TestBlock>(dropout));
        entry = torch::ones({16}, torch::requires_grad());
    }
    Tensor loss(bool checkpointed, ActivationOffload *offload = nullptr)
    {
        torch::manual_seed(4);
        const Tensor vec = torch::linspace(-1, 1, 16) * entry;
        Tensor x = torch::linspace(0, 2, 160).view({10, 16}) * entry, y = x.flip(0);
        for (const auto &block : blocks) {
            const BlockFunction run = [block](const std::vector<Tensor> &in) { return (*block)(in); };
            const auto out = checkpointed ? checkpoint(run, {x, y, vec}, {"test block", 2, block->parameters(), offload}) : run({x, y, vec});
            x = out[0];
            y = out[1];
        }
        return (x * y).sum();
    }
    std::vector<Tensor> gradients(bool checkpointed, ActivationOffload *offload = nullptr)
    {
        for (Tensor &parameter : all())
            parameter.mutable_grad().reset();
        loss(checkpointed, offload).backward();
        std::vector<Tensor> result;
        for (const Tensor &parameter : all())
            result.push_back(parameter.grad().defined() ? parameter.grad().clone() : Tensor());
        return result;
    }
    std::vector<Tensor> all() const
    {
        std::vector<Tensor> parameters;
        for (const auto &block : blocks)
            for (const Tensor &parameter : block->parameters())
                parameters.push_back(parameter);
        parameters.push_back(entry);
        return parameters;
    }
};

Tensor randomState()
{
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    std::lock_guard lock(generator.mutex());
    return generator.get_state();
}

void compareBits(const std::vector<Tensor> &a, const std::vector<Tensor> &b, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i) {
        QCOMPARE(a[i].defined(), b[i].defined());
        if (a[i].defined())
            QVERIFY2(torch::equal(a[i], b[i]), std::to_string(i).c_str());
    }
}

} // namespace

class CheckpointingTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        torch::set_num_threads(1);
        QVERIFY(attachLedger(torch::kCPU).ok());
    }

    // --- meaning of the settings ---

    void settingsMeanWhatTheOriginalMeans_data()
    {
        QTest::addColumn<bool>("on");
        QTest::addColumn<QList<int>>("settings");
        QTest::addColumn<int>("doubles");
        QTest::addColumn<int>("singles");
        QTest::addColumn<bool>("warns");
        QTest::newRow("empty is all") << true << QList<int>{} << 19 << 38 << false;
        QTest::newRow("zeros are none") << true << QList<int>{0, 0} << 0 << 0 << false;
        QTest::newRow("more than there are is all") << true << QList<int>{8, 100} << 8 << 38 << false;
        QTest::newRow("negative counts from the end") << true << QList<int>{-1, -40} << 18 << 0 << true;
        QTest::newRow("a third number does not count") << true << QList<int>{1, 2, 99} << 1 << 2 << true;
        QTest::newRow("the switch off is none") << false << QList<int>{8, 100} << 0 << 0 << false;
    }
    void settingsMeanWhatTheOriginalMeans()
    {
        QFETCH(bool, on);
        QFETCH(QList<int>, settings);
        QFETCH(int, doubles);
        QFETCH(int, singles);
        QFETCH(bool, warns);
        const auto resolved = resolveCheckpointDepth(on, std::vector<std::int64_t>(settings.begin(), settings.end()), 19, 38);
        QVERIFY(resolved.ok());
        QCOMPARE(resolved->depth, (CheckpointDepth{doubles, singles}));
        QCOMPARE(!resolved->warning.empty(), warns);
        QCOMPARE(resolveCheckpointDepth(true, std::nullopt, 19, 38)->depth, (CheckpointDepth{19, 38}));
    }

    void oneNumberAloneIsAnError()
    {
        const auto resolved = resolveCheckpointDepth(true, std::vector<std::int64_t>{8}, 19, 38);
        QVERIFY(!resolved.ok());
        QCOMPARE(resolved.error().exit, ExitCode::Usage);
    }

    // --- gradients ---

    void gradientsAreBitEqualAlsoWithDropout()
    {
        Net net(3);
        const auto plain = net.gradients(false), checkpointed = net.gradients(true);
        compareBits(plain, checkpointed, plain.size() - 1);
        QVERIFY(torch::allclose(plain.back(), checkpointed.back(), 1e-5, 1e-6));       // shared by all blocks: summed in another order
    }

    void randomStateGoesOnAsWithoutCheckpointing()
    {
        Net net(2);
        net.gradients(false);
        const Tensor plain = torch::rand({4});
        net.gradients(true);
        QVERIFY(torch::equal(plain, torch::rand({4})));
    }

    void frozenInputsAndParametersKeepTheirGradientsRight_data()
    {
        QTest::addColumn<bool>("frozenEntry");
        QTest::addColumn<int>("frozenBlock");
        QTest::newRow("inputs without gradient") << true << -1;
        QTest::newRow("one block frozen") << false << 1;
        QTest::newRow("both") << true << 0;
    }
    void frozenInputsAndParametersKeepTheirGradientsRight()
    {
        QFETCH(bool, frozenEntry);
        QFETCH(int, frozenBlock);
        Net net(3);
        net.entry.set_requires_grad(!frozenEntry);
        if (frozenBlock >= 0) {
            for (Tensor &parameter : net.blocks[static_cast<std::size_t>(frozenBlock)]->parameters())
                parameter.set_requires_grad(false);
        }
        const auto plain = net.gradients(false), checkpointed = net.gradients(true);
        compareBits(plain, checkpointed, plain.size() - 1);
        QCOMPARE(plain.back().defined(), checkpointed.back().defined());
    }

    void partlyFrozenBlockGetsGradientsForTheRest()
    {
        Net net(1);
        net.entry.set_requires_grad(false);
        net.blocks[0]->a->weight.set_requires_grad(false);
        const auto plain = net.gradients(false), checkpointed = net.gradients(true);
        compareBits(plain, checkpointed, plain.size());
        QVERIFY(!checkpointed[0].defined() && checkpointed[1].defined());
    }

    void gradientsAccumulateOverMicroSteps()
    {
        Net net(2);
        const auto twice = [&](bool checkpointed) {
            net.gradients(checkpointed);
            net.loss(checkpointed).backward();
            return net.blocks[0]->a->weight.grad().clone();
        };
        const Tensor plain = twice(false);
        QVERIFY(torch::equal(plain, twice(true)));
    }

    void nothingIsRecordedWithoutGradients()
    {
        Net net(2);
        {
            torch::NoGradGuard unrecorded;
            QVERIFY(!net.loss(true).requires_grad());
        }
        for (Tensor &parameter : net.all())
            parameter.set_requires_grad(false);
        QVERIFY(!net.loss(true).requires_grad());
    }

    void anOutputThatIsAnInputIsPassedOn()
    {
        Tensor x = torch::ones({3}, torch::requires_grad());
        const auto out = checkpoint([](const std::vector<Tensor> &in) { return std::vector<Tensor>{in[0], in[0] * 2}; }, {x}, {"identity", 1, {}, nullptr});
        (out[0].sum() + out[1].sum()).backward();
        QVERIFY(torch::equal(x.grad(), torch::full({3}, 3.0)));
    }

    void autocastIsTheSameInTheSecondRun()
    {
        const Tensor weight = torch::randn({8, 8}, torch::requires_grad()), x = torch::randn({4, 8});
        std::vector<torch::Dtype> seen;
        const BlockFunction block = [&](const std::vector<Tensor> &in) {
            std::vector<Tensor> out{torch::mm(in[0], weight)};
            seen.push_back(out[0].scalar_type());
            return out;
        };
        at::autocast::set_autocast_enabled(torch::kCPU, true);
        const Tensor out = checkpoint(block, {x}, {"autocast block", 1, {weight}, nullptr})[0];
        at::autocast::set_autocast_enabled(torch::kCPU, false);
        at::autocast::clear_cache();
        out.sum().backward();
        QCOMPARE(seen, (std::vector<torch::Dtype>{torch::kBFloat16, torch::kBFloat16}));
        QVERIFY(!at::autocast::is_autocast_enabled(torch::kCPU));
    }

    // --- memory ---

    void keepsOnlyTheInputsAndSaysSo()
    {
        Net net(4, 0.0);
        const auto kept = [&](bool checkpointed) {
            const Snapshot before = ledger().snapshot();
            PhaseScope forward(Phase::Forward);
            const Tensor loss = net.loss(checkpointed);
            const Snapshot after = ledger().snapshot();
            const auto inputs = static_cast<std::size_t>(MemoryKind::CheckpointedInput);
            return std::pair{after.total - before.total, after.byKind[inputs] - before.byKind[inputs]};
        };
        const auto plain = kept(false), checkpointed = kept(true);
        QCOMPARE(plain.second, std::int64_t(0));
        QCOMPARE(checkpointed.second, std::int64_t(4 * 2 * 160 * 4));
        QVERIFY(checkpointed.first * 2 < plain.first);
        QVERIFY(kept(true).first == checkpointed.first);       // nothing piles up
    }

    // --- failures ---

    void aBlockThatChangesItsShapeIsNamedWithBothShapes()
    {
        Tensor x = torch::ones({2, 3}, torch::requires_grad());
        int runs = 0;
        const auto out = checkpoint([&](const std::vector<Tensor> &in) { return std::vector<Tensor>{++runs == 1 ? in[0] * 2 : in[0].view({3, 2}) * 2}; }, {x},
                                    {"double block 7", 1, {}, nullptr});
        QString message;
        try {
            out[0].sum().backward();
        } catch (const c10::Error &error) {
            message = QString::fromStdString(error.what_without_backtrace());
        }
        QVERIFY2(message.contains(QStringLiteral("double block 7")) && message.contains(QStringLiteral("[2, 3]")) && message.contains(QStringLiteral("[3, 2]")), qPrintable(message));
    }

    void aFailureInTheSecondRunLeavesRandomStateAndNextStepRight()
    {
        Net net(2);
        const auto plain = net.gradients(false);
        Tensor x = torch::ones({8}, torch::requires_grad());
        torch::manual_seed(9);
        int runs = 0;
        const auto out = checkpoint(
            [&](const std::vector<Tensor> &in) {
                TORCH_CHECK(++runs < 2, "on purpose");
                return std::vector<Tensor>{torch::dropout(in[0], 0.5, true)};
            },
            {x}, {"block", 1, {}, nullptr});
        const Tensor expected = randomState();
        QVERIFY_THROWS_EXCEPTION(c10::Error, out[0].sum().backward());
        QVERIFY(torch::equal(expected, randomState()));
        QVERIFY(!isRecomputing());
        compareBits(plain, net.gradients(true), plain.size() - 1);
    }

    void aSecondBackwardIsRefused()
    {
        Net net(1);
        const Tensor loss = net.loss(true);
        loss.backward();
        QVERIFY_THROWS_EXCEPTION(c10::Error, loss.backward());
    }
};

QTEST_GUILESS_MAIN(CheckpointingTest)
#include "checkpointing_test.moc"
