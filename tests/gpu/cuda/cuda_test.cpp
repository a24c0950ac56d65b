// What needs a GPU: skipped with the reason (exit code 77) where there is none.
#include <cstdio>

#include <QTest>

#include "core/memory/device.h"
#include "core/memory/device_module.h"
#include "core/memory/ledger.h"
#include "core/model/mmdit.h"

using namespace stagewright;
using torch::Tensor;

namespace {

model::MmditConfig tiny()
{
    model::MmditConfig config;
    config.inChannels = 16;
    config.vecInDim = 8;
    config.contextInDim = 12;
    config.hiddenSize = 64;
    config.numHeads = 4;
    config.axesDim = {4, 6, 6};
    config.depth = 2;
    config.depthSingleBlocks = 2;
    config.useLigerRope = true;
    return config;
}

model::MmditInput inputOn(torch::Device device, torch::Dtype dtype)
{
    torch::manual_seed(1);
    const auto on = [&](const Tensor &t) { return t.to(device, dtype); };
    return {on(torch::randn({2, 24, 16})), on(torch::randint(0, 5, {2, 24, 3})), on(torch::randn({2, 8, 12})), on(torch::zeros({2, 8, 3})), on(torch::rand({2})), on(torch::randn({2, 8})), {}, {}};
}

std::map<std::string, Tensor> step(model::Mmdit &mmdit, const model::MmditInput &input, const memory::StepMemory &memory = {})
{
    mmdit->zero_grad();
    mmdit->forward(input, memory).to(torch::kFloat32).square().mean().backward();
    std::map<std::string, Tensor> result;
    for (const auto &parameter : mmdit->named_parameters())
        result[parameter.key()] = parameter.value().grad().to(torch::kCPU, torch::kFloat64);
    return result;
}

} // namespace

class CudaTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        const auto attached = memory::attachLedger(m_device);
        QVERIFY2(attached.ok(), attached ? "" : attached.error().message().c_str());
        torch::manual_seed(2);
        m_cpu = model::Mmdit(tiny());
        m_gpu = model::Mmdit(tiny(), torch::TensorOptions(m_device));
        torch::NoGradGuard unrecorded;
        for (auto &parameter : m_gpu->named_parameters())
            parameter.value().copy_(m_cpu->named_parameters()[parameter.key()]);
    }

    void gradientsEqualTheCpus()
    {
        const auto cpu = step(m_cpu, inputOn(torch::kCPU, torch::kFloat32)), gpu = step(m_gpu, inputOn(m_device, torch::kFloat32));
        for (const auto &[name, gradient] : cpu)
            QVERIFY2((gradient - gpu.at(name)).norm().item<double>() <= 1e-3 * gradient.norm().item<double>(), name.c_str());
    }

    void offloadChangesNoGradient()
    {
        auto backend = memory::makeOffloadBackend(m_device, 4 << 20);
        QVERIFY(backend.ok());
        memory::ActivationOffload offload(std::move(*backend), 1 << 20, torch::kFloat32, memory::OverflowPolicy::Error);
        const model::MmditInput input = inputOn(m_device, torch::kFloat32);
        for (int i = 0; i < 3; ++i) {
            const auto without = step(m_gpu, input, {{2, 2}, nullptr, nullptr});
            offload.beginStep();
            const auto with = step(m_gpu, input, {{2, 2}, &offload, nullptr});
            for (const auto &[name, gradient] : without)
                QVERIFY2((gradient - with.at(name)).norm().item<double>() <= 1e-5 * gradient.norm().item<double>(), name.c_str());
        }
        QVERIFY(offload.pinnedBytes() > 0);
        QVERIFY(offload.counters().stallSeconds >= 0);
    }

    void ledgerAgreesWithTheCachingAllocator()
    {
        const memory::DeviceModule *module = *memory::loadDeviceModule();
        memory::DeviceMemory before{}, after{};
        QCOMPARE(module->memory(0, &before), 0);
        const std::int64_t counted = memory::ledger().total();
        const Tensor t = torch::empty({1 << 20}, torch::TensorOptions(m_device));
        QCOMPARE(module->memory(0, &after), 0);
        QCOMPARE(memory::ledger().total() - counted, after.allocated - before.allocated);
    }

private:
    torch::Device m_device{torch::kCUDA, 0};
    model::Mmdit m_cpu{nullptr}, m_gpu{nullptr};
};

int main(int argc, char **argv)
{
    if (const auto module = memory::loadDeviceModule(); !module) {
        std::printf("SKIP: %s\n", module.error().message().c_str());
        return 77;
    }
    CudaTest test;
    return QTest::qExec(&test, argc, argv);
}
#include "cuda_test.moc"
