// Which device a run gets, on a machine with or without a GPU.
#include <QTest>

#include "core/memory/device.h"
#include "core/memory/device_module.h"

using namespace stagewright;
using namespace stagewright::memory;

class DeviceTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theCpuIsAlwaysThere()
    {
        const auto chosen = chooseDevice("cpu");
        QVERIFY(chosen.ok());
        QVERIFY(chosen->device.is_cpu());
        QVERIFY(!chosen->reason.empty() && !chosen->name.empty());
        QVERIFY(chosen->totalBytes > 0);
    }

    void automaticChoiceSaysWhy()
    {
        const auto chosen = chooseDevice("auto");
        QVERIFY(chosen.ok());
        const auto module = loadDeviceModule();
        QCOMPARE(chosen->device.is_cuda(), module.ok());
        if (!module)
            QVERIFY(chosen->reason.find(module.error().message()) != std::string::npos);
    }

    void aGpuThatIsNotThereIsAnError()
    {
        const auto module = loadDeviceModule();
        const auto chosen = chooseDevice(module ? "cuda:999" : "cuda");
        QVERIFY(!chosen.ok());
        QCOMPARE(chosen.error().exit, ExitCode::Usage);
        if (!module)
            QVERIFY(chosen.error().message().find("auto or cpu") != std::string::npos);
    }

    void whatIsNoDeviceIsRefused_data()
    {
        QTest::addColumn<QString>("option");
        for (const char *option : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "CUDA", "cpu:0"})
            QTest::newRow(option) << QString::fromUtf8(option);
    }
    void whatIsNoDeviceIsRefused()
    {
        QFETCH(QString, option);
        const auto chosen = chooseDevice(option.toStdString());
        QVERIFY(!chosen.ok());
        QVERIFY(chosen.error().message().find("auto, cpu, cuda, cuda:N") != std::string::npos);
    }

    void metaStandsForTheCpuUnlessToldOtherwise()
    {
        const torch::Tensor meta = torch::empty({1}, torch::kMeta);
        QCOMPARE(operatorDevice(meta), torch::kCPU);
        setMetaStandsFor(torch::kCUDA);
        QCOMPARE(operatorDevice(meta), torch::kCUDA);
        QCOMPARE(operatorDevice(torch::empty({1})), torch::kCPU);
        setMetaStandsFor(torch::kCPU);
    }
};

QTEST_GUILESS_MAIN(DeviceTest)
#include "device_test.moc"
