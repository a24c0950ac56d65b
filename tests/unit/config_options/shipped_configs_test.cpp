// The stages that Open-Sora ships resolve to what they mean there, and validate without errors.
#include <QtTest>

#include <nlohmann/json.hpp>

#include "core/config/activation_need.h"
#include "core/config/bucket_table.h"
#include "tests/support/golden.h"
#include "tests/unit/config_options/stage_text.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::config::test;

namespace {

const std::string kFolder = STAGEWRIGHT_FIXTURES "/opensora_configs/";

Stage load(const QString &name, const std::vector<std::string> &tokens = {})
{
    const auto stage = loadStage(kFolder + name.toStdString(), parseOverrides(tokens)->overrides);
    if (!stage)
        qFatal("%s", stage.error().message().c_str());
    return *stage;
}

} // namespace

class ShippedConfigsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void resolve_data();
    void resolve();
    void haveNoFalseAlarm_data() { resolve_data(); }
    void haveNoFalseAlarm();
    void survivesSaving_data() { resolve_data(); }
    void survivesSaving();
    void theImageToVideoBufferIsTooSmall();
    void theMissingFrameCountIsPointedOut();
    void anotherPluginsKeysAreRefused();
    void aBufferOfTheGuideIsTooLargeForItsBytes();
};

void ShippedConfigsTest::resolve_data()
{
    QTest::addColumn<QString>("name");
    const nlohmann::json expected = support::readJson(kFolder + "expected.json");
    QVERIFY(expected.size() == 7);
    for (const auto &[name, values] : expected.items())
        QTest::addRow("%s", name.c_str()) << QString::fromStdString(name);
}

void ShippedConfigsTest::resolve()
{
    QFETCH(QString, name);
    const nlohmann::json all = support::readJson(kFolder + "expected.json");
    const nlohmann::json &expected = all[name.toStdString()];
    const Stage stage = load(name);
    for (const auto &[path, value] : expected["values"].items()) {
        const nlohmann::json got = toJson(stage.at(path));
        QVERIFY2(got == value, (path + ": " + got.dump() + " against " + value.dump()).c_str());
    }
    const auto rows = bucketRows(stage);
    QVERIFY2(rows.ok(), rows ? "" : rows.error().message().c_str());
    QCOMPARE(rows->size(), expected["bucket_rows"].get<std::size_t>());
    for (const nlohmann::json &row : expected["some_rows"]) {
        const BucketRow wanted{row[0].get<std::string>(), row[1].get<int>(), row[2].get<double>(), std::nullopt, row[3].get<int>()};
        QVERIFY2(std::find(rows->begin(), rows->end(), wanted) != rows->end(), row.dump().c_str());
    }
    std::int64_t pinned = 0;
    for (const Value &size : stage.at("pin_memory_cache_pre_alloc_numels").items())
        pinned += size.integer();
    QCOMPARE(pinned, std::int64_t(7272923136));
}

void ShippedConfigsTest::haveNoFalseAlarm()
{
    QFETCH(QString, name);
    for (const Problem &problem : validate(load(name))) {
        const bool expected = problem.code == "memory.activation-buffer" && name == QStringLiteral("stage2_i2v.py");
        QVERIFY2(problem.severity == Severity::Hint || (expected && problem.severity == Severity::Warning), oneLine(problem).c_str());
    }
    // Nor where the machine is known to be too small.
    Surroundings laptop;
    laptop.checkPaths = true;
    laptop.gpuCount = 0;
    laptop.hostAvailableBytes = std::int64_t(8) << 30;
    laptop.freeDiskBytes = std::int64_t(50) << 30;
    const Problems problems = validate(load(name), laptop);
    QVERIFY2(!hasErrors(problems), listed(problems).c_str());
}

void ShippedConfigsTest::survivesSaving()
{
    QFETCH(QString, name);
    const Stage stage = load(name);
    const auto again = stageFromYaml(toYaml(stage.values()));
    QVERIFY2(again.ok(), again ? "" : again.error().message().c_str());
    QVERIFY(again->values() == stage.values());
}

void ShippedConfigsTest::theImageToVideoBufferIsTooSmall()
{
    const Problems problems = validate(load(QStringLiteral("stage2_i2v.py")));
    const Problem *problem = find(problems, "memory.activation-buffer");
    QVERIFY2(problem && problem->severity == Severity::Warning, listed(problems).c_str());
    for (const char *part : {"256px, 21 frames, batch 80, 256×256", "28,689,039,360", "53.4 GiB", "50.0 GiB"})
        QVERIFY2(problem->message.find(part) != std::string::npos, problem->message.c_str());
    QVERIFY(problem->fix.has_value());
    const auto larger = load(QStringLiteral("stage2_i2v.py"), {"--grad_ckpt_buffer_size", problem->fix->edits[0].to.value()});
    QVERIFY(!find(validate(larger), "memory.activation-buffer"));
}

void ShippedConfigsTest::theMissingFrameCountIsPointedOut()
{
    const Problems problems = validate(load(QStringLiteral("stage2.py")));
    const Problem *problem = find(problems, "config.bucket-gap");
    QVERIFY2(problem && problem->path == "bucket_config.256px.73", listed(problems).c_str());
    QVERIFY(!find(validate(load(QStringLiteral("stage1.py"))), "config.bucket-gap"));
}

void ShippedConfigsTest::anotherPluginsKeysAreRefused()
{
    const Problems problems = validate(load(QStringLiteral("stage2.py"), {"--plugin", "zero2"}));
    for (const char *key : {"sp_size", "tp_size", "sequence_parallelism_mode"})
        QVERIFY2(find(problems, "config.other-plugin", std::string("plugin_config.") + key), listed(problems).c_str());
    QVERIFY(!find(problems, "config.other-plugin", "plugin_config.reduce_bucket_size_in_m"));
}

void ShippedConfigsTest::aBufferOfTheGuideIsTooLargeForItsBytes()
{
    Surroundings machine;
    machine.hostAvailableBytes = std::int64_t(60) << 30;
    const Problems problems = validate(load(QStringLiteral("stage2_i2v.py")), machine);
    const Problem *problem = find(problems, "env.host-memory");
    QVERIFY2(problem && problem->path == "grad_ckpt_buffer_size", listed(problems).c_str());
    QVERIFY2(problem->message.find("50.0 GiB") != std::string::npos, problem->message.c_str());
}

QTEST_GUILESS_MAIN(ShippedConfigsTest)
#include "shipped_configs_test.moc"
