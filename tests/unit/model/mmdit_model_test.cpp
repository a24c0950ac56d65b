// The model beyond the golden sizes: against the plain form, frozen parameters, planning on meta, what is refused.
#include <QTest>

#include "core/memory/device.h"
#include "core/memory/ledger.h"
#include "core/model/attention_kernel.h"
#include "tests/unit/model/reference_mmdit.h"

using namespace stagewright;
using torch::Tensor;

namespace {

using Gradients = std::map<std::string, Tensor>;

template <class Forward>
Gradients gradients(model::Mmdit mmdit, const model::MmditInput &input, const Forward &forward)
{
    mmdit->zero_grad();
    forward(mmdit, input).square().mean().backward();
    Gradients result;
    for (const auto &parameter : mmdit->named_parameters()) {
        if (parameter.value().grad().defined())
            result[parameter.key()] = parameter.value().grad().clone();
    }
    return result;
}

Gradients ours(model::Mmdit mmdit, const model::MmditInput &input, const memory::StepMemory &step = {})
{
    return gradients(mmdit, input, [&](const model::Mmdit &m, const model::MmditInput &i) { return model::Mmdit(m)->forward(i, step); });
}

double relative(const Tensor &a, const Tensor &b) { return (a - b).norm().item<double>() / std::max(b.norm().item<double>(), 1e-30); }

std::string refusal(const std::function<void()> &work)
{
    try {
        work();
    } catch (const c10::Error &error) {
        return error.what_without_backtrace();
    }
    return {};
}

} // namespace

class MmditModelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        torch::set_num_threads(2);
        QVERIFY(memory::attachLedger(torch::kMeta).ok());
        QVERIFY(memory::attachLedger(torch::kCPU).ok());
    }

    void equalsThePlainForm_data()
    {
        QTest::addColumn<bool>("fused");
        QTest::addColumn<bool>("liger");
        QTest::addColumn<bool>("fp64");
        QTest::addColumn<int>("batch");
        for (const bool fp64 : {false, true})
            for (const bool fused : {false, true})
                for (const bool liger : {false, true})
                    for (const int batch : {1, 3})
                        QTest::newRow(qPrintable(QStringLiteral("%1 %2 %3 batch %4").arg(QString::fromUtf8(fp64 ? "fp64" : "fp32"), QString::fromUtf8(fused ? "fused" : "separate"), QString::fromUtf8(liger ? "liger" : "standard")).arg(batch)))
                            << fused << liger << fp64 << batch;
    }
    // fp64 runs the operators' other form (Torch's operators), which is also CUDA's.
    void equalsThePlainForm()
    {
        QFETCH(bool, fused);
        QFETCH(bool, liger);
        QFETCH(bool, fp64);
        QFETCH(int, batch);
        model::MmditConfig config = reference::tinyConfig();
        config.fusedQkv = fused;
        config.useLigerRope = liger;
        config.guidanceEmbed = liger;
        config.mlpRatio = 2.7;
        const torch::TensorOptions options(fp64 ? torch::kFloat64 : torch::kFloat32);
        torch::manual_seed(11);
        model::Mmdit mmdit(config, options);
        const model::MmditInput input = reference::randomInput(config, batch, 70, 9, options);
        const double allowed = fp64 ? 1e-11 : 1e-5;
        {
            torch::NoGradGuard unrecorded;
            QVERIFY(relative(mmdit->forward(input), reference::forward(mmdit, input)) <= allowed);
        }
        const Gradients plain = gradients(mmdit, input, reference::forward), got = ours(mmdit, input);
        QCOMPARE(got.size(), plain.size());
        for (const auto &[name, gradient] : plain)
            QVERIFY2(relative(got.at(name), gradient) <= allowed, qPrintable(QStringLiteral("%1: %2").arg(QString::fromStdString(name)).arg(relative(got.at(name), gradient))));
    }

    void halfPrecisionStaysNearThePlainForm_data()
    {
        QTest::addColumn<int>("dtype");
        QTest::newRow("bf16") << static_cast<int>(torch::kBFloat16);
        QTest::newRow("fp16") << static_cast<int>(torch::kFloat16);
    }
    void halfPrecisionStaysNearThePlainForm()
    {
        QFETCH(int, dtype);
        const auto type = static_cast<torch::Dtype>(dtype);
        torch::manual_seed(12);
        model::Mmdit half(reference::tinyConfig(), torch::TensorOptions(type)), wide(reference::tinyConfig());
        {
            torch::NoGradGuard unrecorded;
            for (auto &parameter : wide->named_parameters())
                parameter.value().copy_(half->named_parameters()[parameter.key()]);
        }
        model::MmditInput input = reference::randomInput(half->config(), 2, 40, 6, torch::TensorOptions(type));
        model::MmditInput wideInput = input;
        for (Tensor *t : {&wideInput.img, &wideInput.imgIds, &wideInput.txt, &wideInput.txtIds, &wideInput.timesteps, &wideInput.yVec, &wideInput.cond})
            *t = t->to(torch::kFloat32);
        const auto toWide = [](const model::Mmdit &m, const model::MmditInput &i) { return model::Mmdit(m)->forward(i).to(torch::kFloat32); };
        const auto toWidePlain = [](const model::Mmdit &m, const model::MmditInput &i) { return reference::forward(m, i).to(torch::kFloat32); };
        const Gradients exact = gradients(wide, wideInput, toWide), got = gradients(half, input, toWide), plain = gradients(half, input, toWidePlain);
        double gotError = 0, plainError = 0, size = 0;
        for (const auto &[name, gradient] : exact) {
            gotError += (got.at(name) - gradient).square().sum().item<double>();
            plainError += (plain.at(name) - gradient).square().sum().item<double>();
            size += gradient.square().sum().item<double>();
        }
        qInfo("relative error %.3g, of the plain form %.3g", std::sqrt(gotError / size), std::sqrt(plainError / size));
        QVERIFY(gotError <= 1.5 * 1.5 * plainError);
    }

    void resultsDoNotDependOnTheNumberOfThreads()
    {
        torch::manual_seed(13);
        const model::Mmdit mmdit(reference::tinyConfig());
        const model::MmditInput input = reference::randomInput(mmdit->config(), 2, 300, 20);
        torch::set_num_threads(1);
        const Gradients one = ours(mmdit, input);
        torch::set_num_threads(2);
        const Gradients two = ours(mmdit, input);
        for (const auto &[name, gradient] : one)
            QVERIFY2(relative(two.at(name), gradient) <= 1e-5, name.c_str());
        const Gradients again = ours(mmdit, input);
        for (const auto &[name, gradient] : two)
            QVERIFY2(torch::equal(again.at(name), gradient), name.c_str());
    }

    void frozenParametersGetNoGradientAndChangeNoOther()
    {
        torch::manual_seed(14);
        const model::Mmdit mmdit(reference::tinyConfig());
        const model::MmditInput input = reference::randomInput(mmdit->config(), 2, 30, 5);
        const Gradients all = ours(mmdit, input);
        int index = 0;
        for (auto &parameter : mmdit->named_parameters())
            parameter.value().set_requires_grad(++index % 3 != 0);
        for (const memory::CheckpointDepth depth : {memory::CheckpointDepth{0, 0}, memory::CheckpointDepth{2, 1}}) {
            const Gradients some = ours(mmdit, input, {depth, nullptr, nullptr});
            for (const auto &parameter : mmdit->named_parameters()) {
                QCOMPARE(some.count(parameter.key()) > 0, parameter.value().requires_grad());
                if (parameter.value().requires_grad())
                    QVERIFY2(relative(some.at(parameter.key()), all.at(parameter.key())) <= 1e-6, parameter.key().c_str());
            }
        }
    }

    void modelsOfOneKindOfBlockWork()
    {
        for (const auto &[doubles, singles] : {std::pair{0, 2}, std::pair{2, 0}, std::pair{0, 0}}) {
            model::MmditConfig config = reference::tinyConfig();
            config.depth = doubles;
            config.depthSingleBlocks = singles;
            const model::Mmdit mmdit(config);
            const model::MmditInput input = reference::randomInput(config, 1, 12, 3);
            const Gradients plain = gradients(mmdit, input, reference::forward), got = ours(mmdit, input, {{9, 9}, nullptr, nullptr});
            for (const auto &[name, gradient] : plain)
                QVERIFY2(relative(got.at(name), gradient) <= 1e-5, name.c_str());
        }
    }

    // --- memory ---

    void keepsLessThanThePlainForm()
    {
        torch::manual_seed(15);
        const model::Mmdit mmdit(reference::tinyConfig());
        const model::MmditInput input = reference::randomInput(mmdit->config(), 2, 300, 20);
        const auto kept = [&](const std::function<Tensor()> &forward) {
            const std::int64_t before = memory::ledger().total();
            const Tensor out = forward();
            return memory::ledger().total() - before;
        };
        const std::int64_t plain = kept([&] { return reference::forward(mmdit, input); });
        const std::int64_t got = kept([&] { return model::Mmdit(mmdit)->forward(input); });
        const std::int64_t checkpointed = kept([&] { return model::Mmdit(mmdit)->forward(input, {{2, 2}, nullptr, nullptr}); });
        qInfo("kept for backward: plain %lld, ours %lld, checkpointed %lld bytes", static_cast<long long>(plain), static_cast<long long>(got), static_cast<long long>(checkpointed));
        QVERIFY(got * 10 <= plain * 8);
        QVERIFY(checkpointed * 2 <= got);
    }

    void peakOnMetaEqualsThePeakOnTheCpu_data()
    {
        QTest::addColumn<bool>("bf16");
        QTest::addColumn<int>("doubles");
        QTest::addColumn<int>("singles");
        for (const bool bf16 : {false, true})
            for (const int depth : {0, 1, 2})
                QTest::newRow(qPrintable(QStringLiteral("%1 depth %2").arg(QString::fromUtf8(bf16 ? "bf16" : "fp32")).arg(depth))) << bf16 << depth << depth;
    }
    void peakOnMetaEqualsThePeakOnTheCpu()
    {
        QFETCH(bool, bf16);
        QFETCH(int, doubles);
        QFETCH(int, singles);
        const auto peakOn = [&](torch::Device device) {
            memory::Ledger &ledger = **memory::attachLedger(device);
            const std::int64_t base = ledger.total();
            const torch::TensorOptions options = torch::TensorOptions(bf16 ? torch::kBFloat16 : torch::kFloat32).device(device);
            model::Mmdit mmdit(reference::tinyConfig(), options);
            model::MmditInput input = reference::randomInput(mmdit->config(), 2, 300, 20, options);
            ledger.resetPeak();
            mmdit->forward(input, {{doubles, singles}, nullptr, nullptr}).square().mean().backward();
            return ledger.snapshot().peakTotal - base;
        };
        // One thread: how many of several hold their attention's workspace at the same moment is a matter of the machine's load.
        const int threads = at::get_num_threads();
        at::set_num_threads(1);
        const std::int64_t meta = peakOn(torch::kMeta), cpu = peakOn(torch::kCPU);
        qInfo("meta %lld, cpu %lld", static_cast<long long>(meta), static_cast<long long>(cpu));
        // What only the CPU has: its fused attention takes a workspace for each thread while it runs (tiles of scores and, in bf16, of
        // converted keys), below half a MiB whatever the shapes. On meta most of it is counted (attention_kernel.cpp), in bf16 by a bound.
        const std::int64_t workspace = at::get_num_threads() * (std::int64_t(1) << 19);
        at::set_num_threads(threads);
        QVERIFY(meta <= cpu);
        QVERIFY(static_cast<double>(cpu - meta) <= 0.02 * static_cast<double>(cpu) + static_cast<double>(workspace));
    }

    void theShippedModelIsPlannedOnMetaInNoTime()
    {
        memory::Ledger &ledger = **memory::attachLedger(torch::kMeta);
        const std::int64_t base = ledger.total();
        model::MmditConfig config;             // 11 billion parameters
        config.fusedQkv = false;
        config.useLigerRope = true;
        {
            model::Mmdit mmdit(config, torch::TensorOptions(torch::kBFloat16).device(torch::kMeta));
            QCOMPARE(ledger.total() - base, 2 * model::parameterCount(config));
            QCOMPARE(model::parameterCount(config), std::int64_t(11891178560));
            const model::MmditInput input = reference::randomInput(config, 1, 1536, 512, torch::TensorOptions(torch::kBFloat16).device(torch::kMeta));
            QElapsedTimer timer;
            timer.start();
            mmdit->forward(input, {{8, 100}, nullptr, nullptr}).square().mean().backward();
            qInfo("one step on meta: %lld ms, peak %.1f GiB", static_cast<long long>(timer.elapsed()), static_cast<double>(ledger.snapshot().peakTotal) / (1 << 30));
        }
        QCOMPARE(ledger.total(), base);
        QVERIFY(memory::attachLedger(torch::kCPU).ok());
    }

    void blocksAppearInTheLedger()
    {
        memory::Ledger &ledger = **memory::attachLedger(torch::kCPU);
        const model::Mmdit mmdit(reference::tinyConfig());
        const model::MmditInput input = reference::randomInput(mmdit->config(), 1, 50, 5);
        ledger.setPerBlock(true);
        const Tensor out = model::Mmdit(mmdit)->forward(input, {{1, 1}, nullptr, nullptr});
        const auto byBlock = ledger.snapshot().byBlock;
        ledger.setPerBlock(false);
        QVERIFY(byBlock.size() >= 5);          // more where a deeper model ran in this process before
        QVERIFY(byBlock[1] < byBlock[2]);      // double block 0 is checkpointed, 1 is not
        QVERIFY(byBlock[3] < byBlock[4]);
        QCOMPARE(model::blockName(mmdit->config(), 3), std::string("single block 1"));
    }

    // --- what is refused ---

    void missingAndMisshapenInputsAreNamed()
    {
        model::MmditConfig config = reference::tinyConfig();
        config.guidanceEmbed = true;
        const model::Mmdit mmdit(config);
        const model::MmditInput good = reference::randomInput(config, 2, 12, 3);
        const auto refusedWith = [&](const std::function<void(model::MmditInput &)> &change) {
            model::MmditInput input = good;
            change(input);
            return refusal([&] { model::Mmdit(mmdit)->forward(input); });
        };
        const std::string refused = refusedWith([](auto &) {});
        QVERIFY2(refused.empty(), refused.c_str());
        QVERIFY(refusedWith([](auto &i) { i.cond.reset(); }).find("cond") != std::string::npos);
        QVERIFY(refusedWith([](auto &i) { i.guidance.reset(); }).find("guidance") != std::string::npos);
        QVERIFY(refusedWith([](auto &i) { i.img.reset(); }).find("img") != std::string::npos);
        QVERIFY(refusedWith([](auto &i) { i.txt = torch::zeros({3, 3, 20}); }).find("txt") != std::string::npos);
        QVERIFY(refusedWith([](auto &i) { i.timesteps = torch::zeros({2, 1}); }).find("timesteps") != std::string::npos);
        QVERIFY(refusedWith([](auto &i) { i.imgIds = torch::zeros({2, 11, 3}); }).find("[2, 12, 3]") != std::string::npos);
    }

    void impossibleSizesAreRefused_data()
    {
        QTest::addColumn<QString>("named");
        QTest::addColumn<int>("which");
        const char *names[] = {"num_heads", "axes_dim", "axes_dim", "axes_dim", "hidden_size", "mlp_ratio", "theta", "depth", "in_channels"};
        for (int i = 0; i < 9; ++i)
            QTest::newRow(qPrintable(QStringLiteral("%1 %2").arg(i).arg(QString::fromUtf8(names[i])))) << QString::fromUtf8(names[i]) << i;
    }
    void impossibleSizesAreRefused()
    {
        QFETCH(QString, named);
        QFETCH(int, which);
        model::MmditConfig c = reference::tinyConfig();
        QVERIFY(model::validate(c).ok());
        switch (which) {
        case 0: c.numHeads = 5; break;
        case 1: c.axesDim = {4, 6, 8}; break;
        case 2: c.axesDim = {5, 5, 6}; break;
        case 3: c.axesDim = {8, 8}; break;
        case 4: c.hiddenSize = 0; break;
        case 5: c.mlpRatio = 0; break;
        case 6: c.theta = -1; break;
        case 7: c.depth = -1; break;
        case 8: c.inChannels = -3; break;
        }
        const Status status = model::validate(c);
        QVERIFY(!status.ok());
        QVERIFY2(status.error().problem.path.find("model." + named.toStdString()) == 0, status.error().message().c_str());
        QVERIFY(!refusal([&] { model::Mmdit{c}; }).empty());
    }

    void countsOfParametersEqualTheKnownOnes()
    {
        model::MmditConfig c = reference::tinyConfig();
        QCOMPARE(model::parameterCount(c), std::int64_t(461968));
        c.guidanceEmbed = true;
        QCOMPARE(model::parameterCount(c), std::int64_t(482576));
        model::MmditConfig shipped;
        shipped.condEmbed = true;
        QCOMPARE(model::parameterCount(shipped), std::int64_t(11891390528));
        shipped.inChannels = 128;
        shipped.patchSize = 1;
        QCOMPARE(model::parameterCount(shipped), std::int64_t(11891971200));
    }

    void everyDeviceTakesItsFusedAttention()
    {
        using model::AttentionKernel;
        QCOMPARE(model::attentionKernel(torch::kCPU, torch::kFloat32, 12), AttentionKernel::FlashCpu);
        QCOMPARE(model::attentionKernel(torch::kCUDA, torch::kBFloat16, 128), AttentionKernel::FlashCuda);
        QCOMPARE(model::attentionKernel(torch::kCUDA, torch::kFloat32, 128), AttentionKernel::EfficientCuda);
        QCOMPARE(model::attentionKernel(torch::kCUDA, torch::kBFloat16, 12), AttentionKernel::Math);
        QCOMPARE(model::attentionKernel(torch::kXPU, torch::kBFloat16, 128), AttentionKernel::Math);
    }
};

QTEST_GUILESS_MAIN(MmditModelTest)
#include "mmdit_model_test.moc"
