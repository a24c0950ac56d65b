// How long it takes from a keystroke to a validated stage. Printed as JSON; nothing is asserted about it. Processor time of the thread, since
// other processes must not count.
#include <QtTest>

#include <ctime>

#include <nlohmann/json.hpp>

#include "tests/unit/config_options/stage_text.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::config::test;

namespace {

double processorMilliseconds()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e3 + double(now.tv_nsec) / 1e6;
}

// The shortest of several runs.
template <class Run>
double milliseconds(Run run)
{
    double best = 1e9;
    for (int i = 0; i < 7; ++i) {
        const double start = processorMilliseconds();
        run();
        best = std::min(best, processorMilliseconds() - start);
    }
    return best;
}

void print(const char *what, double value)
{
    qInfo("%s", nlohmann::json({{"bench", what}, {"cpu_milliseconds", value}}).dump().c_str());
}

} // namespace

class SpeedTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void validatesTenThousandBucketRows();
    void validatesAShippedStage();
    void readsOptions();
};

void SpeedTest::validatesTenThousandBucketRows()
{
    std::string table = "bucket_config = {\n";
    int rows = 0;
    for (int side = 64; rows < 10000; side += 16) {
        table += "    \"" + std::to_string(side) + "px\": {";
        for (int k = 0; k < 250 && rows < 10000; ++k, ++rows)
            table += std::to_string(4 * k + 1) + ": (0.5, 2), ";
        table += "},\n";
    }
    const std::string text = kSmallStage + table + "}\ngrad_ckpt_buffer_size = 2**34\n";
    Stage stage = stageOf(text);
    const Problems problems = validate(stage);
    QVERIFY2(!hasErrors(problems), listed(problems).c_str());
    print("validate, 10,000 bucket rows", milliseconds([&] { validate(stage); }));
    print("one edit and validate, 10,000 bucket rows", milliseconds([&] {
        Stage edited = stage;
        applyOverrides(edited, {{"optim.lr", "1e-4", OriginKind::Edit}});
        validate(edited);
    }));
    print("parse, resolve and validate the whole text, 10,000 bucket rows", milliseconds([&] { validate(stageOf(text)); }));
}

void SpeedTest::validatesAShippedStage()
{
    const std::string file = STAGEWRIGHT_FIXTURES "/opensora_configs/stage2_i2v.py";
    const auto stage = loadStage(file);
    QVERIFY(stage.ok());
    print("validate a shipped stage", milliseconds([&] { validate(*stage); }));
    print("load and validate a shipped stage with its bases", milliseconds([&] { validate(*loadStage(file)); }));
}

void SpeedTest::readsOptions()
{
    const Stage stage = smallStage();
    std::int64_t sum = 0;
    print("100,000 reads of options", milliseconds([&] {
        for (int i = 0; i < 100000; ++i)
            sum += stage.integer("model.depth");
    }));
    QVERIFY(sum > 0);
}

QTEST_GUILESS_MAIN(SpeedTest)
#include "speed_test.moc"
