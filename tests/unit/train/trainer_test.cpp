// Whole runs of the trainer on a tiny model and clips that need no file.
#include <QTest>

#include <fstream>
#include <limits>
#include <numeric>
#include <utility>

#include <torch/csrc/jit/serialization/pickle.h>

#include "core/memory/ledger.h"
#include "core/model/autoencoder.h"
#include "core/model/text_encoder.h"
#include "core/train/trainer.h"
#include "tests/unit/train/recording_sink.h"
#include "tests/unit/train/synthetic_source.h"
#include "tests/unit/train/tiny_stage.h"

using namespace stagewright;
using namespace stagewright::test;
using train::Requests;
using train::StopRequest;
using train::Trainer;
namespace fs = std::filesystem;

namespace {

struct Run {
    Result<events::Summary> summary{Error()};
    RecordingSink sink;
    bool ok() const { return summary.ok(); }
    int exit() const { return summary.ok() ? summary->exit : int(summary.error().exit); }
    fs::path last() const { return summary.ok() && !summary->checkpoints.empty() ? fs::path(summary->checkpoints.back().path) : fs::path(); }
};

struct RunOptions {
    std::vector<SyntheticBatch> epoch = syntheticEpoch(5, 2);
    std::optional<fs::path> load;
    std::function<Requests(const RecordingSink &)> asks;
    std::function<void(data::Batch &)> change;
};

Run runTrainer(const fs::path &folder, const Changes &changes, RunOptions options = {})
{
    fs::create_directories(folder);
    Run run;
    run.sink.asks = options.asks;
    SyntheticSource data(options.epoch);
    data.change = options.change;
    const auto stage = tinyStage(changes);
    auto trainer = Trainer::create({.stage = stage, .data = data, .sink = run.sink, .runFolder = folder, .load = options.load, .runIdentity = "test"});
    run.summary = trainer ? (*trainer)->run() : Result<events::Summary>(trainer.error());
    memory::ledger().setBudget(0);
    return run;
}

std::string bytesOf(const fs::path &file)
{
    std::ifstream stream(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

// The first file of the original's layout that differs between two checkpoints, our own folder apart.
std::string firstDifference(const fs::path &a, const fs::path &b)
{
    int compared = 0;
    for (const auto &entry : fs::recursive_directory_iterator(a)) {
        const auto relative = fs::relative(entry.path(), a);
        if (!entry.is_regular_file() || *relative.begin() == "stagewright")
            continue;
        ++compared;
        if (bytesOf(entry.path()) != bytesOf(b / relative))
            return relative.string();
    }
    return compared ? std::string() : "there are no files";
}

Requests stopAfter(const RecordingSink &sink, std::size_t steps, StopRequest stop)
{
    return {sink.all<events::Step>().size() >= steps ? stop : StopRequest::None, false};
}

} // namespace

class TrainerTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void trainingInTwoPartsEqualsTrainingInOne_data();
    void trainingInTwoPartsEqualsTrainingInOne();
    void openWindowAtTheEndOfTheDataIsCarriedOverAResume();
    void aPositionBeyondTheDataBeginsTheEpochAgain();
    void anEpochBeyondAllSenseIsRefused_data();
    void anEpochBeyondAllSenseIsRefused();
    void resumingAtTheEndDoesNothing();
    void lastCheckpointIsSavedWithoutCkptEvery();
    void ckptEveryCountsUpdatesAndNeverSavesAtZero();
    void saveRequestIsObeyedAtTheNextUpdate();
    void stopRequests_data();
    void stopRequests();
    void stopNowDoesNotWaitForTheUpdate();
    void nonFiniteStepsAreSkippedAndNamed();
    void tenNonFiniteStepsInARowStop();
    void onNonFiniteStopStopsAtTheFirst();
    void lossScaleOverflowIsNotCountedAsNonFinite();
    void stepRecordsAreComplete();
    void whatASaveTakesIsPartOfTheNextUpdate();
    void memoryTracesAreKeptForFirstUpdatesAndPeaksOnly();
    void badSamplesAreReportedAndCounted();
    void milestonesHaveTheOriginalsNamesInOrder();
    void memoryLimitEndsWithTheBucketAndKeepsTheLastUpdate();
    void offloadIsReportedAndChangesNothing();
    void cachedBatchesTrainAsTheirClipsDo_data();
    void cachedBatchesTrainAsTheirClipsDo();
    void whatIsNotBuiltYetIsRefused_data();
    void whatIsNotBuiltYetIsRefused();
    void failedSaveIsShownAndStopsWhereAsked();
    void checkpointOfAnotherShapeIsRefused();

private:
    fs::path folder(const std::string &name) const { return fs::path(m_folder->path().toStdString()) / name; }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TrainerTest::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
}

void TrainerTest::trainingInTwoPartsEqualsTrainingInOne_data()
{
    QTest::addColumn<Changes>("changes");
    QTest::addColumn<bool>("async");
    const auto row = [](const char *name, Changes changes, bool async = false) { QTest::newRow(name) << changes << async; };
    row("fp32", {});
    row("fp32, saved while training goes on", {{"ema_decay", 0.9}}, true);
    row("bf16", {{"dtype", "bf16"}, {"ema_decay", 0.99}});
    row("fp16", {{"dtype", "fp16"}, {"plugin_config.growth_interval", 2}, {"plugin_config.initial_scale", 256.0}});
    row("accumulation over epochs, average, warm-up", {{"accumulation_steps", 3}, {"ema_decay", 0.9}, {"warmup_steps", 4}});
    row("bf16 accumulation", {{"dtype", "bf16"}, {"accumulation_steps", 2}});
    row("conditions and drop-out", {{"model.cond_embed", true}, {"condition_config", config::Value::dict([] {
             config::Dict dict;
             dict.set("t2v", 1);
             dict.set("i2v_head", 2);
             return dict;
         }())}, {"dropout_ratio.t5", 0.4}, {"dropout_ratio.clip", 0.4}});
    row("cosine", {{"use_cosine_scheduler", true}, {"warmup_steps", 2}, {"epochs", 2}});
    row("as the original, bf16", {{"compat", "opensora"}, {"dtype", "bf16"}, {"ema_decay", 0.9}, {"load_master_weights", true}});
}

void TrainerTest::trainingInTwoPartsEqualsTrainingInOne()
{
    QFETCH(Changes, changes);
    QFETCH(bool, async);
    changes.push_back({"async_io", async});
    auto whole = changes;
    whole.push_back({"max_train_steps", 6});
    const bool byRequest = std::any_of(changes.begin(), changes.end(), [](const auto &change) { return change.first == "use_cosine_scheduler"; });
    auto part = byRequest ? whole : changes;                 // a schedule's length must not change between the two parts
    if (!byRequest)
        part.push_back({"max_train_steps", 3});

    const auto one = runTrainer(folder("one"), whole);
    QVERIFY2(one.ok() && one.exit() == 0, one.ok() ? one.sink.problems().c_str() : one.summary.error().message().c_str());
    RunOptions stopping;
    if (byRequest)
        stopping.asks = [](const RecordingSink &sink) { return stopAfter(sink, 3, StopRequest::SaveAndStop); };
    const auto first = runTrainer(folder("first"), part, stopping);
    QVERIFY2(first.ok() && !first.last().empty(), first.ok() ? first.sink.problems().c_str() : first.summary.error().message().c_str());
    QCOMPARE(first.summary->steps, std::int64_t(3));
    RunOptions resuming;
    resuming.load = first.last();
    const auto second = runTrainer(folder("second"), whole, resuming);
    QVERIFY2(second.ok() && second.exit() == 0, second.ok() ? second.sink.problems().c_str() : second.summary.error().message().c_str());
    QCOMPARE(second.summary->steps, std::int64_t(3));

    auto joined = first.sink.losses();
    for (const double loss : second.sink.losses())
        joined.push_back(loss);
    QCOMPARE(joined, one.sink.losses());
    QCOMPARE(second.last().filename().string(), one.last().filename().string());
    QCOMPARE(firstDifference(one.last(), second.last()), std::string());
}

void TrainerTest::openWindowAtTheEndOfTheDataIsCarriedOverAResume()
{
    const Changes common{{"accumulation_steps", 3}, {"ema_decay", 0.9}, {"dtype", "bf16"}};
    auto twoEpochs = common, oneEpoch = common;
    twoEpochs.push_back({"epochs", 3});                      // 15 micro-steps, 5 updates
    oneEpoch.push_back({"epochs", 1});                       // 5 micro-steps: one update and two over
    const auto one = runTrainer(folder("one"), twoEpochs);
    QVERIFY(one.ok() && one.exit() == 0);
    QCOMPARE(one.summary->steps, std::int64_t(5));
    const auto first = runTrainer(folder("first"), oneEpoch);
    QVERIFY(first.ok() && first.exit() == 0);
    QCOMPARE(first.summary->steps, std::int64_t(1));
    RunOptions resuming;
    resuming.load = first.last();
    const auto second = runTrainer(folder("second"), twoEpochs, resuming);
    QVERIFY2(second.ok() && second.exit() == 0, second.ok() ? second.sink.problems().c_str() : second.summary.error().message().c_str());
    QCOMPARE(second.summary->steps, std::int64_t(4));
    auto joined = first.sink.losses();
    for (const double loss : second.sink.losses())
        joined.push_back(loss);
    QCOMPARE(joined, one.sink.losses());
    QCOMPARE(firstDifference(one.last(), second.last()), std::string());
}

// The data became fewer while the training stood still.
void TrainerTest::aPositionBeyondTheDataBeginsTheEpochAgain()
{
    const auto first = runTrainer(folder("first"), {{"max_train_steps", 4}});
    RunOptions resuming;
    resuming.load = first.last();
    resuming.epoch = syntheticEpoch(3, 2);
    const auto second = runTrainer(folder("second"), {{"max_train_steps", 5}}, resuming);
    QVERIFY2(second.ok() && second.exit() == 0, second.ok() ? second.sink.problems().c_str() : second.summary.error().message().c_str());
    const auto steps = second.sink.all<events::Step>();
    QCOMPARE(steps.size(), std::size_t(1));
    QCOMPARE(steps.front().epoch, std::int64_t(0));
    const auto notes = second.sink.all<events::Note>();
    const auto said = std::find_if(notes.begin(), notes.end(), [](const auto &note) { return note.code == "data.changed" && note.sentence.find("batch 4 of epoch 0") != std::string::npos; });
    QVERIFY(said != notes.end());
    QCOMPARE(said->level, std::string("warning"));
}

void TrainerTest::anEpochBeyondAllSenseIsRefused_data()
{
    QTest::addColumn<qint64>("epoch");
    QTest::newRow("the largest number") << std::numeric_limits<qint64>::max();
    QTest::newRow("one less") << std::numeric_limits<qint64>::max() - 1;
    QTest::newRow("more than anybody trains") << qint64(2'000'000'000);
}

void TrainerTest::anEpochBeyondAllSenseIsRefused()
{
    QFETCH(qint64, epoch);
    const auto first = runTrainer(folder("first"), {{"max_train_steps", 1}});
    RunOptions resuming;
    resuming.load = first.last();
    const auto second = runTrainer(folder("second"), {{"max_train_steps", 5}, {"start_epoch", std::int64_t(epoch)}}, resuming);
    QVERIFY(!second.ok() || second.exit() != 0);
    QVERIFY(second.sink.all<events::Step>().empty());
    const std::string said = second.ok() ? second.sink.problems() : second.summary.error().message();
    QVERIFY2(said.find("epoch") != std::string::npos, said.c_str());
}

void TrainerTest::resumingAtTheEndDoesNothing()
{
    const Changes changes{{"max_train_steps", 2}};
    const auto first = runTrainer(folder("first"), changes);
    RunOptions resuming;
    resuming.load = first.last();
    const auto again = runTrainer(folder("again"), changes, resuming);
    QVERIFY(again.ok());
    QCOMPARE(again.exit(), 0);
    QCOMPARE(again.summary->steps, std::int64_t(0));
    QVERIFY(again.summary->checkpoints.empty());
    QVERIFY(again.sink.all<events::Step>().empty());
}

void TrainerTest::lastCheckpointIsSavedWithoutCkptEvery()
{
    const auto run = runTrainer(folder("run"), {{"max_train_steps", 3}});
    QCOMPARE(run.exit(), 0);
    QCOMPARE(run.summary->checkpoints.size(), std::size_t(1));
    QCOMPARE(run.last().filename().string(), std::string("epoch0-global_step3"));
    QVERIFY(fs::exists(run.last() / "running_states.json"));
}

void TrainerTest::ckptEveryCountsUpdatesAndNeverSavesAtZero()
{
    const auto run = runTrainer(folder("run"), {{"max_train_steps", 5}, {"ckpt_every", 2}, {"accumulation_steps", 2}});
    QCOMPARE(run.exit(), 0);
    std::vector<std::string> names;
    for (const auto &checkpoint : run.summary->checkpoints)
        names.push_back(fs::path(checkpoint.path).filename().string());
    QCOMPARE(names, (std::vector<std::string>{"epoch0-global_step2", "epoch1-global_step4", "epoch1-global_step5"}));
}

void TrainerTest::saveRequestIsObeyedAtTheNextUpdate()
{
    RunOptions options;
    bool asked = false;
    options.asks = [&](const RecordingSink &sink) {
        const bool now = !asked && sink.all<events::Step>().size() == 2;
        asked = asked || now;
        return Requests{StopRequest::None, now};
    };
    const auto run = runTrainer(folder("run"), {{"max_train_steps", 4}}, options);
    QCOMPARE(run.exit(), 0);
    QVERIFY(fs::exists(folder("run") / "epoch0-global_step2" / "running_states.json"));
    QVERIFY(fs::exists(folder("run") / "epoch0-global_step4" / "running_states.json"));
}

void TrainerTest::stopRequests_data()
{
    QTest::addColumn<int>("request");
    QTest::addColumn<int>("checkpoints");
    QTest::newRow("save and stop") << int(StopRequest::SaveAndStop) << 1;
    QTest::newRow("stop without saving") << int(StopRequest::StopWithoutSaving) << 0;
    QTest::newRow("now") << int(StopRequest::Now) << 0;
}

void TrainerTest::stopRequests()
{
    QFETCH(int, request);
    QFETCH(int, checkpoints);
    RunOptions options;
    options.asks = [&](const RecordingSink &sink) { return stopAfter(sink, 2, StopRequest(request)); };
    const auto run = runTrainer(folder("run"), {}, options);
    QVERIFY(run.ok());
    QCOMPARE(run.exit(), int(ExitCode::Stopped));
    QCOMPARE(run.summary->steps, std::int64_t(2));
    QCOMPARE(int(run.summary->checkpoints.size()), checkpoints);
    QCOMPARE(run.sink.all<events::State>().back().state, std::string("finished"));
    QCOMPARE(run.sink.all<events::State>().back().exit, std::optional<int>(int(ExitCode::Stopped)));
}

void TrainerTest::stopNowDoesNotWaitForTheUpdate()
{
    RunOptions options;
    int polls = 0;
    options.asks = [&](const RecordingSink &) { return Requests{++polls >= 2 ? StopRequest::Now : StopRequest::None, false}; };
    const auto run = runTrainer(folder("run"), {{"accumulation_steps", 4}}, options);
    QCOMPARE(run.exit(), int(ExitCode::Stopped));
    QCOMPARE(run.summary->steps, std::int64_t(0));
    QVERIFY(run.summary->checkpoints.empty());
}

void TrainerTest::nonFiniteStepsAreSkippedAndNamed()
{
    RunOptions options;
    options.change = [](data::Batch &batch) {
        if (batch.epoch == 0 && batch.index == 2)
            batch.video.index_put_({0, 0, 0, 0, 0}, std::nanf(""));
    };
    const auto run = runTrainer(folder("run"), {{"max_train_steps", 5}, {"ckpt_every", 1}}, options);
    QVERIFY2(run.exit() == 0, run.sink.problems().c_str());
    const auto steps = run.sink.all<events::Step>();
    QCOMPARE(steps.size(), std::size_t(6));
    for (std::size_t i = 0; i < steps.size(); ++i) {
        QCOMPARE(steps[i].skipped, i == 2);
        QCOMPARE(std::isfinite(steps[i].loss), i != 2);
    }
    const auto notes = run.sink.all<events::Note>();
    const auto named = std::find_if(notes.begin(), notes.end(), [](const auto &note) { return note.code == "run.not-finite"; });
    QVERIFY(named != notes.end());
    QVERIFY2(named->sentence.find(std::to_string(steps[2].rows[0])) != std::string::npos, named->sentence.c_str());
    QCOMPARE(run.summary->steps, std::int64_t(5));
    QCOMPARE(run.summary->checkpoints.size(), std::size_t(5));               // none for the skipped one
}

void TrainerTest::tenNonFiniteStepsInARowStop()
{
    RunOptions options;
    options.change = [](data::Batch &batch) { batch.video.fill_(std::nanf("")); };
    const auto run = runTrainer(folder("run"), {{"ckpt_every", 1}}, options);
    QVERIFY(run.ok());
    QCOMPARE(run.exit(), int(ExitCode::Other));
    QCOMPARE(run.sink.all<events::Step>().size(), std::size_t(10));
    QVERIFY(run.summary->checkpoints.empty());
    QVERIFY2(run.sink.problems().find("10 times in a row") != std::string::npos, run.sink.problems().c_str());
    QCOMPARE(run.sink.all<events::State>().back().state, std::string("failed"));
}

void TrainerTest::onNonFiniteStopStopsAtTheFirst()
{
    RunOptions options;
    options.change = [](data::Batch &batch) {
        if (batch.index == 1)
            batch.video.fill_(std::nanf(""));
    };
    const auto run = runTrainer(folder("run"), {{"on_nonfinite", "stop"}}, options);
    QCOMPARE(run.exit(), int(ExitCode::Other));
    QCOMPARE(run.sink.all<events::Step>().size(), std::size_t(2));
}

void TrainerTest::lossScaleOverflowIsNotCountedAsNonFinite()
{
    const auto run = runTrainer(folder("run"), {{"dtype", "fp16"}, {"on_nonfinite", "stop"}, {"max_train_steps", 2}, {"plugin_config.initial_scale", 4294967296.0},
                                                {"plugin_config.hysteresis", 1}});
    QVERIFY2(run.exit() == 0, run.sink.problems().c_str());
    const auto steps = run.sink.all<events::Step>();
    QVERIFY(steps.front().skipped);
    QVERIFY(std::isfinite(steps.front().loss));
    QVERIFY(!steps.back().skipped);
}

void TrainerTest::stepRecordsAreComplete()
{
    const auto run = runTrainer(folder("run"), {{"max_train_steps", 3}, {"accumulation_steps", 2}, {"warmup_steps", 10}});
    QCOMPARE(run.exit(), 0);
    const auto steps = run.sink.all<events::Step>();
    QCOMPARE(steps.size(), std::size_t(3));
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const auto &step = steps[i];
        QCOMPARE(step.microSteps, std::int64_t(2));
        QCOMPARE(step.samples, std::int64_t(4));
        QCOMPARE(step.rows.size(), std::size_t(2));
        QCOMPARE(step.bucket, (events::Bucket{"32px", 5, 16, 16, 2}));
        QVERIFY(step.gradNorm > 0 && step.seconds > 0 && step.peakBytes > 0);
        const double expected = 1e-6 + double(i + 1) / 11 * (2e-3 - 1e-6);      // warm-up counts updates
        QVERIFY(std::abs(step.lr - expected) < 1e-12);
        double phases = 0;
        for (const double seconds : step.phaseSeconds)
            phases += seconds;
        QVERIFY2(phases > 0 && phases <= step.seconds * 1.01, QByteArray::number(phases).constData());
        QVERIFY(step.peakByKind[std::size_t(MemoryKind::Parameter)] > 0 && step.peakByKind[std::size_t(MemoryKind::Encoder)] > 0);
        QCOMPARE(std::accumulate(step.peakByKind.begin(), step.peakByKind.end(), std::int64_t(0)), step.peakBytes);
    }
    std::vector<std::int64_t> numbers;
    for (const auto &record : run.sink.records) {
        if (std::holds_alternative<events::Step>(record.payload))
            numbers.push_back(record.step);
    }
    QCOMPARE(numbers, (std::vector<std::int64_t>{1, 2, 3}));
    QVERIFY(std::holds_alternative<events::RunStarted>(run.sink.records.front().payload));
    QCOMPARE(run.summary->peakBytes, std::max({steps[0].peakBytes, steps[1].peakBytes, steps[2].peakBytes}));
}

void TrainerTest::whatASaveTakesIsPartOfTheNextUpdate()
{
    const auto run = runTrainer(folder("run"), {{"max_train_steps", 4}, {"ckpt_every", 2}, {"async_io", false}});
    QVERIFY2(run.ok() && run.exit() == 0, run.sink.problems().c_str());
    const auto steps = run.sink.all<events::Step>();
    QCOMPARE(steps.size(), std::size_t(4));
    QCOMPARE(steps[1].blockedSeconds, 0.0);
    QVERIFY(steps[2].blockedSeconds > 0);                    // that of the save after the second one
    for (const auto &step : steps)
        QVERIFY2(step.seconds >= step.blockedSeconds + step.dataWaitSeconds, QByteArray::number(step.seconds).constData());
}

void TrainerTest::memoryTracesAreKeptForFirstUpdatesAndPeaksOnly()
{
    auto epoch = syntheticEpoch(4, 2);
    epoch.push_back({{90, 91}, 9, 16, 16});
    RunOptions options;
    options.epoch = epoch;
    const auto run = runTrainer(folder("run"), {{"max_train_steps", 20}}, options);
    QCOMPARE(run.exit(), 0);
    const auto steps = run.sink.all<events::Step>();
    std::size_t expected = 0;
    std::map<std::int64_t, int> seen;
    std::int64_t best = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool first = ++seen[steps[i].bucket.frames] <= 2, peak = steps[i].peakBytes > best;
        best = std::max(best, steps[i].peakBytes);
        expected += first || peak || i % 100 == 0;
    }
    QCOMPARE(run.sink.all<events::MemoryTrace>().size(), expected);
    QVERIFY(expected < steps.size());
    for (const auto &trace : run.sink.all<events::MemoryTrace>())
        QVERIFY(trace.at.size() > 10 && trace.at.size() == trace.bytes.size() && trace.at.size() == trace.phase.size());
}

void TrainerTest::badSamplesAreReportedAndCounted()
{
    RunOptions options;
    options.change = [](data::Batch &batch) { batch.bad.push_back({batch.index, "clip.mp4", "cut short", batch.index + 1, 0}); };
    const auto run = runTrainer(folder("run"), {{"max_train_steps", 3}}, options);
    const auto bad = run.sink.all<events::BadSample>();
    QCOMPARE(bad.size(), std::size_t(3));
    QCOMPARE(bad.back().total, std::int64_t(3));
}

void TrainerTest::milestonesHaveTheOriginalsNamesInOrder()
{
    const auto run = runTrainer(folder("run"), {{"max_train_steps", 1}, {"ema_decay", 0.9}});
    std::vector<std::string> names;
    for (const auto &milestone : run.sink.all<events::Milestone>())
        names.push_back(milestone.at);
    QCOMPARE(names, (std::vector<std::string>{"diffusion", "EMA", "autoencoder", "t5", "clip", "optimizer", "boost", "sharding EMA", "final"}));
}

void TrainerTest::memoryLimitEndsWithTheBucketAndKeepsTheLastUpdate()
{
    const auto free = runTrainer(folder("free"), {{"max_train_steps", 2}});
    auto epoch = syntheticEpoch(4, 2);
    epoch.push_back({{90, 91, 92, 93, 94, 95, 96, 97}, 41, 64, 64});         // far larger than the others
    RunOptions options;
    options.epoch = epoch;
    // Room for the clips themselves, while they are put together (twice their size), not for encoding and training on them.
    const double clips = 8.0 * 3 * 41 * 64 * 64 * 4;
    const double limit = (double(free.summary->peakBytes) * 2 + clips * 2.2) / (1024.0 * 1024.0 * 1024.0);
    const auto run = runTrainer(folder("run"), {{"memory_limit", limit}}, options);
    QVERIFY2(run.ok(), run.ok() ? "" : run.summary.error().message().c_str());
    QCOMPARE(run.exit(), int(ExitCode::OutOfMemory));
    const auto problems = run.sink.all<events::ProblemRecord>();
    QCOMPARE(problems.size(), std::size_t(1));
    QCOMPARE(problems[0].problem.code, std::string("memory.out-of-memory"));
    QVERIFY2(problems[0].problem.message.find("41 frames of 64x64, batch 8") != std::string::npos, problems[0].problem.message.c_str());
    const auto done = run.summary->steps;
    QCOMPARE(run.summary->checkpoints.size(), std::size_t(done > 0 ? 1 : 0));

    RunOptions resuming;                                                     // without the large batch, from what was kept
    resuming.load = run.last();
    if (done > 0) {
        const auto more = runTrainer(folder("more"), {{"max_train_steps", done + 2}}, resuming);
        QVERIFY2(more.exit() == 0, more.sink.problems().c_str());
    }
}

void TrainerTest::offloadIsReportedAndChangesNothing()
{
    const Changes common{{"max_train_steps", 3}, {"grad_checkpoint", true}};
    auto offloading = common;
    offloading.push_back({"grad_ckpt_buffer_size", 1 << 20});
    const auto plain = runTrainer(folder("plain"), common);
    const auto run = runTrainer(folder("run"), offloading);
    QVERIFY2(run.exit() == 0, run.sink.problems().c_str());
    QCOMPARE(run.sink.losses(), plain.sink.losses());
    const auto buffers = run.sink.all<events::Buffer>();
    QVERIFY(!buffers.empty());
    QCOMPARE(buffers[0].capacityBytes, std::int64_t(4) << 20);
    QVERIFY(buffers[0].offloadedBlocks > 0 && buffers[0].highWaterBytes > 0);
    QCOMPARE(buffers[0].keptBlocks, std::int64_t(0));
    QVERIFY(plain.sink.all<events::Buffer>().empty());
}

void TrainerTest::cachedBatchesTrainAsTheirClipsDo_data()
{
    QTest::addColumn<bool>("video");
    QTest::addColumn<bool>("text");
    QTest::addColumn<Changes>("changes");
    QTest::newRow("latents") << true << false << Changes{};
    QTest::newRow("text") << false << true << Changes{};
    QTest::newRow("both") << true << true << Changes{{"compat", "opensora"}};
    QTest::newRow("text with drop-out") << true << true << Changes{{"dropout_ratio.t5", 0.6}, {"dropout_ratio.clip", 0.6}};
}

// Nothing of a run may depend on whether latents and embeddings were made in the step or before.
void TrainerTest::cachedBatchesTrainAsTheirClipsDo()
{
    QFETCH(bool, video);
    QFETCH(bool, text);
    QFETCH(Changes, changes);
    changes.insert(changes.end(), {{"max_train_steps", 4}, {"dataset.data_path", folder("none.csv").string()}});
    const auto reference = runTrainer(folder("clips"), changes);
    QVERIFY2(reference.ok(), reference.ok() ? "" : reference.summary.error().message().c_str());

    const auto stage = tinyStage(changes);
    const auto autoencoder = model::makeAutoencoder(stage, torch::kCPU, torch::kFloat32).value();
    const auto tokens = model::makeTokenEncoder(stage, torch::kCPU, torch::kFloat32).value(), pooled = model::makePooledEncoder(stage, torch::kCPU, torch::kFloat32).value();
    RunOptions options;
    options.change = [&](data::Batch &batch) {
        if (text) {
            batch.tokens = tokens->encode(batch.texts);
            batch.pooled = pooled->encode(batch.texts);
            batch.texts.assign(batch.texts.size(), "not read");
        }
        if (video)
            batch.latents = autoencoder->encode(std::exchange(batch.video, {}));
    };
    const auto save = [this](const char *name, const torch::Tensor &tensor) {
        const auto bytes = torch::jit::pickle_save(tensor.clone());
        std::ofstream(folder(name), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    };
    save("null_t5.pt", tokens->nullEmbedding());
    save("null_clip.pt", pooled->nullEmbedding());
    changes.insert(changes.end(), {{"cached_video", video}, {"cached_text", text}, {"dataset.type", "cached_video_text"}});
    if (video)
        changes.push_back({"ae", config::Value()});    // not needed, so it may be left out
    const auto cached = runTrainer(folder("cached"), changes, options);
    QVERIFY2(cached.ok(), cached.ok() ? "" : cached.summary.error().message().c_str());
    QCOMPARE(cached.summary->loss, reference.summary->loss);
    QCOMPARE(firstDifference(reference.last() / "model", cached.last() / "model"), std::string());
}

void TrainerTest::whatIsNotBuiltYetIsRefused_data()
{
    QTest::addColumn<Changes>("changes");
    QTest::newRow("autoencoder") << Changes{{"ae", config::Value::dict([] {
                                                 config::Dict dict;
                                                 dict.set("type", "hunyuan_vae");
                                                 return dict;
                                             }())}};
    QTest::newRow("t5") << Changes{{"t5.type", "text_embedder"}};
    QTest::newRow("clip") << Changes{{"clip.type", "text_embedder"}};
    QTest::newRow("lora") << Changes{{"lora_config.r", 16}};
    QTest::newRow("cached latents with conditions") << Changes{{"cached_video", true}, {"model.cond_embed", true}, {"condition_config", config::Value::dict([] {
                                                           config::Dict dict;
                                                           dict.set("t2v", 1);
                                                           return dict;
                                                       }())}};
    QTest::newRow("sizes that do not fit") << Changes{{"model.in_channels", 64}};
    QTest::newRow("conditions without a table") << Changes{{"model.cond_embed", true}};
}

void TrainerTest::whatIsNotBuiltYetIsRefused()
{
    QFETCH(Changes, changes);
    const auto run = runTrainer(folder("run"), changes);
    QVERIFY(!run.ok());
    QCOMPARE(run.exit(), int(ExitCode::Usage));
    QVERIFY(run.summary.error().message().size() > 20);
}

void TrainerTest::failedSaveIsShownAndStopsWhereAsked()
{
    for (const bool stop : {false, true}) {
        const auto place = folder(stop ? "stop" : "continue");
        RunOptions options;
        options.change = [&](data::Batch &batch) {                           // the folder goes away under the run
            if (batch.index == 1) {
                fs::remove_all(place);
                std::ofstream(place) << "in the way";
            }
        };
        const auto run = runTrainer(place, {{"max_train_steps", 4}, {"ckpt_every", 2}, {"on_save_error", stop ? "stop" : "continue"}}, options);
        QVERIFY(run.ok());
        QCOMPARE(run.exit(), int(ExitCode::InputOutput));
        QCOMPARE(run.summary->steps, std::int64_t(stop ? 2 : 4));
        QVERIFY(!run.sink.problems().empty());
    }
}

void TrainerTest::checkpointOfAnotherShapeIsRefused()
{
    const auto first = runTrainer(folder("first"), {{"max_train_steps", 1}});
    RunOptions resuming;
    resuming.load = first.last();
    const auto other = runTrainer(folder("other"), {{"max_train_steps", 2}, {"model.mlp_ratio", 3.0}}, resuming);
    QVERIFY(!other.ok());
    QCOMPARE(other.exit(), int(ExitCode::Checkpoint));
}

QTEST_GUILESS_MAIN(TrainerTest)
#include "trainer_test.moc"
