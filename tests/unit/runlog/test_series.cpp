// Curves in bounded memory.
#include <QtTest>

#include <cmath>
#include <limits>
#include <random>

#include "core/base/host.h"
#include "core/runlog/series.h"

using namespace stagewright;
using namespace stagewright::runlog;

class TestSeries : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void fewPointsComeBackAsTheyAre();
    void everyPeakSurvivesTenMillionPoints();
    void noPointIsInvented();
    void aRangeHasItsNeighbours();
    void whatIsNotFiniteIsAGap();
    void xNeverGoesBack();
    void anEmptyRangeIsAnswered();
    void theStoreKeepsACurveForEveryMeasure();
    void stepsAndTimesAreFoundFromEachOther();
};

void TestSeries::fewPointsComeBackAsTheyAre()
{
    Series series;
    std::vector<Point> points;
    for (int i = 0; i < 1000; ++i) {
        points.push_back({double(i), std::sin(i * 0.1)});
        series.append(points.back().x, points.back().y);
    }
    QVERIFY(series.all(1000) == points);
    QCOMPARE(series.count(), std::int64_t(1000));
    QCOMPARE(series.first().x, 0.0);
    QCOMPARE(series.last().x, 999.0);
}

void TestSeries::everyPeakSurvivesTenMillionPoints()
{
    constexpr std::int64_t count = 10'000'000;
    Series series;
    const auto isPeak = [](std::int64_t i) { return i % 1'234'567 == 777; };
    const double start = steadySeconds();
    std::size_t mostMemory = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        series.append(double(i), isPeak(i) ? 100 + double(i) * 1e-6 : std::sin(double(i)));
        if (i % 100'000 == 0)
            mostMemory = std::max(mostMemory, series.memoryBytes());
    }
    const double took = steadySeconds() - start;
    QCOMPARE(series.count(), count);
    qInfo("10,000,000 points in %.2f s, %.1f MB", took, double(mostMemory) / 1e6);
    QVERIFY(mostMemory < 5'000'000);
    const double before = steadySeconds();
    const auto points = series.all(2000);
    qInfo("decimated to %zu points in %.2f ms", points.size(), (steadySeconds() - before) * 1e3);
    QVERIFY(points.size() <= 2004);
    for (std::int64_t i = 777; i < count; i += 1'234'567) {
        const Point peak{double(i), 100 + double(i) * 1e-6};
        QVERIFY2(std::find(points.begin(), points.end(), peak) != points.end(), "a peak is missing");
    }
    QVERIFY(std::is_sorted(points.begin(), points.end(), [](Point a, Point b) { return a.x < b.x; }));
    QCOMPARE(series.maximum(), 100 + double((count / 1'234'567) * 1'234'567 + 777) * 1e-6);
    // The newest points are exact.
    const auto newest = series.range(double(count - 1000), double(count), 2000);
    QVERIFY(newest.size() >= 1000);
}

void TestSeries::noPointIsInvented()
{
    std::mt19937 random(5);
    Series series(16, 8);
    std::vector<Point> all;
    for (int i = 0; i < 5000; ++i) {
        all.push_back({double(i), double(random() % 1000)});
        series.append(all.back().x, all.back().y);
        if (i % 97 != 0)
            continue;
        const auto some = series.all(50);
        QVERIFY(some.size() <= 54);
        double low = 1e9, high = -1e9, lowSeen = 1e9, highSeen = -1e9;
        for (const Point &point : all) {
            low = std::min(low, point.y);
            high = std::max(high, point.y);
        }
        for (const Point &point : some) {
            QVERIFY(point == all[std::size_t(point.x)]);
            lowSeen = std::min(lowSeen, point.y);
            highSeen = std::max(highSeen, point.y);
        }
        QCOMPARE(lowSeen, low);
        QCOMPARE(highSeen, high);
        QCOMPARE(some.back(), all.back());
    }
}

void TestSeries::aRangeHasItsNeighbours()
{
    Series series(64, 32);
    for (int i = 0; i < 50; ++i)
        series.append(i, i);
    const auto points = series.range(10, 20, 100);
    QCOMPARE(points.front().x, 9.0);
    QCOMPARE(points.back().x, 21.0);
    QCOMPARE(points.size(), std::size_t(13));
    QCOMPARE(series.range(100, 200, 10).size(), std::size_t(1));           // only the neighbour on the left
    QCOMPARE(series.range(-20, -10, 10).size(), std::size_t(1));
}

void TestSeries::whatIsNotFiniteIsAGap()
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    Series series;
    for (int i = 0; i < 100; ++i)
        series.append(i, i == 50 ? std::numeric_limits<double>::infinity() : i == 51 ? nan : i);
    QCOMPARE(series.notFinite(), std::int64_t(2));
    const auto points = series.all(1000);
    QVERIFY(std::isnan(points[50].y) && std::isnan(points[51].y));
    QCOMPARE(series.maximum(), 99.0);
    QCOMPARE(series.minimum(), 0.0);
    Series nothing(4, 2);
    for (int i = 0; i < 100; ++i)
        nothing.append(i, nan);
    for (const Point &point : nothing.all(10))
        QVERIFY(std::isnan(point.y));
    QVERIFY(std::isnan(nothing.maximum()));
}

void TestSeries::xNeverGoesBack()
{
    Series series;
    series.append(5, 1);
    series.append(3, 2);
    series.append(std::numeric_limits<double>::quiet_NaN(), 3);
    QCOMPARE(series.last(), (Point{5, 3}));
    QCOMPARE(series.all(10).size(), std::size_t(3));
}

void TestSeries::anEmptyRangeIsAnswered()
{
    const Series series;
    QVERIFY(series.all(10).empty());
    QVERIFY(series.range(1, 2, 0).empty());
    Series one;
    one.append(1, 1);
    QCOMPARE(one.all(0).size(), std::size_t(1));
}

void TestSeries::theStoreKeepsACurveForEveryMeasure()
{
    SeriesStore store;
    events::Step step;
    step.loss = 0.5;
    step.seconds = 2;
    step.samples = 4;
    step.peakByKind[std::size_t(MemoryKind::Gradient)] = 9;
    step.phaseSeconds[std::size_t(Phase::Forward)] = 0.25;
    store.append({10, 1, step});
    step.peakByKind[std::size_t(MemoryKind::Gradient)] = 0;
    store.append({12, 2, step});
    store.append({12, 2, events::Buffer{100, 50, 1, 0, 0.5, {}}});
    store.append({12, -1, events::Note{}});
    QCOMPARE(store.find("loss")->last(), (Point{2, 0.5}));
    QCOMPARE(store.find("samples_per_second")->last().y, 2.0);
    QCOMPARE(store.find("peak_bytes.gradient")->count(), std::int64_t(2));   // its zero is told too, once it was there
    QCOMPARE(store.find("phase.forward")->last().y, 0.25);
    QCOMPARE(store.find("buffer.high_water_bytes")->last().y, 50.0);
    QVERIFY(!store.find("peak_bytes.ema"));
    const auto names = store.names();
    QVERIFY(std::find(names.begin(), names.end(), "time") != names.end());
    store.clear();
    QVERIFY(store.names().empty());
}

void TestSeries::stepsAndTimesAreFoundFromEachOther()
{
    SeriesStore store;
    QVERIFY(std::isnan(store.timeOfStep(1)));
    for (int i = 1; i <= 100'000; ++i)
        store.append({1000.0 + 2.0 * i, i, events::Step{}});
    for (const double step : {1.0, 500.5, 77'777.0, 99'999.5, 100'000.0}) {
        QVERIFY(std::fabs(store.timeOfStep(step) - (1000 + 2 * step)) < 1e-6);
        QVERIFY(std::fabs(store.stepAtTime(1000 + 2 * step) - step) < 1e-6);
    }
    QCOMPARE(store.timeOfStep(-5), 1002.0);
    QCOMPARE(store.timeOfStep(1e9), 201'000.0);
}

QTEST_GUILESS_MAIN(TestSeries)
#include "test_series.moc"
