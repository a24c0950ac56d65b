// Which blocks are checkpointed and what is offloaded, against recordings of Open-Sora's own model. Driven by the golden files.
#include <QTest>

#include "core/memory/step_memory.h"
#include "tests/numerics/mmdit/golden_tensors.h"
#include "tests/support/golden.h"

using namespace stagewright;
using golden::TensorFile;
using torch::Tensor;

namespace {

// Counts how often each block ran.
class Runs : public memory::BlockObserver
{
public:
    explicit Runs(const model::MmditConfig &config) : m_config(config) {}
    void blockBegins(int block, memory::BlockPass) override { ++m_begun[name(block)]; }
    void blockEnds(int block, memory::BlockPass) override { ++m_ended[name(block)]; }
    std::vector<std::string> ranTimes(int times) const
    {
        std::vector<std::string> names;
        for (int block = 0; block < m_config.blocks(); ++block) {
            const auto found = m_ended.find(name(block));
            if (found != m_ended.end() && found->second == times)
                names.push_back(found->first);
        }
        return names;
    }

private:
    std::string name(int block) const { return block < m_config.depth ? fmt::format("double.{}", block) : fmt::format("single.{}", block - m_config.depth); }
    model::MmditConfig m_config;
    std::map<std::string, int> m_begun, m_ended;
};

std::optional<std::vector<std::int64_t>> settingsOf(const nlohmann::json &value)
{
    if (value.is_number())
        return std::vector<std::int64_t>{value.get<std::int64_t>()};
    if (!value.is_array())
        return std::nullopt;               // null, or the sentence that says the key is absent
    return value.get<std::vector<std::int64_t>>();
}

std::map<std::string, Tensor> gradients(const model::Mmdit &mmdit)
{
    std::map<std::string, Tensor> result;
    for (const auto &parameter : mmdit->named_parameters())
        result[parameter.key()] = parameter.value().grad().clone();
    return result;
}

bool isShared(const std::string &name) { return name.rfind("time_in", 0) == 0 || name.rfind("vector_in", 0) == 0 || name.rfind("guidance_in", 0) == 0; }

} // namespace

class GradCkptTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        torch::set_num_threads(1);
        m_golden = support::readJson(support::goldenFolder("grad_ckpt") / "settings.json");
        m_file = golden::readTensors(support::goldenFolder("grad_ckpt") / "model.safetensors");
        m_config = golden::configOf(m_golden.at("case").at("cfg"));
        m_mmdit = golden::modelOf(m_config, torch::kFloat32, m_file);
        m_plain = step({});
    }

    void plainGradientsEqualTheOriginal()
    {
        for (const auto &[name, gradient] : m_plain)
            QVERIFY2(golden::relativeL2(gradient, m_file.at("grad." + name)) <= 1e-5, name.c_str());
    }

    void everySettingChecksTheOriginalsBlocksAndKeepsGradients_data()
    {
        QTest::addColumn<int>("row");
        for (std::size_t i = 0; i < m_golden.at("settings").size(); ++i) {
            const auto &row = m_golden.at("settings")[i];
            if (!row.contains("grad_checkpoint"))
                continue;                      // rows about misspelt keys and frozen embedders: see the config tests and the test below
            QTest::newRow(qPrintable(QStringLiteral("%1 %2").arg(i).arg(QString::fromStdString(row.at("label").get<std::string>())))) << static_cast<int>(i);
        }
        QVERIFY(!m_golden.at("settings").empty());
    }

    void everySettingChecksTheOriginalsBlocksAndKeepsGradients()
    {
        QFETCH(int, row);
        const auto &golden = m_golden.at("settings")[static_cast<std::size_t>(row)];
        const bool on = golden.value("grad_checkpoint", true);
        const auto resolved = memory::resolveCheckpointDepth(on, settingsOf(golden.at("grad_ckpt_settings")), static_cast<int>(m_config.depth), static_cast<int>(m_config.depthSingleBlocks));
        if (!golden.contains("checkpointed")) {        // the original failed: so do we, but with a sentence
            QVERIFY(!resolved.ok());
            QVERIFY(resolved.error().message().find("grad_ckpt_settings") != std::string::npos);
            return;
        }
        QVERIFY2(resolved.ok(), resolved ? "" : resolved.error().message().c_str());
        Runs runs(m_config);
        const auto got = step({resolved->depth, nullptr, &runs});
        QCOMPARE(runs.ranTimes(2), golden.at("checkpointed").get<std::vector<std::string>>());
        QCOMPARE(runs.ranTimes(1), golden.at("plain").get<std::vector<std::string>>());
        compareWithPlain(got);
    }

    // The original loses these gradients without a word.
    void frozenEmbeddersCostNoGradientOfCheckpointedBlocks()
    {
        const auto frozenStep = [this](const memory::StepMemory &memory) {
            m_mmdit->zero_grad();
            for (auto &parameter : m_mmdit->named_parameters())
                parameter.value().set_requires_grad(parameter.key().find("_blocks.") != std::string::npos);
            model::MmditInput input = golden::inputOf(m_file);
            golden::lossOf(m_mmdit->forward(input, memory), m_file).backward();
            std::map<std::string, Tensor> result;
            for (auto &parameter : m_mmdit->named_parameters()) {
                if (parameter.value().requires_grad())
                    result[parameter.key()] = parameter.value().grad().clone();
                parameter.value().set_requires_grad(true);
            }
            return result;
        };
        const auto plain = frozenStep({});
        const auto checkpointed = frozenStep({{100, 100}});
        QVERIFY(!plain.empty());
        for (const auto &[name, gradient] : plain)
            QVERIFY2(torch::equal(gradient, checkpointed.at(name)), name.c_str());
    }

    void offloadMovesTheOriginalsStreamsAndKeepsGradients_data()
    {
        QTest::addColumn<int>("row");
        const auto golden = support::readJson(support::goldenFolder("grad_ckpt") / "offload_trace.json");
        for (std::size_t i = 0; i < golden.at("rows").size(); ++i)
            QTest::newRow(golden.at("rows")[i].at("grad_ckpt_settings").dump().c_str()) << static_cast<int>(i);
        QVERIFY(!golden.at("rows").empty());
    }

    // The original also pushes vec, which blocks share; we never do. So: the same set and sizes of streams, the same need at the end of forward.
    void offloadMovesTheOriginalsStreamsAndKeepsGradients()
    {
        QFETCH(int, row);
        const auto golden = support::readJson(support::goldenFolder("grad_ckpt") / "offload_trace.json").at("rows")[static_cast<std::size_t>(row)];
        model::MmditConfig config = m_config;
        config.depth = golden.at("depth");
        config.depthSingleBlocks = golden.at("depth_single");
        config.hiddenSize = golden.at("hidden");
        // Streams depend on the width alone; one head has room for three axes in any width from 6 on.
        config.numHeads = 1;
        config.axesDim = {2, 2, config.headDim() - 4};
        const std::int64_t batch = golden.at("B"), image = golden.at("L_img"), text = golden.at("L_txt");
        torch::manual_seed(1);
        model::Mmdit mmdit(config);
        const model::MmditInput input{torch::randn({batch, image, config.inChannels}), torch::zeros({batch, image, 3}), torch::randn({batch, text, config.contextInDim}),
                                      torch::zeros({batch, text, 3}), torch::rand({batch}), torch::randn({batch, config.vecInDim}), torch::randn({batch, image, config.condChannels()}), {}};
        const auto resolved = memory::resolveCheckpointDepth(true, settingsOf(golden.at("grad_ckpt_settings")), static_cast<int>(config.depth), static_cast<int>(config.depthSingleBlocks));
        QVERIFY(resolved.ok());
        const memory::CheckpointDepth depth = resolved->depth;
        const auto run = [&](memory::ActivationOffload *offload) {
            mmdit->zero_grad();
            if (offload)
                offload->beginStep();
            const Tensor loss = mmdit->forward(input, {depth, offload, nullptr}).square().mean();
            const std::int64_t need = offload ? offload->usedBytes() / 4 : 0;
            loss.backward();
            return std::pair{gradients(mmdit), need};
        };
        auto made = memory::makeOffloadBackend(torch::kCPU, 4 << 20);
        QVERIFY(made.ok());
        memory::ActivationOffload offload(std::move(*made), 1 << 20, torch::kFloat32, memory::OverflowPolicy::Error);
        std::multiset<std::vector<std::int64_t>> pushed, fetched, expected;
        offload.setTracer([&](bool push, at::IntArrayRef sizes, std::int64_t, std::int64_t) { (push ? pushed : fetched).insert(sizes.vec()); });
        const auto without = run(nullptr);
        const auto with = run(&offload);
        std::int64_t need = 0;
        for (const auto &entry : golden.at("log")) {
            const auto sizes = entry[1].get<std::vector<std::int64_t>>();
            if (entry[0] == "offload" && sizes.size() == 3) {
                expected.insert(sizes);
                need += sizes[0] * sizes[1] * sizes[2];
            }
        }
        QCOMPARE(pushed, expected);
        QCOMPARE(fetched, expected);
        QCOMPARE(with.second, need);
        if (depth.doubleBlocks + depth.singleBlocks >= 2)
            QCOMPARE(need, golden.at("peak_elements").get<std::int64_t>());
        QCOMPARE(need, memory::offloadNeedElements(depth.doubleBlocks + depth.singleBlocks, batch, image + text, config.hiddenSize));
        QCOMPARE(offload.counters().highWaterElements, need);
        QCOMPARE(offload.usedBytes(), std::int64_t(0));
        for (const auto &[name, gradient] : without.first)
            QVERIFY2(torch::equal(gradient, with.first.at(name)), name.c_str());
    }

private:
    std::map<std::string, Tensor> step(const memory::StepMemory &memory)
    {
        m_mmdit->zero_grad();
        golden::lossOf(m_mmdit->forward(golden::inputOf(m_file), memory), m_file).backward();
        return gradients(m_mmdit);
    }

    // Bit-equal, but for the embedders of the vector that all blocks share: their gradient is summed in another order.
    void compareWithPlain(const std::map<std::string, Tensor> &got)
    {
        for (const auto &[name, gradient] : m_plain) {
            if (isShared(name))
                QVERIFY2((gradient - got.at(name)).abs().max().item<double>() <= 1e-6, name.c_str());
            else
                QVERIFY2(torch::equal(gradient, got.at(name)), name.c_str());
        }
    }

    nlohmann::json m_golden;
    TensorFile m_file;
    model::MmditConfig m_config;
    model::Mmdit m_mmdit{nullptr};
    std::map<std::string, Tensor> m_plain;
};

QTEST_GUILESS_MAIN(GradCkptTest)
#include "grad_ckpt_test.moc"
