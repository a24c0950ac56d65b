// The generators against numbers that numpy, torch and Python printed.
#include <QtTest/QtTest>

#include "core/table/random.h"

using namespace stagewright::table;

class RandomTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void drawsWhatNumpyDraws_data()
    {
        QTest::addColumn<qulonglong>("seed");
        QTest::addColumn<QList<double>>("draws");
        QTest::newRow("0") << 0ULL << QList<double>{0.6369616873214543, 0.2697867137638703, 0.04097352393619469};
        QTest::newRow("1") << 1ULL << QList<double>{0.5118216247002567, 0.9504636963259353, 0.14415961271963373};
        QTest::newRow("42") << 42ULL << QList<double>{0.7739560485559633, 0.4388784397520523, 0.8585979199113825};
        QTest::newRow("2562") << 2562ULL << QList<double>{0.9806894964962455, 0.5533948615760321, 0.9191120094832645};
        QTest::newRow("more than 32 bits") << 123456789012345ULL << QList<double>{0.5300069678854166, 0.04444209412953748, 0.7573609912250263};
    }
    void drawsWhatNumpyDraws()
    {
        QFETCH(qulonglong, seed);
        QFETCH(QList<double>, draws);
        Pcg64 generator(seed);
        for (const double expected : draws)
            QCOMPARE(generator.uniform(), expected);
    }

    void severalNumbersSeedDifferently()
    {
        const std::array<std::uint64_t, 1> one{42};
        Pcg64 same(one), plain(42);
        QCOMPARE(same.next(), plain.next());
        const std::array<std::uint64_t, 2> two{42, 1};
        QVERIFY(Pcg64(two).next() != Pcg64(42).next());
    }

    void staysInsideItsBounds()
    {
        Pcg64 generator(3);
        std::array<int, 5> seen{};
        for (int i = 0; i < 1000; ++i) {
            const auto draw = generator.between(-2, 2);
            QVERIFY(draw >= -2 && draw <= 2);
            ++seen[static_cast<std::size_t>(draw + 2)];
        }
        for (const int count : seen)
            QVERIFY(count > 120);
        QCOMPARE(generator.between(7, 7), 7);
    }

    void permutesAsTorchDoes()
    {
        TorchPermuter permuter(42);
        QCOMPARE(permuter.permutation(10), (std::vector<std::int32_t>{2, 6, 1, 8, 4, 5, 0, 9, 3, 7}));
        auto thousand = permuter.permutation(1000);
        thousand.resize(10);
        QCOMPARE(thousand, (std::vector<std::int32_t>{113, 41, 514, 864, 478, 696, 92, 105, 751, 479}));
        QCOMPARE(permuter.permutation(1), std::vector<std::int32_t>{0});
        QVERIFY(permuter.permutation(0).empty());
        QCOMPARE(permuter.permutation(7), (std::vector<std::int32_t>{2, 0, 1, 3, 4, 5, 6}));
    }

    // random.seed(S); [random.randint(0, 99) for _ in range(5)] of Python 3.
    void drawsWhatPythonDraws()
    {
        PythonRandom zero(0);
        for (const std::int64_t expected : {49, 97, 53, 5, 33})
            QCOMPARE(zero.randint(0, 99), expected);
        PythonRandom large(1234567890123);
        for (const std::int64_t expected : kLargeSeed)
            QCOMPARE(large.randint(0, 99), expected);
    }

private:
    static constexpr std::array<std::int64_t, 5> kLargeSeed{94, 25, 79, 81, 55};
};

QTEST_GUILESS_MAIN(RandomTest)
#include "random_test.moc"
