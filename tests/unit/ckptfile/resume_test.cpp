// The resume plan: what it says about what changed, and when it says that a resume is not possible.
#include <QtTest>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/ckptfile/resume_plan.h"
#include "core/config/stage.h"
#include "small_checkpoint.h"

using namespace stagewright;
using namespace stagewright::ckptfile;
using namespace stagewright::tests;
namespace fs = std::filesystem;

namespace {

const char *kYaml = R"(dtype: fp32
seed: 42
epochs: 10
max_train_steps: 100
model:
  type: flux
  hidden_size: 4
  in_channels: 3
optim:
  cls: HybridAdam
  lr: 0.001
  eps: 1.0e-08
  betas: !tuple [0.9, 0.999]
dataset:
  type: video_text
  data_path: clips.csv
)";

config::Stage stageOf(std::string yaml, const std::string &from = {}, const std::string &to = {})
{
    if (!from.empty())
        yaml.replace(yaml.find(from), from.size(), to);
    auto stage = config::stageFromYaml(yaml, "stage.yaml");
    if (!stage)
        qFatal("%s", stage.error().message().c_str());
    return std::move(*stage);
}

} // namespace

class ResumeTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_run;

    fs::path checkpoint(const SmallCheckpoint &small = {})
    {
        SmallCheckpoint with = small;
        with.configYaml = kYaml;
        return writeSmallCheckpoint(m_run, with);
    }
    static const ResumeItem *item(const ResumePlan &plan, const char *what)
    {
        const auto found = std::find_if(plan.items.begin(), plan.items.end(), [&](const ResumeItem &candidate) { return candidate.what == what; });
        return found == plan.items.end() ? nullptr : &*found;
    }

private Q_SLOTS:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_run = m_temporary->path().toStdString();
    }

    void saysThatAnUnchangedResumeRestoresEverything()
    {
        const auto plan = resumePlan(checkpoint().string(), nullptr);
        QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
        QVERIFY(plan->possible && plan->dataPositionUsable);
        for (const char *what : {"weights", "optimizer", "learning rate", "schedule", "progress", "data position", "number of GPUs"})
            QVERIFY2(item(*plan, what) && item(*plan, what)->severity == Severity::Hint, what);
        const auto json = toJson(*plan);
        QVERIFY(json["possible"] == true && json["items"][0].contains("in_checkpoint"));
    }

    void noticesEachChange_data()
    {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("words");
        QTest::addColumn<bool>("possible");
        QTest::addColumn<bool>("position");
        const auto row = [](const char *name, const char *from, const char *to, const char *what, const char *words, bool possible, bool position) {
            QTest::newRow(name) << QString::fromLatin1(from) << QString::fromLatin1(to) << QString::fromLatin1(what) << QString::fromLatin1(words) << possible << position;
        };
        row("learning rate", "lr: 0.001", "lr: 0.01", "learning rate", "config's", true, true);
        row("eps", "eps: 1.0e-08", "eps: 1.0e-10", "eps", "config's", true, true);
        row("betas", "[0.9, 0.999]", "[0.9, 0.95]", "betas and weight decay", "config's is used", true, true);
        row("betas as in the original", "[0.9, 0.999]", "[0.9, 0.95]\ncompat: opensora", "betas and weight decay", "checkpoint's stay", true, true);
        row("accumulation", "epochs: 10", "epochs: 10\naccumulation_steps: 4", "accumulation", "position in the data is counted in batches and stays", true, true);
        row("dtype", "dtype: fp32", "dtype: bf16", "dtype", "converted", true, true);
        row("hidden size", "hidden_size: 4", "hidden_size: 8", "model.hidden_size", "set model.hidden_size to 4", false, true);
        row("dataset", "clips.csv", "other.csv", "dataset", "means nothing", true, false);
        row("seed", "seed: 42", "seed: 43", "seed", "means nothing", true, false);
        row("schedule", "epochs: 10", "epochs: 10\nwarmup_steps: 5", "schedule", "starts at the step count", true, true);
        row("EMA added", "epochs: 10", "epochs: 10\nema_decay: 0.99", "EMA", "starts anew", true, true);
        row("nothing left", "max_train_steps: 100", "max_train_steps: 1", "progress", "nothing is left", true, true);
    }
    void noticesEachChange()
    {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, what);
        QFETCH(QString, words);
        QFETCH(bool, possible);
        QFETCH(bool, position);
        const config::Stage stage = stageOf(kYaml, from.toStdString(), to.toStdString());
        const auto plan = resumePlan(checkpoint().string(), &stage);
        QVERIFY2(plan.ok(), plan.ok() ? "" : plan.error().message().c_str());
        QCOMPARE(plan->possible, possible);
        QCOMPARE(plan->dataPositionUsable, position);
        const ResumeItem *found = item(*plan, what.toLatin1().constData());
        QVERIFY(found);
        QVERIFY2(QString::fromStdString(found->outcome).contains(words), found->outcome.c_str());
        QVERIFY(found->severity != Severity::Hint);
    }

    // "continuation" says in one line whether the resumed run is the one that was saved.
    void saysWhatPartsFromTheSavedRun_data()
    {
        QTest::addColumn<QString>("from");
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("by");
        QTest::newRow("nothing") << QString() << QString() << QString();
        QTest::newRow("more updates") << QStringLiteral("max_train_steps: 100") << QStringLiteral("max_train_steps: 500") << QString();
        QTest::newRow("seed") << QStringLiteral("seed: 42") << QStringLiteral("seed: 7") << QStringLiteral("random streams");
        QTest::newRow("dtype") << QStringLiteral("dtype: fp32") << QStringLiteral("dtype: bf16") << QStringLiteral("dtype");
        QTest::newRow("learning rate") << QStringLiteral("lr: 0.001") << QStringLiteral("lr: 0.01") << QStringLiteral("learning rate");
        QTest::newRow("betas") << QStringLiteral("[0.9, 0.999]") << QStringLiteral("[0.8, 0.999]") << QStringLiteral("betas or weight decay");
        QTest::newRow("accumulation") << QStringLiteral("epochs: 10") << QStringLiteral("epochs: 10\naccumulation_steps: 2") << QStringLiteral("accumulation");
        QTest::newRow("other data") << QStringLiteral("clips.csv") << QStringLiteral("other.csv") << QStringLiteral("data position");
    }
    void saysWhatPartsFromTheSavedRun()
    {
        QFETCH(QString, from);
        QFETCH(QString, to);
        QFETCH(QString, by);
        const config::Stage stage = stageOf(kYaml, from.toStdString(), to.toStdString());
        const auto plan = resumePlan(checkpoint().string(), &stage);
        QVERIFY(plan);
        const ResumeItem *continuation = item(*plan, "continuation");
        QVERIFY(continuation);
        if (by.isEmpty()) {
            QVERIFY2(continuation->outcome.starts_with("bit for bit"), continuation->outcome.c_str());
            return;
        }
        QVERIFY2(continuation->outcome.starts_with("not bit for bit"), continuation->outcome.c_str());
        QVERIFY2(continuation->outcome.find(by.toStdString()) != std::string::npos, continuation->outcome.c_str());
    }

    // Where the rows, their buckets and order are known to be the same, another name of the table means nothing.
    void aMovedTableWithTheSameRowsKeepsThePosition()
    {
        const config::Stage stage = stageOf(kYaml, "clips.csv", "moved/clips.csv");
        ResumeSurroundings around;
        around.datasetFingerprint = "fp-1";
        const auto plan = resumePlan(checkpoint().string(), &stage, around);
        QVERIFY(plan && plan->dataPositionUsable);
        QVERIFY(item(*plan, "dataset")->outcome.find("same") != std::string::npos);
        QVERIFY(item(*plan, "continuation")->outcome.starts_with("bit for bit"));
    }

    void noticesAnotherDatasetOrNumberOfGpus()
    {
        const config::Stage stage = stageOf(kYaml);
        ResumeSurroundings around;
        around.datasetFingerprint = "fp-2";
        const auto data = resumePlan(checkpoint().string(), &stage, around);
        QVERIFY(data.ok() && data->possible && !data->dataPositionUsable && item(*data, "dataset fingerprint"));
        around.datasetFingerprint = "fp-1";
        around.worldSize = 4;
        const auto world = resumePlan(m_run.string(), &stage, around);
        QVERIFY(world.ok() && !world->dataPositionUsable);
        QCOMPARE(item(*world, "number of GPUs")->severity, Severity::Warning);
        around.ignoreDataPosition = true;
        const auto fresh = resumePlan(m_run.string(), &stage, around);
        QCOMPARE(item(*fresh, "data position")->outcome, std::string("the data starts from its beginning"));
        around.weightsOnly = true;
        const auto weights = resumePlan(m_run.string(), &stage, around);
        QVERIFY(weights->possible && !item(*weights, "optimizer"));
    }

    void explainsADamagedOneAndANamelessOne()
    {
        const fs::path folder = checkpoint();
        cut(folder / "model/model-00001.safetensors", 40);
        const auto damaged = resumePlan(folder.string(), nullptr);
        QVERIFY2(damaged.ok(), damaged.ok() ? "" : damaged.error().message().c_str());
        QVERIFY(!damaged->possible);
        QVERIFY(!resumePlan(m_run.string(), nullptr).ok());              // a run with nothing whole in it
        SmallCheckpoint foreign;
        foreign.step = 2;
        foreign.ours = false;
        const auto nameless = resumePlan(writeSmallCheckpoint(m_run, foreign).string(), nullptr);
        QVERIFY(!nameless.ok());
        QCOMPARE(nameless.error().exit, ExitCode::Usage);
        const config::Stage stage = stageOf(kYaml);
        QVERIFY(resumePlan((m_run / "epoch0-global_step2").string(), &stage)->possible);
        fs::remove(m_run / "epoch0-global_step2/running_states.json");
        QVERIFY(!resumePlan((m_run / "epoch0-global_step2").string(), &stage)->possible);
    }
};

QTEST_GUILESS_MAIN(ResumeTest)
#include "resume_test.moc"
