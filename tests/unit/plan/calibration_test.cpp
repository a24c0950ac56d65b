// What measured runs leave behind, and what is made of it.
#include <QTest>

#include <QTemporaryDir>

#include <fstream>

#include "core/plan/calibration.h"

using namespace stagewright;

namespace {

plan::Measurement measured(std::int64_t predicted, std::int64_t taken, std::int64_t limit = 1000)
{
    return {.time = 1, .device = "a device", .dtype = "fp32", .bucket = "64px/9", .predictedPeak = predicted, .measuredPeak = taken, .predictedSeconds = 1, .measuredSeconds = 2, .updates = 5,
            .limitBytes = limit};
}

plan::Measurement ranOut(std::int64_t predicted, std::int64_t limit)
{
    auto m = measured(predicted, limit, limit);
    m.outOfMemory = true;
    return m;
}

} // namespace

Q_DECLARE_METATYPE(plan::Measurement)

class CalibrationTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsBackWhatWasAdded();
    void skipsDamagedLines();
    void keepsTheNewestWhereTheFileGrows();
    void saysWhyItCannotBeKept();
    void readsAgainOnlyWhatChanged();
    void scores_data();
    void scores();
    void bandIsThatOfTheDeviceAndDtype();
    void ratesFollowTheMedian();

private:
    std::filesystem::path file() const { return m_folder.filePath(QString::fromLatin1(QTest::currentTestFunction())).toStdString(); }
    QTemporaryDir m_folder;
};

void CalibrationTest::readsBackWhatWasAdded()
{
    QVERIFY(plan::readMeasurements(file()).empty());
    QVERIFY(plan::addMeasurements({measured(100, 101)}, file()).ok());
    QVERIFY(plan::addMeasurements({ranOut(900, 800), measured(7, 8)}, file()).ok());
    const auto all = plan::readMeasurements(file());
    QCOMPARE(all.size(), std::size_t(3));
    QCOMPARE(all[0].measuredPeak, 101);
    QCOMPARE(QString::fromStdString(all[1].device), QStringLiteral("a device"));
    QVERIFY(all[1].outOfMemory);
    QCOMPARE(all[1].limitBytes, 800);
    QCOMPARE(all[2].updates, 5);
}

void CalibrationTest::skipsDamagedLines()
{
    QVERIFY(plan::addMeasurements({measured(100, 101)}, file()).ok());
    std::ofstream(file(), std::ios::app) << "{\"measured_peak_bytes\": 12\n\nnot JSON\n{\"measured_peak_bytes\":\"twelve\"}\n{\"measured_peak_bytes\":0}\n{\"predicted_peak_bytes\":3}\n";
    QVERIFY(plan::addMeasurements({measured(5, 6)}, file()).ok());
    const auto all = plan::readMeasurements(file());
    QCOMPARE(all.size(), std::size_t(2));
    QCOMPARE(all[1].predictedPeak, 5);
}

void CalibrationTest::keepsTheNewestWhereTheFileGrows()
{
    const std::vector<plan::Measurement> many(3000, measured(1, 2));
    for (int i = 0; i < 6; ++i)
        QVERIFY(plan::addMeasurements(many, file()).ok());
    QVERIFY(plan::addMeasurements({measured(77, 78)}, file()).ok());
    const auto all = plan::readMeasurements(file());
    QCOMPARE(all.size(), std::size_t(2000));
    QCOMPARE(all.back().predictedPeak, 77);
    QVERIFY2(std::filesystem::file_size(file()) < (4u << 20), "an old file is cut");
}

void CalibrationTest::saysWhyItCannotBeKept()
{
    const auto kept = plan::addMeasurements({measured(1, 2)}, file() / "no" / "such" / "folder");
    QVERIFY(!kept.ok());
    QCOMPARE(kept.error().exit, ExitCode::InputOutput);
}

void CalibrationTest::readsAgainOnlyWhatChanged()
{
    plan::MeasurementFile remembered(file());
    QVERIFY(remembered.now().empty());
    QVERIFY(plan::addMeasurements({measured(1, 2)}, file()).ok());
    QCOMPARE(remembered.now().size(), std::size_t(1));
    QCOMPARE(remembered.now().size(), std::size_t(1));
    QCOMPARE(remembered.timesRead(), 1);
    QVERIFY(plan::addMeasurements({measured(3, 4)}, file()).ok());
    QCOMPARE(remembered.now().size(), std::size_t(2));
    QCOMPARE(remembered.timesRead(), 2);
    std::filesystem::remove(file());
    QVERIFY(remembered.now().empty());
}

void CalibrationTest::scores_data()
{
    using All = QList<plan::Measurement>;
    QTest::addColumn<All>("all");
    QTest::addColumn<double>("median");
    QTest::addColumn<double>("worst");
    QTest::addColumn<qint64>("under");
    QTest::addColumn<qint64>("alarms");
    QTest::newRow("nothing") << All{} << 0.0 << 0.0 << qint64(0) << qint64(0);
    QTest::newRow("right") << All{measured(100, 100)} << 0.0 << 0.0 << qint64(0) << qint64(0);
    QTest::newRow("too high") << All{measured(110, 100)} << 0.1 << 0.1 << qint64(0) << qint64(0);
    QTest::newRow("too low") << All{measured(90, 100)} << 0.1 << 0.1 << qint64(1) << qint64(0);
    QTest::newRow("within 1 % is no under-estimate") << All{measured(995, 1000, 2000)} << 0.005 << 0.005 << qint64(0) << qint64(0);
    QTest::newRow("median of three") << All{measured(100, 100), measured(130, 100), measured(98, 100)} << 0.02 << 0.3 << qint64(1) << qint64(0);
    QTest::newRow("fitted against the prediction") << All{measured(1100, 1000, 1050)} << 0.1 << 0.1 << qint64(0) << qint64(1);
    QTest::newRow("ran out against the prediction") << All{ranOut(900, 1000)} << 0.0 << 0.0 << qint64(1) << qint64(0);
    QTest::newRow("ran out as predicted") << All{ranOut(1100, 1000)} << 0.0 << 0.0 << qint64(0) << qint64(0);
}

void CalibrationTest::scores()
{
    QFETCH(QList<plan::Measurement>, all);
    QFETCH(double, median);
    QFETCH(double, worst);
    QFETCH(qint64, under);
    QFETCH(qint64, alarms);
    const auto score = plan::score({all.begin(), all.end()});
    QCOMPARE(score.runs, all.size());
    QVERIFY(std::abs(score.median - median) < 1e-9);
    QVERIFY(std::abs(score.worst - worst) < 1e-9);
    QCOMPARE(score.underEstimates, under);
    QCOMPARE(score.falseAlarms, alarms);
}

void CalibrationTest::bandIsThatOfTheDeviceAndDtype()
{
    std::vector<plan::Measurement> all(4, measured(102, 100));
    QVERIFY2(!plan::measuredBand(all, "a device", "fp32"), "four are too few");
    all.push_back(measured(97, 100));
    all.push_back(ranOut(10, 1000));
    const auto band = plan::measuredBand(all, "a device", "fp32");
    QVERIFY(band);
    QVERIFY(std::abs(band->fraction - 0.03) < 1e-9);
    QVERIFY(!plan::measuredBand(all, "a device", "bf16"));
    QVERIFY(!plan::measuredBand(all, "another", "fp32"));
    all.insert(all.end(), 100, measured(100, 100));
    QVERIFY2(plan::measuredBand(all, "a device", "fp32")->fraction < 0.01, "what is older than the newest hundred counts no more");
}

void CalibrationTest::ratesFollowTheMedian()
{
    config::TargetDevice device;
    device.name = "a device";
    device.halfFlops = 8;
    device.memoryRate = 4;
    auto slow = measured(1, 1), fast = measured(1, 1), other = measured(1, 1);
    slow.measuredSeconds = 2;                          // half of what the data sheet says
    fast.measuredSeconds = 0.001;
    other.device = "another";
    other.measuredSeconds = 100;
    QCOMPARE(plan::calibrated(device, {}).halfFlops, 8.0);
    QCOMPARE(plan::calibrated(device, {other}).halfFlops, 8.0);
    const auto mended = plan::calibrated(device, {slow, other, slow, fast});
    QCOMPARE(mended.halfFlops, 4.0);
    QCOMPARE(mended.memoryRate, 2.0);
}

QTEST_GUILESS_MAIN(CalibrationTest)
#include "calibration_test.moc"
