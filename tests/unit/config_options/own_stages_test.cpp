// The ready stages and presets in configs/.
#include <QtTest>

#include <filesystem>
#include <set>

#include "core/config/activation_need.h"
#include "core/config/bucket_table.h"
#include "core/config/model_size.h"
#include "core/config/presets.h"
#include "tests/unit/config_options/stage_text.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::config::test;

namespace {

const std::string kConfigs = STAGEWRIGHT_SOURCE "/configs/";

std::vector<std::string> readyStages()
{
    std::vector<std::string> names;
    for (const auto &entry : std::filesystem::directory_iterator(kConfigs)) {
        if (entry.is_regular_file() && entry.path().extension() == ".yaml")
            names.push_back(entry.path().filename().string());
    }
    return names;
}

} // namespace

class OwnStagesTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readyStagesHaveNoProblem_data();
    void readyStagesHaveNoProblem();
    void theDemoIsSmallAndComplete();
    void stagesCoverWhatTheySay();
    void presetsAreReadAndApplied();
    void presetsLeaveReadyStagesValid_data();
    void presetsLeaveReadyStagesValid();
    void presetsAreALayerBelowTheCommandLine();
    void unknownPresetsAreNamed();
};

void OwnStagesTest::readyStagesHaveNoProblem_data()
{
    QTest::addColumn<QString>("name");
    const auto names = readyStages();
    QVERIFY(names.size() >= 5);
    for (const std::string &name : names)
        QTest::addRow("%s", name.c_str()) << QString::fromStdString(name);
}

void OwnStagesTest::readyStagesHaveNoProblem()
{
    QFETCH(QString, name);
    const auto stage = loadStage(kConfigs + name.toStdString());
    QVERIFY2(stage.ok(), stage ? "" : stage.error().message().c_str());
    for (const Problem &problem : validate(*stage))
        QVERIFY2(problem.code == "config.world-size", oneLine(problem).c_str());
}

void OwnStagesTest::theDemoIsSmallAndComplete()
{
    const auto demo = loadStage(kConfigs + "demo.yaml");
    QVERIFY(demo.ok());
    QVERIFY(parameterCount(*demo).value() < 5000000);
    std::set<int> frames;
    const auto rows = bucketRows(*demo);
    QVERIFY(rows.ok());
    for (const BucketRow &row : *rows)
        frames.insert(row.frames);
    QVERIFY((frames == std::set<int>{1, 5, 9, 17}));
    const auto need = largestNeed(activationNeeds(*demo));
    QVERIFY(need.has_value());
    QVERIFY2(need->elements <= demo->integer("grad_ckpt_buffer_size"), "the demo's activation buffer holds its largest bucket");
    QCOMPARE(demo->integer("max_train_steps"), std::int64_t(120));
    QVERIFY2(lookUp(demo->values(), "dataset.data_path"), "the line that `demo` fills in");
    QCOMPARE(demo->string("ae.type"), std::string("haar"));
    QVERIFY(demo->string("t5.type") == "hashed" && demo->string("clip.type") == "hashed");
}

void OwnStagesTest::stagesCoverWhatTheySay()
{
    const auto load = [](const char *name) { return *loadStage(kConfigs + name); };
    QCOMPARE(bucketRows(load("256px.yaml"))->size(), std::size_t(33));
    QCOMPARE(bucketRows(load("768px.yaml"))->size(), std::size_t(66));
    QVERIFY(load("i2v.yaml").boolean("model.cond_embed"));
    const Stage high = load("high_compression.yaml");
    QCOMPARE(high.string("ae.type"), std::string("dc_ae"));
    QCOMPARE(high.integer("patch_size"), std::int64_t(1));
    QCOMPARE(bucketRows(high)->size(), std::size_t(30));
    QCOMPARE(parameterCount(high).value(), std::int64_t(11891971200));
}

void OwnStagesTest::presetsAreReadAndApplied()
{
    Problems problems;
    const auto all = presets(&problems);
    QVERIFY2(problems.empty(), listed(problems).c_str());
    QVERIFY(all.size() >= 4);
    double before = -1;
    for (const Preset &preset : all) {
        QVERIFY(preset.vramGiB >= before);
        before = preset.vramGiB;
        QVERIFY2(!preset.titleEn.empty() && !preset.titleZh.empty() && !preset.helpEn.empty() && !preset.helpZh.empty(), preset.id.c_str());
        QVERIFY2(!preset.values.empty(), preset.id.c_str());
    }
    auto stage = *loadStage(kConfigs + "256px.yaml");
    QVERIFY(applyPreset(stage, *findPreset("vram-24")).empty());
    QCOMPARE(bucketRows(stage)->size(), std::size_t(9));
    QCOMPARE(stage.integer("plugin_config.reduce_bucket_size_in_m"), std::int64_t(128));
    QCOMPARE(lookUp(stage.values(), "plugin_config.cpu_offload")->origin.kind, OriginKind::Preset);
    QCOMPARE(lookUp(stage.values(), "seed")->origin.kind, OriginKind::File);
}

void OwnStagesTest::presetsLeaveReadyStagesValid_data()
{
    QTest::addColumn<QString>("id");
    for (const Preset &preset : presets())
        QTest::addRow("%s", preset.id.c_str()) << QString::fromStdString(preset.id);
}

void OwnStagesTest::presetsLeaveReadyStagesValid()
{
    QFETCH(QString, id);
    for (const char *name : {"256px.yaml", "i2v.yaml"}) {
        const auto stage = loadStage(kConfigs + name, {{"preset", id.toStdString(), OriginKind::Preset}});
        QVERIFY(stage.ok());
        QVERIFY2(!hasErrors(validate(*stage)), listed(validate(*stage)).c_str());
    }
}

void OwnStagesTest::presetsAreALayerBelowTheCommandLine()
{
    const auto parsed = parseOverrides({"--accumulation_steps", "16", "--preset", "vram-24"});
    const auto stage = loadStage(kConfigs + "256px.yaml", parsed->overrides);
    QVERIFY(stage.ok());
    QVERIFY2(stage->problems().empty(), listed(stage->problems()).c_str());
    QCOMPARE(stage->integer("accumulation_steps"), std::int64_t(16));
    QVERIFY(stage->boolean("plugin_config.cpu_offload"));
}

void OwnStagesTest::unknownPresetsAreNamed()
{
    const auto preset = findPreset("vram-25");
    QVERIFY(!preset.ok());
    QVERIFY2(preset.error().message().find("\"vram-24\" meant") != std::string::npos, preset.error().message().c_str());
}

QTEST_GUILESS_MAIN(OwnStagesTest)
#include "own_stages_test.moc"
