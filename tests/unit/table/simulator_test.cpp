// What-if answers are the assignment's own numbers, whatever the rules.
#include <QtTest/QtTest>

#include <random>

#include "core/table/random.h"
#include "core/table/simulator.h"

using namespace stagewright;
using namespace stagewright::table;

class SimulatorTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::shared_ptr<const Table> m_table;

    static BucketRules rulesOf(const std::vector<config::BucketRow> &rows, DataPolicy policy, double fpsMax)
    {
        auto rules = bucketRules(rows, 16, 42, fpsMax);
        if (!rules)
            qFatal("%s", rules.error().message().c_str());
        rules->policy = policy;
        return *rules;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QFile file(m_folder.filePath(QStringLiteral("t.csv")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("path,text,num_frames,height,width,fps\n");
        std::mt19937 random(7);
        const QByteArrayList frames{"1", "5", "16", "33", "128", "130", "257", "", "many", "-2", "0", "33.5"}, rates{"", "10", "23.976", "24", "24.01", "30", "60", "inf"};
        const QByteArrayList sizes{"0", "128", "240", "256", "480", "512", "720", "1080", ""};
        const auto any = [&](const QByteArrayList &list) { return list[static_cast<qsizetype>(random() % static_cast<unsigned>(list.size()))]; };
        for (int i = 0; i < 70'000; ++i)
            file.write("a.mp4,x," + any(frames) + ',' + any(sizes) + ',' + any(sizes) + ',' + any(rates) + '\n');
        file.close();
        const auto read = readTable(file.fileName().toStdString());
        QVERIFY2(read, read ? "" : read.error().message().c_str());
        m_table = *read;
    }

    void drawsManyAtOnceAsOneByOne()
    {
        for (const std::uint64_t seed : {std::uint64_t(0), std::uint64_t(42), std::uint64_t(0xfffffff0), ~std::uint64_t(0) - 5}) {
            std::vector<double> many(77 * 2);
            firstUniforms(seed, 13, 2, many);
            for (std::size_t i = 0; i < many.size(); i += 2) {
                Pcg64 one(seed + i / 2 * 13);
                QCOMPARE(many[i], one.uniform());
                QCOMPARE(many[i + 1], one.uniform());
            }
        }
    }

    void saysWhatTheAssignmentSays_data()
    {
        QTest::addColumn<int>("rules");
        QTest::addColumn<bool>("keep");
        QTest::addColumn<int>("epoch");
        QTest::addColumn<int>("world");
        for (int rules = 0; rules < 4; ++rules) {
            for (const bool keep : {false, true}) {
                for (const int world : {1, 3, 8})
                    QTest::addRow("rules %d, %s, world %d", rules, keep ? "keep" : "original", world) << rules << keep << (world == 3 ? 2 : 0) << world;
            }
        }
    }
    void saysWhatTheAssignmentSays()
    {
        QFETCH(int, rules);
        QFETCH(bool, keep);
        QFETCH(int, epoch);
        QFETCH(int, world);
        const std::vector<std::vector<config::BucketRow>> all{
            {{"256px", 33, 1.0, {}, 4}},
            {{"256px", 1, 1.0, {}, 64}, {"256px", 33, 1.0, {}, 4}, {"768px", 33, 0.3, {}, 2}, {"768px", 129, 0.5, 0.4, 1}},
            {{"480p", 1, 0.0, {}, 3}, {"480p", 5, 0.7, 0.6, 5}, {"480p", 16, 1.0, 1.0, 2}, {"128px", 33, 0.5, {}, 7}},
            {{"1080p", 129, 1.0, {}, 100'000}, {"256px_ar1:1", 257, 1.0, {}, 1}}};
        const BucketRules wanted = rulesOf(all[static_cast<std::size_t>(rules)], keep ? DataPolicy::Keep : DataPolicy::Original, 24);
        Simulator simulator(m_table);
        (void)simulator.simulate(rulesOf({{"256px", 1, 0.5, {}, 1}}, DataPolicy::Original, 16), 1, 1);        // other rules before leave nothing behind
        const Simulation simulated = simulator.simulate(wanted, epoch, world);
        const BucketPlan plan = assignBuckets(*m_table, wanted, epoch);
        QCOMPARE(simulated.rows, plan.rows);
        QCOMPARE(simulated.kept, plan.kept);
        QCOMPARE(simulated.retimed, plan.retimed.count);
        QCOMPARE(simulated.batches, plan.batches());
        QCOMPARE(simulated.batchesPerRank, plan.batchesPerRank(world));
        QCOMPARE(simulated.use.lost, plan.use(world).lost);
        QCOMPARE(simulated.use.repeated, plan.use(world).repeated);
        std::int64_t dropped = 0;
        for (std::size_t reason = 0; reason < kDropReasons; ++reason) {
            QCOMPARE(simulated.dropped[reason], plan.drops[reason].count);
            dropped += simulated.dropped[reason];
            const auto rows = simulator.droppedRows(wanted, epoch, static_cast<DropReason>(reason), 0, 3);
            const auto &first = plan.drops[reason].firstRows;
            QCOMPARE(rows, std::vector<std::int64_t>(first.begin(), first.begin() + std::min<std::ptrdiff_t>(3, static_cast<std::ptrdiff_t>(first.size()))));
        }
        QCOMPARE(simulated.kept + dropped, simulated.rows);
        for (const Bucket &bucket : plan.buckets) {
            const auto at = std::find_if(simulated.buckets.begin(), simulated.buckets.end(), [&](const SimulatedBucket &cell) {
                return cell.bucket.resolution == bucket.resolution && cell.bucket.frames == bucket.frames && cell.bucket.aspectRatio == bucket.aspectRatio;
            });
            QVERIFY(at != simulated.buckets.end());
            QCOMPARE(at->samples, bucket.samples());
            QCOMPARE(at->batches(), bucket.batches());
            QCOMPARE(at->firstRow, bucket.rows.front());
            const auto rows = simulator.rowsOfBucket(wanted, epoch, static_cast<std::size_t>(at - simulated.buckets.begin()), 1, 2);
            for (std::size_t i = 0; i < rows.size(); ++i)
                QCOMPARE(rows[i], bucket.rows[i + 1]);
        }
    }
};

QTEST_GUILESS_MAIN(SimulatorTest)
#include "simulator_test.moc"
