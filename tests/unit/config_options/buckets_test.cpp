#include <QtTest>

#include "core/config/activation_need.h"
#include "core/config/bucket_table.h"
#include "tests/unit/config_options/stage_text.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::config::test;

namespace {

// Open-Sora's model with a table of its own.
Stage bigStage(const std::string &table, const std::string &more = {})
{
    return stageOf("model = dict(type='flux', hidden_size=3072, num_heads=24, depth=19, depth_single_blocks=38, axes_dim=[16, 56, 56], theta=10000, qkv_bias=True, mlp_ratio=4.0,"
                   " vec_in_dim=768, context_in_dim=4096, in_channels=64, guidance_embed=False)\n"
                   "ae = dict(type='hunyuan_vae')\nis_causal_vae = True\nt5 = dict(type='text_embedder', max_length=512)\nclip = dict(type='text_embedder')\n"
                   "optim = dict(lr=1e-5)\ndataset = dict(type='video_text')\nbucket_config = " + table + "\n" + more);
}

} // namespace

class BucketsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsRows();
    void normalisesWhatJsonDidToATable();
    void refusesBadRows_data();
    void refusesBadRows();
    void savedTablesMeanTheSame();
    void checksFramesAgainstTheAutoencoder_data();
    void checksFramesAgainstTheAutoencoder();
    void findsGaps_data();
    void findsGaps();
    void saysWhenABasesBucketsAreStillThere();
    void computesTheActivationNeed_data();
    void computesTheActivationNeed();
    void boundsTheNumberOfProblems();
};

void BucketsTest::readsRows()
{
    const auto rows = bucketRows(bigStage("{'256px': {1: (1.0, 50), 5: ((0.5, 0.25), 3)}, '768px_max': {129: [0.5, 2], 33: (0.0, None)}}"));
    QVERIFY2(rows.ok(), rows ? "" : rows.error().message().c_str());
    const std::vector<BucketRow> expected = {{"256px", 1, 1.0, std::nullopt, 50}, {"256px", 5, 0.5, 0.25, 3}, {"768px_max", 129, 0.5, std::nullopt, 2},
        {"768px_max", 33, 0.0, std::nullopt, 0}};
    QVERIFY(*rows == expected);
    QVERIFY(bucketRows(Stage())->empty());
    QVERIFY(!bucketRows(bigStage("3")).ok());
    QVERIFY(!bucketRows(bigStage("{'256px': 3}")).ok());
    QVERIFY(!bucketRows(bigStage("{'256': {1: (1.0, 1)}}")).ok());
}

void BucketsTest::normalisesWhatJsonDidToATable()
{
    const Stage stage = bigStage("{'256px': {'129': [[0.5, 0.5], 1], '1': [1.0, 4]}}");
    QCOMPARE(QString::fromStdString(toPython(*lookUp(stage.values(), "bucket_config"))), QStringLiteral("{'256px': {129: ((0.5, 0.5), 1), 1: (1.0, 4)}}"));
    QVERIFY(bucketRows(stage).ok());
    QVERIFY(!hasErrors(validate(stage)));

    const Problems twice = validate(bigStage("{'256px': {'129': (0.5, 1), 129: (1.0, 4)}}"));
    const Problem *problem = find(twice, "config.frames", "bucket_config.256px.129");
    QVERIFY2(problem && problem->message.find("both 129 and \"129\"") != std::string::npos, listed(twice).c_str());
}

void BucketsTest::refusesBadRows_data()
{
    QTest::addColumn<QString>("table");
    QTest::addColumn<QString>("code");
    QTest::addColumn<QString>("says");
    QTest::addRow("batch 0") << "{'256px': {1: (1.0, 0)}}" << "config.batch-size" << "a whole number from 1";
    QTest::addRow("batch None") << "{'256px': {1: (1.0, None)}}" << "config.batch-size" << "only for rows with probability 0";
    QTest::addRow("batch negative") << "{'256px': {1: (1.0, -2)}}" << "config.batch-size" << "a whole number from 1";
    QTest::addRow("batch too large") << "{'256px': {1: (1.0, 9223372036854775807)}}" << "config.batch-size" << "from 1 to 1000000";
    QTest::addRow("batch float") << "{'256px': {1: (1.0, 2.0)}}" << "config.batch-size" << "write 2";
    QTest::addRow("batch fraction") << "{'256px': {1: (1.0, 2.5)}}" << "config.batch-size" << "whole number";
    QTest::addRow("batch True") << "{'256px': {1: (1.0, True)}}" << "config.batch-size" << "not True";
    QTest::addRow("probability above 1") << "{'256px': {1: (1.5, 2)}}" << "config.probability" << "from 0 to 1";
    QTest::addRow("probability negative") << "{'256px': {1: (-0.5, 2)}}" << "config.probability" << "from 0 to 1";
    QTest::addRow("probability text") << "{'256px': {1: ('1', 2)}}" << "config.probability" << "from 0 to 1";
    QTest::addRow("probability True") << "{'256px': {1: (True, 2)}}" << "config.probability" << "not True";
    QTest::addRow("three probabilities") << "{'256px': {1: ((0.5, 0.5, 0.5), 2)}}" << "config.probability" << "exactly two";
    QTest::addRow("one probability in a list") << "{'256px': {1: ((0.5,), 2)}}" << "config.probability" << "exactly two";
    QTest::addRow("a row of one") << "{'256px': {1: (1.0,)}}" << "config.bucket-row" << "(probability, batch size)";
    QTest::addRow("a number for a row") << "{'256px': {1: 4}}" << "config.bucket-row" << "(probability, batch size)";
    QTest::addRow("a row for a resolution") << "{'256px': (1.0, 4)}" << "config.bucket-row" << "dict of frame counts";
    QTest::addRow("no frames") << "{'256px': {0: (1.0, 4)}}" << "config.frames" << "at least 1 frame";
    QTest::addRow("negative frames") << "{'256px': {-4: (1.0, 4)}}" << "config.frames" << "at least 1 frame";
    QTest::addRow("frames in words") << "{'256px': {'many': (1.0, 4)}}" << "config.frames" << "not a number of frames";
    QTest::addRow("old resolution name") << "{'256': {1: (1.0, 4)}}" << "config.resolution" << "\"256px\" meant";
    QTest::addRow("resolution in capitals") << "{'256P': {1: (1.0, 4)}}" << "config.resolution" << "\"256p\" meant";
    QTest::addRow("resolution as a number") << "{256: {1: (1.0, 4)}}" << "config.resolution" << "256px";
    QTest::addRow("resolution 0") << "{'0px': {1: (1.0, 4)}}" << "config.resolution" << "between 1 and";
    QTest::addRow("resolution below a granule") << "{'8px': {1: (1.0, 4)}}" << "config.resolution" << "no size that is a multiple of 16";
    QTest::addRow("unknown aspect") << "{'256px_ar7:5': {1: (1.0, 4)}}" << "config.resolution" << "there are 2.39:1, 2:1, 16:9";
    QTest::addRow("all switched off") << "{'256px': {1: (0.0, 4), 5: (0.0, None)}}" << "config.no-bucket" << "no batch can be made";
    QTest::addRow("empty") << "{}" << "config.no-bucket" << "no batch can be made";
}

void BucketsTest::refusesBadRows()
{
    QFETCH(QString, table);
    QFETCH(QString, code);
    QFETCH(QString, says);
    const Stage stage = bigStage(table.toStdString());
    const Problems problems = validate(stage);
    const Problem *problem = find(problems, code.toStdString());
    QVERIFY2(problem && problem->severity == Severity::Error, listed(problems).c_str());
    QVERIFY2(QString::fromStdString(problem->message).contains(says), problem->message.c_str());
    QVERIFY(problem->line > 0);
    QVERIFY2(problem->path.starts_with("bucket_config"), problem->path.c_str());
    if (problem->fix)
        QVERIFY2(!find(validate(fixed(stage, *problem->fix)), code.toStdString()), listed(validate(fixed(stage, *problem->fix))).c_str());
}

void BucketsTest::savedTablesMeanTheSame()
{
    const Stage stage = bigStage("{'256px': {1: (1.0, 50), 129: ((0.5, 0.25), 3)}}");
    const auto again = stageFromYaml(toYaml(stage.values()));
    QVERIFY2(again.ok(), again ? "" : again.error().message().c_str());
    QVERIFY(*bucketRows(*again) == *bucketRows(stage));
}

void BucketsTest::checksFramesAgainstTheAutoencoder_data()
{
    QTest::addColumn<QString>("more");
    QTest::addColumn<int>("frames");
    QTest::addColumn<QString>("says");
    const QString high = QStringLiteral("ae = dict(type='dc_ae')\nis_causal_vae = False\nae_spatial_compression = 32\npatch_size = 1");
    QTest::addRow("129") << "" << 129 << "";
    QTest::addRow("128") << "" << 128 << "use 125 or 129";
    QTest::addRow("2") << "" << 2 << "use 1 or 5";
    QTest::addRow("1") << "" << 1 << "";
    QTest::addRow("high compression, 128") << high << 128 << "";
    QTest::addRow("high compression, 129") << high << 129 << "use 128 or 132";
    QTest::addRow("high compression, 1") << high << 1 << "";
    QTest::addRow("high compression, 2") << high << 2 << "use 1 or 4";
}

void BucketsTest::checksFramesAgainstTheAutoencoder()
{
    QFETCH(QString, more);
    QFETCH(int, frames);
    QFETCH(QString, says);
    const Problems problems = validate(bigStage("{'256px': {" + std::to_string(frames) + ": (1.0, 1)}}", more.toStdString()));
    const Problem *problem = find(problems, "config.frames");
    QVERIFY2(bool(problem) == !says.isEmpty(), listed(problems).c_str());
    if (problem)
        QVERIFY2(QString::fromStdString(problem->message).contains(says), problem->message.c_str());
}

void BucketsTest::findsGaps_data()
{
    QTest::addColumn<QString>("frames");
    QTest::addColumn<int>("gapBefore");
    QTest::addRow("one missing") << "1 57 61 65 73 77 81" << 73;
    QTest::addRow("even") << "1 57 61 65 69 73" << 0;
    QTest::addRow("images and a few lengths") << "1 33 97 129" << 0;
    QTest::addRow("no order at all") << "1 5 17 33 65 129" << 0;
    QTest::addRow("out of order in the file") << "1 73 61 57 77 65 81" << 73;
    QTest::addRow("few") << "5 9 17" << 0;
}

void BucketsTest::findsGaps()
{
    QFETCH(QString, frames);
    QFETCH(int, gapBefore);
    std::string table = "{'256px': {";
    for (const QString &count : frames.split(QLatin1Char(' ')))
        table += count.toStdString() + ": (1.0, 1), ";
    const Problems problems = validate(bigStage(table + "}}"));
    const Problem *problem = find(problems, "config.bucket-gap");
    QVERIFY2(bool(problem) == (gapBefore > 0), listed(problems).c_str());
    if (problem) {
        QCOMPARE(problem->severity, Severity::Hint);
        QCOMPARE(QString::fromStdString(problem->path), QStringLiteral("bucket_config.256px.%1").arg(gapBefore));
        QVERIFY2(problem->message.find("from 65 to 73") != std::string::npos, problem->message.c_str());
    }
}

void BucketsTest::saysWhenABasesBucketsAreStillThere()
{
    QTemporaryDir folder;
    const auto write = [&](const char *name, const QByteArray &text) {
        QFile file(folder.filePath(QLatin1String(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    };
    write("base.py", "bucket_config = {'1024px': {1: (0.5, 7)}}\n");
    write("child.py", "_base_ = ['base.py']\nbucket_config = {'256px': {1: (1.0, 4)}}\n");
    write("deleting.py", "_base_ = ['base.py']\nbucket_config = {'_delete_': True, '256px': {1: (1.0, 4)}}\n");
    const auto merged = loadStage(folder.filePath(QStringLiteral("child.py")).toStdString());
    QVERIFY2(merged.ok(), merged ? "" : merged.error().message().c_str());
    const Problems problems = validate(*merged);
    const Problem *problem = find(problems, "config.merged-buckets");
    QVERIFY2(problem && problem->severity == Severity::Warning, listed(problems).c_str());
    for (const char *part : {"child.py", "256px", "base.py", "1024px", "_delete_"})
        QVERIFY2(problem->message.find(part) != std::string::npos, problem->message.c_str());
    const auto replaced = loadStage(folder.filePath(QStringLiteral("deleting.py")).toStdString());
    QVERIFY(replaced.ok());
    QVERIFY(!find(validate(*replaced), "config.merged-buckets"));
    QVERIFY(!find(validate(*replaced), "config.resolution"));
}

void BucketsTest::computesTheActivationNeed_data()
{
    QTest::addColumn<QString>("table");
    QTest::addColumn<QString>("more");
    QTest::addColumn<qint64>("elements");
    QTest::addColumn<QString>("size");
    const QString hybrid = QStringLiteral("plugin = 'hybrid'\nplugin_config = dict(tp_size=1, pp_size=1, sp_size=4, enable_sequence_parallelism=True, sequence_parallelism_mode='ring_attn')");
    const QString high = QStringLiteral("ae = dict(type='dc_ae')\nae_spatial_compression = 32\npatch_size = 1");
    // Worked by hand: blocks × batch × tokens × 3072.
    QTest::addRow("image") << "{'256px': {1: (1.0, 50)}}" << "grad_ckpt = 1" << qint64(57) * 50 * (260 + 512) * 3072 << "208x320";
    QTest::addRow("8 double blocks only") << "{'256px': {1: (1.0, 50)}}" << "depths" << qint64(46) * 50 * (260 + 512) * 3072 << "208x320";
    QTest::addRow("sequence in 4 parts") << "{'256px': {1: (1.0, 195)}}" << hybrid << qint64(57) * 195 * (260 + 512) * 3072 << "208x320";
    QTest::addRow("21 frames do not divide") << "{'256px': {21: (1.0, 80)}}" << hybrid << qint64(57) * 80 * (6 * 256 + 512) * 3072 << "256x256";
    QTest::addRow("high compression") << "{'768px': {96: (1.0, 3)}}" << high << qint64(57) * 3 * (24 * 20 * 29 + 512) * 3072 << "640x928";
}

void BucketsTest::computesTheActivationNeed()
{
    QFETCH(QString, table);
    QFETCH(QString, more);
    QFETCH(qint64, elements);
    QFETCH(QString, size);
    Stage stage = bigStage(table.toStdString(), more.contains(QLatin1Char('\n')) ? more.toStdString() : std::string());
    if (more == QStringLiteral("depths"))
        lookUp(stage.values(), "model")->dict().set("grad_ckpt_settings", Value::tuple({8, 100}));
    const auto largest = largestNeed(activationNeeds(stage));
    QVERIFY(largest.has_value());
    QCOMPARE(qint64(largest->elements), elements);
    QCOMPARE(QStringLiteral("%1x%2").arg(largest->size.height).arg(largest->size.width), size);
}

void BucketsTest::boundsTheNumberOfProblems()
{
    std::string table = "{'256px': {";
    for (int frames = 2; frames < 2000; frames += 4)
        table += std::to_string(frames) + ": (1.0, 1), ";
    const Problems problems = validate(bigStage(table + "}}"));
    int count = 0;
    bool saysMore = false;
    for (const Problem &problem : problems) {
        count += problem.code == "config.frames";
        saysMore = saysMore || problem.message.find("460 more like this") != std::string::npos;
    }
    QCOMPARE(count, 40);
    QVERIFY(saysMore);
}

QTEST_GUILESS_MAIN(BucketsTest)
#include "buckets_test.moc"
