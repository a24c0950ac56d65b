// What happens to rows that no bucket takes, and to stages in which nothing would train.
#include <QtTest/QtTest>

#include <map>
#include <set>

#include "core/table/buckets.h"
#include "core/table/order.h"

using namespace stagewright;
using namespace stagewright::table;

namespace {

std::shared_ptr<const Table> tableWith(const QTemporaryDir &folder, const std::vector<std::string> &rows)
{
    const QString path = folder.filePath(QStringLiteral("t.csv"));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        qFatal("cannot write the table");
    file.write("path,text,num_frames,height,width,fps\n");
    for (const std::string &row : rows)
        file.write(QByteArray::fromStdString("a.mp4,x," + row + "\n"));
    file.close();
    const auto table = readTable(path.toStdString());
    if (!table)
        qFatal("%s", table.error().message().c_str());
    return *table;
}

BucketRules rulesOf(const std::vector<config::BucketRow> &rows, double fpsMax = 24)
{
    const auto rules = bucketRules(rows, 16, 42, fpsMax);
    if (!rules)
        qFatal("%s", rules.error().message().c_str());
    return *rules;
}

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

} // namespace

class BucketsTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

private Q_SLOTS:
    void saysWhyARowIsDropped_data()
    {
        QTest::addColumn<QByteArray>("row");
        QTest::addColumn<int>("reason");
        QTest::addColumn<QByteArrayList>("says");
        const auto row = [](const char *title, const char *cells, DropReason reason, QByteArrayList says) {
            QTest::newRow(title) << QByteArray(cells) << static_cast<int>(reason) << says;
        };
        row("too small", "129,200,200,24", DropReason::TooSmall, {"200x200 is 40000 pixels", "256px", "52429"});
        row("height 0", "129,0,512,24", DropReason::TooSmall, {"0 pixels"});
        row("too short", "128,512,512,24", DropReason::TooFewFrames, {"128 frames", "needs 129"});
        row("too short after resampling", "130,512,512,24.01", DropReason::TooFewAfterRate, {"130 frames at 24.01 fps -> 65 after resampling", "one frame in 2", "needs 129"});
        row("one frame above the limit", "1,512,512,30", DropReason::TooFewFrames, {"1 frame"});
        row("no frames", "0,512,512,24", DropReason::TooFewFrames, {"0 frames"});
        row("negative", "-1,512,512,24", DropReason::TooFewFrames, {"-1 frames"});
        row("empty frames", ",512,512,24", DropReason::MissingFrames, {"num_frames is empty"});
        row("words", "12 frames,512,512,24", DropReason::UnreadableValue, {"num_frames is \"12 frames\""});
        row("infinite rate", "129,512,512,inf", DropReason::InvalidRate, {"fps is infinite"});
        row("image without bucket", "1,512,512,", DropReason::NoImageBucket, {"one frame"});
    }
    void saysWhyARowIsDropped()
    {
        QFETCH(QByteArray, row);
        QFETCH(int, reason);
        QFETCH(QByteArrayList, says);
        const auto table = tableWith(m_folder, {"129,512,512,24", row.toStdString()});
        const BucketRules rules = rulesOf({{"256px", 129, 1.0, {}, 1}});
        const BucketPlan plan = assignBuckets(*table, rules, 0);
        QCOMPARE(plan.kept, 1);
        QCOMPARE(plan.drops[static_cast<std::size_t>(reason)].count, 1);
        QCOMPARE(plan.drops[static_cast<std::size_t>(reason)].firstRows, std::vector<std::int64_t>{1});
        const std::string sentence = explainDrop(*table, rules, plan, 1);
        for (const QByteArray &part : says)
            QVERIFY2(contains(sentence, part.toStdString()), sentence.c_str());
        QVERIFY(explainDrop(*table, rules, plan, 0).empty());
        QCOMPARE(dropProblems(*table, rules, plan).size(), std::size_t(1));
    }

    void dropsByDrawDifferFromEpochToEpoch()
    {
        std::vector<std::string> rows(200, "129,512,512,24");
        const auto table = tableWith(m_folder, rows);
        const BucketRules rules = rulesOf({{"256px", 129, 0.5, {}, 1}});
        const BucketPlan first = assignBuckets(*table, rules, 0), second = assignBuckets(*table, rules, 1);
        QVERIFY(first.kept > 70 && first.kept < 130);
        QVERIFY(first.bucketOfRow != second.bucketOfRow);
        QCOMPARE(first.drops[static_cast<std::size_t>(DropReason::NotDrawn)].count, 200 - first.kept);
        QVERIFY(dropProblems(*table, rules, first).empty());
    }

    void namesRatesAtTheEdge()
    {
        const auto table = tableWith(m_folder, {"130,512,512,24.0", "130,512,512,24.01", "130,512,512,25", "130,512,512,30"});
        const BucketPlan plan = assignBuckets(*table, rulesOf({{"256px", 129, 1.0, {}, 1}}), 0);
        QCOMPARE(plan.bucketOfRow, (std::vector<std::int32_t>{0, -1, -1, -1}));
        QCOMPARE(plan.drops[static_cast<std::size_t>(DropReason::TooFewAfterRate)].firstRows, (std::vector<std::int64_t>{1, 2, 3}));
    }

    void stopsWhereNothingWouldTrain_data()
    {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("batchSize");
        QTest::addColumn<int>("ranks");
        QTest::addColumn<QByteArrayList>("says");
        QTest::newRow("bucket smaller than its batch") << 3 << 4 << 1 << QByteArrayList{"no batch at all", "would work in all buckets is 3", "256px"};
        QTest::newRow("fewer batches than ranks") << 3 << 1 << 4 << QByteArrayList{"only 3 batches for 4 ranks", "fewer than the 4 ranks"};
        QTest::newRow("too large for the ranks") << 8 << 4 << 4 << QByteArrayList{"only 2 batches for 4 ranks", "would work in all buckets is 2"};
    }
    void stopsWhereNothingWouldTrain()
    {
        QFETCH(int, rows);
        QFETCH(int, batchSize);
        QFETCH(int, ranks);
        QFETCH(QByteArrayList, says);
        const auto table = tableWith(m_folder, std::vector<std::string>(static_cast<std::size_t>(rows), "1,256,256,"));
        const BucketPlan plan = assignBuckets(*table, rulesOf({{"256px", 1, 1.0, {}, batchSize}}), 0);
        const Status status = checkBatches(*table, plan, ranks);
        QVERIFY(!status);
        QCOMPARE(status.error().exit, ExitCode::Data);
        QCOMPARE(status.error().problem.code, std::string("data.no-batch"));
        for (const QByteArray &part : says)
            QVERIFY2(contains(status.error().message(), part.toStdString()), status.error().message().c_str());
    }

    void saysWhenNoRowFits()
    {
        const auto table = tableWith(m_folder, {"1,100,100,"});
        const BucketPlan plan = assignBuckets(*table, rulesOf({{"256px", 1, 1.0, {}, 1}}), 0);
        const Status status = checkBatches(*table, plan, 1);
        QVERIFY(!status);
        QVERIFY(contains(status.error().message(), "no row fits"));
        QVERIFY(contains(status.error().message(), "1 too_small (row 0)"));
    }

    void everyKeptRowTrainsOnceOrIsCounted()
    {
        std::vector<std::string> rows;
        for (int i = 0; i < 103; ++i)
            rows.push_back(std::to_string(1 + i % 40) + "," + (i % 3 ? "256,256," : "192,336,") + (i % 5 ? "24" : "12"));
        const auto table = tableWith(m_folder, rows);
        const BucketPlan plan = assignBuckets(*table, rulesOf({{"256px", 1, 1.0, {}, 2}, {"256px", 5, 1.0, {}, 3}, {"256px", 17, 0.5, {}, 2}}), 0);
        for (const std::int64_t world : {1, 2, 3, 7}) {
            std::multiset<std::int32_t> seen;
            for (std::int64_t rank = 0; rank < world; ++rank) {
                const BatchOrder order(plan, 0, world, rank);
                QCOMPARE(order.size(), plan.batchesPerRank(world));
                for (std::int64_t i = 0; i < order.size(); ++i) {
                    const auto entry = order.at(i);
                    seen.insert(entry.rows.begin(), entry.rows.end());
                    QCOMPARE(order.bucketRows(entry.bucket)[static_cast<std::size_t>(entry.firstInBucket)], entry.rows[0]);
                }
            }
            QCOMPARE(std::set<std::int32_t>(seen.begin(), seen.end()).size(), seen.size());
            QCOMPARE(static_cast<std::int64_t>(seen.size()) + plan.tailLost(world), plan.kept);
        }
    }

    void keepsWhatTheOriginalLosesWhenAsked_data()
    {
        QTest::addColumn<QByteArray>("row");
        QTest::addColumn<int>("frames");               // of the bucket under Keep; 0: dropped there too
        QTest::addColumn<int>("stride");
        QTest::addColumn<bool>("retimed");
        QTest::newRow("fits anyway") << QByteArray("130,512,512,24") << 129 << 1 << false;
        QTest::newRow("a little above the limit") << QByteArray("130,512,512,24.01") << 129 << 1 << true;
        QTest::newRow("far above the limit") << QByteArray("130,512,512,30") << 129 << 1 << true;
        QTest::newRow("thinned as far as it goes") << QByteArray("300,512,512,100") << 129 << 2 << true;
        QTest::newRow("one frame short") << QByteArray("128,512,512,24") << 129 << 1 << true;
        QTest::newRow("far too short") << QByteArray("60,512,512,24") << 0 << 1 << false;
        QTest::newRow("too small") << QByteArray("130,100,100,24") << 0 << 1 << false;
        QTest::newRow("a picture with a rate") << QByteArray("1,512,512,60") << 1 << 1 << true;
    }
    void keepsWhatTheOriginalLosesWhenAsked()
    {
        QFETCH(QByteArray, row);
        QFETCH(int, frames);
        QFETCH(int, stride);
        QFETCH(bool, retimed);
        const auto table = tableWith(m_folder, {row.toStdString()});
        BucketRules rules = rulesOf({{"256px", 129, 1.0, {}, 2}, {"256px", 1, 1.0, {}, 2}});
        rules.policy = DataPolicy::Keep;
        const BucketPlan plan = assignBuckets(*table, rules, 0);
        QCOMPARE(plan.kept, frames > 0 ? 1 : 0);
        QCOMPARE(plan.retimed.count, retimed ? 1 : 0);
        QVERIFY(frames > 0 || !explainDrop(*table, rules, plan, 0).empty());
        if (frames == 0)
            return;
        QCOMPARE(plan.buckets[0].frames, frames);
        QCOMPARE(plan.batchesPerRank(4), 1);
        QCOMPARE(frameRateFor(rules, table->number(NumberColumn::Fps, 0), table->number(NumberColumn::NumFrames, 0), frames)->stride, stride);
        rules.policy = DataPolicy::Original;
        QCOMPARE(assignBuckets(*table, rules, 0).kept, retimed ? 0 : 1);
    }

    void fillsTheLastBatchesWhenAsked()
    {
        std::vector<std::string> rows;
        for (int i = 0; i < 23; ++i)
            rows.push_back(i % 3 ? "129,512,512,24" : "33,512,256,24");
        const auto table = tableWith(m_folder, rows);
        BucketRules rules = rulesOf({{"256px", 129, 1.0, {}, 4}, {"256px", 33, 1.0, {}, 32}});
        rules.policy = DataPolicy::Keep;
        const BucketPlan plan = assignBuckets(*table, rules, 0);
        for (const std::int64_t world : {1, 2, 3, 8}) {
            std::map<std::int32_t, int> seen;
            std::int64_t places = 0;
            for (std::int64_t rank = 0; rank < world; ++rank) {
                const BatchOrder order(plan, 0, world, rank);
                QCOMPARE(order.size(), plan.batchesPerRank(world));
                for (std::int64_t i = 0; i < order.size(); ++i) {
                    const auto entry = order.at(i);
                    QCOMPARE(static_cast<std::int64_t>(entry.rows.size()), plan.buckets[static_cast<std::size_t>(entry.bucket)].batchSize);
                    for (const std::int32_t row : entry.rows)
                        ++seen[row], ++places;
                }
            }
            QCOMPARE(seen.size(), rows.size());
            QCOMPARE(plan.use(world).lost, 0);
            QCOMPARE(plan.use(world).repeated, places - plan.kept);
        }
        QVERIFY(contains(describePlan(plan, 1), "train twice"));
    }

    void fingerprintFollowsTableAndRules()
    {
        const auto table = tableWith(m_folder, {"1,256,256,"});
        const BucketRules rules = rulesOf({{"256px", 1, 1.0, {}, 1}});
        QCOMPARE(fingerprint(*table, rules), fingerprint(*table, rules));
        QVERIFY(fingerprint(*table, rules) != fingerprint(*table, rulesOf({{"256px", 1, 1.0, {}, 2}})));
        QVERIFY(fingerprint(*table, rules) != fingerprint(*table, rulesOf({{"256px", 1, 1.0, {}, 1}}, 16)));
        const auto other = tableWith(m_folder, {"1,256,257,"});
        QVERIFY(fingerprint(*table, rules) != fingerprint(*other, rules));
    }

    void refusesImpossibleResolutions()
    {
        const auto rules = bucketRules({{"256", 1, 1.0, {}, 1}}, 16, 42, 24);
        QVERIFY(!rules);
        QVERIFY(contains(rules.error().message(), "256px"));
    }
};

QTEST_GUILESS_MAIN(BucketsTest)
#include "buckets_test.moc"
