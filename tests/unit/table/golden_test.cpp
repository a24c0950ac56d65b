// Buckets, batch order, captions, frame rates and temporal draws against recordings of the original.
#include <QtTest/QtTest>

#include <cmath>

#include "core/table/caption.h"
#include "core/table/order.h"
#include "core/table/random.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::table;
using nlohmann::json;

namespace {

// {"dict": [[key, value], …]} keeps the order and the integer keys of a Python dict.
std::vector<config::BucketRow> bucketRowsOf(const json &bucketConfig)
{
    std::vector<config::BucketRow> rows;
    for (const json &resolution : bucketConfig.at("dict")) {
        for (const json &frames : resolution.at(1).at("dict")) {
            config::BucketRow row;
            row.resolution = resolution.at(0).get<std::string>();
            row.frames = frames.at(0).get<int>();
            const json &probability = frames.at(1).at(0);
            row.probability = probability.is_array() ? probability.at(0).get<double>() : probability.get<double>();
            if (probability.is_array())
                row.nextProbability = probability.at(1).get<double>();
            row.batchSize = frames.at(1).at(1).get<int>();
            rows.push_back(row);
        }
    }
    return rows;
}

int granularityOf(const json &table)
{
    const std::string text = table.at("AE_SPATIAL_COMPRESSION").get<std::string>();
    return text.find("unset") != std::string::npos ? 16 : std::stoi(text);
}

std::string batchText(const BucketPlan &plan, const BatchOrder::Entry &entry)
{
    std::string text;
    for (const std::int32_t row : entry.rows)
        text += (text.empty() ? "" : ",") + std::to_string(row);
    const Bucket &bucket = plan.buckets[static_cast<std::size_t>(entry.bucket)];
    return text + "@" + std::to_string(bucket.frames) + "-" + std::to_string(bucket.height) + "-" + std::to_string(bucket.width);
}

std::vector<std::string> batchTexts(const BucketPlan &plan, const BatchOrder &order, std::int64_t from = 0)
{
    std::vector<std::string> texts;
    for (std::int64_t i = from; i < order.size(); ++i)
        texts.push_back(batchText(plan, order.at(i)));
    return texts;
}

QByteArray firstDifference(const std::vector<std::string> &actual, const std::vector<std::string> &expected)
{
    for (std::size_t i = 0; i < std::max(actual.size(), expected.size()); ++i) {
        const std::string a = i < actual.size() ? actual[i] : "(none)", b = i < expected.size() ? expected[i] : "(none)";
        if (a != b)
            return QByteArray::fromStdString("at " + std::to_string(i) + ": " + a + " instead of " + b);
    }
    return {};
}

struct Case {
    json table, config;
    std::filesystem::path csv;
    std::string name;
};

// Every table with every bucket config, in every JSON file that has them.
std::vector<Case> cases()
{
    std::vector<Case> all;
    for (const auto &file : support::goldenFiles("data", "*.json")) {
        const json content = support::readJson(file);
        for (const auto &[key, value] : content.items()) {
            if (!value.is_object() || !value.contains("csv") || !value.contains("configs"))
                continue;
            for (const auto &[name, config] : value.at("configs").items())
                all.push_back({value, config, file.parent_path() / value.at("csv").get<std::string>(), file.stem().string() + "/" + key + "/" + name});
        }
    }
    return all;
}


} // namespace

class GoldenTest : public QObject
{
    Q_OBJECT

private:
    std::shared_ptr<const Table> tableOf(const std::filesystem::path &csv)
    {
        auto &table = m_tables[csv.string()];
        if (!table) {
            auto read = readTable(csv);
            if (!read) {
                qWarning("%s", read.error().message().c_str());
                return nullptr;
            }
            table = *read;
        }
        return table;
    }
    BucketRules rulesOf(const Case &one)
    {
        const json limit = one.table.at("dataset").at("fps_max");
        const auto rules = bucketRules(bucketRowsOf(one.config.at("bucket_config")), granularityOf(one.table), one.config.at("seed").get<std::int64_t>(),
                                       limit.is_null() ? 999999999 : limit.get<double>());
        if (!rules)
            qFatal("%s", rules.error().message().c_str());
        return *rules;
    }
    void addCases()
    {
        QTest::addColumn<int>("index");
        if (m_cases.empty())
            m_cases = cases();
        for (std::size_t i = 0; i < m_cases.size(); ++i)
            QTest::newRow(m_cases[i].name.c_str()) << static_cast<int>(i);
        QVERIFY2(!m_cases.empty(), "no golden tables with bucket configs were found");
    }

    std::map<std::string, std::shared_ptr<const Table>> m_tables;
    std::vector<Case> m_cases;

private Q_SLOTS:
    void assignsEveryRowAsTheOriginal_data() { addCases(); }
    void assignsEveryRowAsTheOriginal()
    {
        QFETCH(int, index);
        const Case &one = m_cases[static_cast<std::size_t>(index)];
        const auto table = tableOf(one.csv);
        QVERIFY(table);
        const BucketRules rules = rulesOf(one);
        QCOMPARE(rules.bucketCount(), one.config.at("num_bucket").get<std::int64_t>());
        QVERIFY(!one.config.at("epochs").empty());
        for (const auto &[epoch, expected] : one.config.at("epochs").items()) {
            const BucketPlan plan = assignBuckets(*table, rules, std::stoll(epoch), 2);
            QCOMPARE(plan.bucketOfRow, expected.at("bucket_of_row").get<std::vector<std::int32_t>>());
            const json &buckets = expected.at("buckets_in_order_of_first_appearance");
            QCOMPARE(plan.buckets.size(), buckets.size());
            std::int64_t dropped = 0;
            for (const Drops &drops : plan.drops)
                dropped += drops.count;
            QCOMPARE(plan.kept + dropped, plan.rows);
            for (std::size_t i = 0; i < buckets.size(); ++i) {
                const Bucket &bucket = plan.buckets[i];
                const json actual = {bucket.resolution, bucket.frames, bucket.aspectRatio, {bucket.frames, bucket.height, bucket.width}, bucket.batchSize};
                QVERIFY2(actual == buckets[i], (actual.dump() + " instead of " + buckets[i].dump()).c_str());
            }
        }
    }

    void ordersBatchesAsTheOriginal_data() { addCases(); }
    void ordersBatchesAsTheOriginal()
    {
        QFETCH(int, index);
        const Case &one = m_cases[static_cast<std::size_t>(index)];
        const auto table = tableOf(one.csv);
        QVERIFY(table);
        const BucketRules rules = rulesOf(one);
        int compared = 0;
        for (const auto &[world, orders] : one.config.at("order").items()) {
            const std::int64_t worldSize = std::stoll(world.substr(1));
            for (const auto &[key, expected] : orders.items()) {
                if (!key.starts_with("epoch"))
                    continue;
                const std::int64_t epoch = std::stoll(key.substr(5));
                const BucketPlan plan = assignBuckets(*table, rules, epoch);
                QCOMPARE(plan.batchesPerRank(worldSize), expected.at("len").get<std::int64_t>());
                for (std::size_t rank = 0; rank < expected.at("ranks").size(); ++rank) {
                    const BatchOrder order(plan, epoch, worldSize, static_cast<std::int64_t>(rank));
                    const QByteArray difference = firstDifference(batchTexts(plan, order), expected.at("ranks")[rank].get<std::vector<std::string>>());
                    QVERIFY2(difference.isEmpty(), difference.constData());
                    ++compared;
                }
            }
        }
        QVERIFY(compared > 0);
    }

    void ordersTheVariantsAsTheOriginal_data() { addCases(); }
    void ordersTheVariantsAsTheOriginal()
    {
        QFETCH(int, index);
        const Case &one = m_cases[static_cast<std::size_t>(index)];
        const auto table = tableOf(one.csv);
        QVERIFY(table);
        const BucketRules rules = rulesOf(one);
        const BucketPlan zero = assignBuckets(*table, rules, 0);
        const auto compare = [&](const char *key, const BatchOrder &order) {
            return one.config.contains(key) ? firstDifference(batchTexts(zero, order), one.config.at(key).get<std::vector<std::string>>()) : QByteArray();
        };
        const QByteArray unshuffled = compare("no_shuffle_W2_rank1_epoch0", BatchOrder(zero, 0, 2, 1, Shuffle::Off));
        QVERIFY2(unshuffled.isEmpty(), unshuffled.constData());
        const QByteArray padded = compare("drop_last_false_W2_rank0_epoch0", BatchOrder(zero, 0, 2, 0, Shuffle::On, Tail::Pad));
        QVERIFY2(padded.isEmpty(), padded.constData());
        if (!one.config.contains("len_at_epoch0_then_iterate_last_epoch_W1"))
            return;
        // The original's first grouping is used with the shuffles of another epoch; the second pass groups anew.
        const json &reused = one.config.at("len_at_epoch0_then_iterate_last_epoch_W1");
        const std::int64_t epoch = reused.at("epoch").get<std::int64_t>();
        QCOMPARE(zero.batchesPerRank(1), reused.at("len_at_epoch0").get<std::int64_t>());
        const QByteArray first = firstDifference(batchTexts(zero, BatchOrder(zero, epoch, 1, 0)), reused.at("batches").get<std::vector<std::string>>());
        QVERIFY2(first.isEmpty(), first.constData());
        const BucketPlan plan = assignBuckets(*table, rules, epoch);
        const QByteArray second = firstDifference(batchTexts(plan, BatchOrder(plan, epoch, 1, 0)), reused.at("second_pass").get<std::vector<std::string>>());
        QVERIFY2(second.isEmpty(), second.constData());
    }

    void resumesWhereTheOriginalDoes_data() { addCases(); }
    void resumesWhereTheOriginalDoes()
    {
        QFETCH(int, index);
        const Case &one = m_cases[static_cast<std::size_t>(index)];
        const auto table = tableOf(one.csv);
        QVERIFY(table);
        const BucketRules rules = rulesOf(one);
        for (const auto &[world, orders] : one.config.at("order").items()) {
            if (!orders.contains("resume"))
                continue;
            const json &resume = orders.at("resume");
            const std::int64_t worldSize = std::stoll(world.substr(1)), epoch = resume.at("epoch").get<std::int64_t>();
            const std::int64_t step = resume.at("set_step").get<std::int64_t>();
            const json &state = resume.at("state_dict_at_step");
            QCOMPARE(state.at("seed").get<std::int64_t>(), rules.seed);
            const std::int64_t access = state.at("last_micro_batch_access_index").get<std::int64_t>();
            QCOMPARE(accessIndex(step, worldSize), access);
            const BucketPlan plan = assignBuckets(*table, rules, epoch);
            const BatchOrder order(plan, epoch, worldSize, resume.at("rank").get<std::int64_t>());
            QCOMPARE(order.size() - step, resume.at("remaining").get<std::int64_t>());
            if (!resume.contains("loaded_on_other_worlds"))
                continue;
            for (const json &other : resume.at("loaded_on_other_worlds")) {
                const std::int64_t otherWorld = other.at("load_on_world").get<std::int64_t>();
                const BatchOrder elsewhere(plan, epoch, otherWorld, 0);
                const std::int64_t from = batchIndexFromAccess(access, otherWorld);
                QCOMPARE(elsewhere.size() - from, other.at("remaining_on_rank0").get<std::int64_t>());
                const auto first = other.at("first").get<std::vector<std::string>>();
                for (std::size_t i = 0; i < first.size(); ++i)
                    QCOMPARE(batchText(plan, elsewhere.at(from + static_cast<std::int64_t>(i))), first[i]);
            }
        }
    }

    void wordsCaptionsAsTheOriginal()
    {
        int compared = 0;
        for (const auto &file : support::goldenFiles("data", "*.json")) {
            const json content = support::readJson(file);
            if (!content.contains("table"))
                continue;
            const json &recorded = content.at("table");
            const auto table = tableOf(file.parent_path() / recorded.at("csv").get<std::string>());
            QVERIFY(table);
            for (const auto &[key, rules] : std::map<std::string, CaptionRules>{{"captions_fps24_vmaf", {24, true}}, {"captions_fps_none_no_vmaf_first20", {999999999, false}}}) {
                if (!recorded.contains(key))
                    continue;
                for (std::size_t row = 0; row < recorded.at(key).size(); ++row) {
                    const json &expected = recorded.at(key)[row];
                    const auto number = static_cast<std::int64_t>(row);
                    QCOMPARE(captionOf(*table, rules, number), expected.at(0).get<std::string>());
                    QCOMPARE(mapFrameRate(table->number(NumberColumn::Fps, number), rules.fpsMax)->stride, expected.at(1).get<std::int64_t>());
                    ++compared;
                }
            }
        }
        QVERIFY(compared > 0);
    }

    void mapsFrameRatesAsTheOriginal()
    {
        int compared = 0;
        for (const auto &file : support::goldenFiles("data", "*.json")) {
            const json content = support::readJson(file);
            if (!content.contains("map_target_fps"))
                continue;
            for (const auto &[limit, rows] : content.at("map_target_fps").items()) {
                for (const json &row : rows) {
                    const std::string written = row.at(0).get<std::string>();
                    const auto rate = mapFrameRate(std::strtod(written.c_str(), nullptr), std::stod(limit));
                    QVERIFY(rate);
                    const bool whole = rate->computed || written == "nan" || written.find('.') == std::string::npos;
                    QCOMPARE(whole ? std::to_string(static_cast<std::int64_t>(rate->newFps)) : pythonFloat(rate->newFps), row.at(1).get<std::string>());
                    QCOMPARE(rate->stride, row.at(2).get<std::int64_t>());
                    ++compared;
                }
            }
        }
        QVERIFY(compared > 0);
    }

    // Rows on which the original fails must be left out here, the rest must match, and no caption may fail.
    void takesAwkwardRowsAsTheOriginal()
    {
        int compared = 0;
        for (const auto &file : support::goldenFiles("data", "*.json")) {
            const json content = support::readJson(file);
            if (!content.contains("awkward_types"))
                continue;
            const json &awkward = content.at("awkward_types");
            const auto table = tableOf(file.parent_path() / awkward.at("csv").get<std::string>());
            QVERIFY(table);
            BucketRules rules = *bucketRules({{"256px", 1, 1.0, {}, 2}, {"256px", 17, 1.0, {}, 2}, {"256px", 33, 1.0, {}, 2}}, 16, 1, 24);
            const BucketPlan plan = assignBuckets(*table, rules, 0);
            for (std::size_t row = 0; row < awkward.at("bucket_of_row").size(); ++row) {
                const json &expected = awkward.at("bucket_of_row")[row];
                const std::int32_t bucket = plan.bucketOfRow[row];
                if (!expected.is_array()) {
                    QVERIFY2(bucket < 0, std::to_string(row).c_str());
                    QVERIFY(!explainDrop(*table, rules, plan, static_cast<std::int64_t>(row)).empty());
                } else {
                    QVERIFY2(bucket >= 0, std::to_string(row).c_str());
                    const Bucket &found = plan.buckets[static_cast<std::size_t>(bucket)];
                    QCOMPARE(json({found.resolution, found.frames, found.aspectRatio}).dump(), expected.dump());
                }
                const json &caption = awkward.at("captions")[row];
                const std::string ours = captionOf(*table, {24, false}, static_cast<std::int64_t>(row));
                if (caption.is_array())
                    QCOMPARE(ours, caption.at(0).get<std::string>());
                ++compared;
            }
        }
        QVERIFY(compared > 0);
    }

    void drawsClipBeginningsAsTheOriginal()
    {
        int compared = 0;
        for (const auto &file : support::goldenFiles("data", "*.json")) {
            const json content = support::readJson(file);
            if (!content.contains("temporal_crop"))
                continue;
            for (const json &one : content.at("temporal_crop")) {
                if (!one.contains("indices"))
                    continue;
                PythonRandom random(one.at("python_seed").get<std::int64_t>());
                const std::int64_t size = one.at("num_frames").get<std::int64_t>() * one.at("interval").get<std::int64_t>();
                const std::int64_t begin = random.randint(0, std::max<std::int64_t>(0, one.at("total").get<std::int64_t>() - size - 1));
                QCOMPARE(begin, one.at("indices")[0].get<std::int64_t>());
                ++compared;
            }
        }
        QVERIFY(compared > 0);
    }

    // The real trainer's batches, which its golden runs recorded.
    void loadsTheBatchesOfRecordedRuns()
    {
        QTemporaryDir folder;
        int compared = 0;
        for (const auto &file : support::goldenFiles("train", "r*.json")) {
            const json run = support::readJson(file);
            if (!run.contains("table") || !run.contains("batches_loaded") || !run.contains("config"))
                continue;
            const std::string config = run.at("config").get<std::string>();
            const auto seedAt = config.find("\nseed = ");
            const std::string buckets = "bucket_config = {\"32px\": {1: (1.0, 3), 5: (1.0, 2), 9: (1.0, 2), 41: (1.0, 1)}}";
            if (seedAt == std::string::npos || config.find(buckets) == std::string::npos || config.find("load = ") != std::string::npos)
                continue;
            const std::filesystem::path csv = folder.filePath(QStringLiteral("t%1.csv").arg(compared)).toStdString();
            QFile out(QString::fromStdString(csv.string()));
            QVERIFY(out.open(QIODevice::WriteOnly));
            out.write(QByteArray::fromStdString(run.at("table").get<std::string>()));
            out.close();
            const auto table = readTable(csv);
            QVERIFY(table);
            const auto rules = bucketRules({{"32px", 1, 1.0, {}, 3}, {"32px", 5, 1.0, {}, 2}, {"32px", 9, 1.0, {}, 2}, {"32px", 41, 1.0, {}, 1}}, 16,
                                           std::stoll(config.substr(seedAt + 8)), 24);
            QVERIFY(rules);
            const std::int64_t world = run.at("world").get<std::int64_t>(), rank = run.at("rank").get<std::int64_t>();
            std::vector<std::vector<std::int64_t>> batches;
            for (std::int64_t epoch = 0; batches.size() < run.at("batches_loaded").size() && epoch < 10; ++epoch) {
                const BucketPlan plan = assignBuckets(**table, *rules, epoch);
                const BatchOrder order(plan, epoch, world, rank);
                for (std::int64_t i = 0; i < order.size(); ++i) {
                    const auto rows = order.at(i).rows;
                    batches.emplace_back(rows.begin(), rows.end());
                }
            }
            const auto expected = run.at("batches_loaded").get<std::vector<std::vector<std::int64_t>>>();
            QVERIFY(batches.size() >= expected.size());
            batches.resize(expected.size());
            QCOMPARE(json(batches).dump(), json(expected).dump());
            ++compared;
        }
        QVERIFY(compared > 0);
    }
};

QTEST_GUILESS_MAIN(GoldenTest)
#include "golden_test.moc"
