// Whole runs of Open-Sora's trainer, replayed step by step from their recorded inputs and draws under compat opensora; and the runs in
// which the original failed, which must succeed here.
#include <QTest>

#include <cstdio>

#include "core/checkpoint/load.h"
#include "core/train/trainer.h"
#include "tests/numerics/train/replay.h"
#include "tests/support/golden.h"
#include "tests/unit/train/recording_sink.h"
#include "tests/unit/train/synthetic_source.h"

using namespace stagewright;
using namespace stagewright::train;
using namespace stagewright::test;

namespace {

// Suggested by the README of the golden data.
struct Tolerances {
    double loss, gradNorm, update, firstGradient, average;
};
constexpr Tolerances kFloat32{1e-5, 1e-5, 1e-4, 1e-5, 1e-4};
constexpr Tolerances kHalf{5e-3, 1e-2, 5e-2, 2e-2, 5e-2};

double relative(double a, double b)
{
    return std::abs(a - b) / std::max(std::abs(b), 1e-30);
}

struct Replayed {
    Settings settings;                           // referred to by the engine
    std::unique_ptr<Engine> engine;
    std::string skip;                            // why the run was not replayed
    std::string failure;                         // the first thing that differs
};

std::string where(const RecordedRun &run, std::size_t step, const std::string &what, double distance)
{
    char text[300];
    std::snprintf(text, sizeof text, "%s step %zu: %s is off by %.3g", run.name.c_str(), step, what.c_str(), distance);
    return text;
}

void copyWeights(Engine &engine, const TensorMap &tensors, const std::string &prefix)
{
    torch::NoGradGuard noGrad;
    for (auto &parameter : engine.state().parameters)
        parameter.weight.copy_(tensors.at(prefix + parameter.name));
}

std::string compareStep(const RecordedRun &run, std::size_t i, const RecordedStep &recorded, const MicroStepOutcome &micro,
                        const std::optional<UpdateOutcome> &update, double lrAfter, const Tolerances &tolerances)
{
    const auto &expected = run.json["steps"][i];
    if (const double distance = relative(micro.inputs.shiftAlpha, expected["shift_alpha"]); distance > 1e-12)
        return where(run, i, "the time shift", distance);
    const bool exact = micro.inputs.model.img.scalar_type() == torch::kBFloat16;
    const std::pair<const char *, torch::Tensor> inputs[] = {{"inp.img", micro.inputs.model.img}, {"inp.img_ids", micro.inputs.model.imgIds},
        {"inp.timesteps", micro.inputs.model.timesteps}, {"inp.txt", micro.inputs.model.txt}, {"inp.y_vec", micro.inputs.model.yVec},
        {"inp.cond", micro.inputs.model.cond}, {"target_fp32", micro.inputs.target}};
    for (const auto &[name, ours] : inputs) {
        const auto *theirs = recorded.find(name);
        if (!theirs || !ours.defined())
            continue;
        if (const double distance = relativeL2(ours, *theirs); distance > (exact ? 0 : 1e-6))
            return where(run, i, name, distance);
    }
    if (const double distance = relative(micro.loss.item<double>(), expected["local_loss"]); distance > tolerances.loss)
        return where(run, i, "the loss", distance);
    if (expected["updated"].get<bool>() != update.has_value())
        return where(run, i, "whether an update is made", 1);
    if (const double distance = relative(lrAfter, expected["lr_after"]); distance > 1e-9)
        return where(run, i, "the learning rate after the step", distance);
    if (!update)
        return {};
    if (const double distance = relative(update->gradNorm, expected["grad_norm"]); distance > tolerances.gradNorm)
        return where(run, i, "the gradient norm", distance);
    if (const double distance = relative(update->lr, expected["lr_used"]); distance > 1e-9)
        return where(run, i, "the learning rate", distance);
    return {};
}

// Compares what PREFIX + name holds with a part of every parameter, as a change from `start` where that is given.
std::string compareAll(const RecordedRun &run, const std::string &prefix, const std::vector<checkpoint::ParameterState> &parameters,
                       const std::function<torch::Tensor(const checkpoint::ParameterState &)> &part, const TensorMap &start, double tolerance)
{
    std::vector<torch::Tensor> ours, theirs;
    for (const auto &parameter : parameters) {
        const auto found = run.tensors.find(prefix + parameter.name);
        if (found == run.tensors.end() || !part(parameter).defined())
            continue;
        auto left = part(parameter).detach().to(torch::kFloat64).flatten(), right = found->second.to(torch::kFloat64).flatten();
        if (const auto from = start.find(parameter.name); from != start.end()) {
            left = left - from->second.flatten();
            right = right - from->second.flatten();
        }
        ours.push_back(left);
        theirs.push_back(right);
    }
    if (ours.empty())
        return {};
    const double distance = relativeL2(torch::cat(ours), torch::cat(theirs));
    return distance > tolerance ? run.name + ": " + prefix + "* is off by " + std::to_string(distance) : std::string();
}

TensorMap snapshot(Engine &engine)
{
    TensorMap values;
    for (const auto &parameter : engine.state().parameters)
        values[parameter.name] = (parameter.master.defined() ? parameter.master : parameter.weight).detach().to(torch::kFloat64).clone();
    return values;
}

Replayed replay(const RecordedRun &run)
{
    Replayed result;
    const auto stage = stageOf(run);
    const auto resume = resumeSource(run);
    if (resume && !resume->folder) {
        result.skip = "it resumes from " + resume->run + " step " + std::to_string(resume->step) + ", of which there is no golden checkpoint";
        return result;
    }
    const auto settings = readSettings(stage, 1);
    if (!settings) {
        result.failure = settings.error().message();
        return result;
    }
    result.settings = *settings;
    const auto config = model::mmditConfig(stage);
    const auto perEpoch = batchesPerEpoch(run);
    result.engine = std::make_unique<Engine>(result.settings, model::Mmdit(*config, torch::TensorOptions(settings->dtype)), perEpoch);
    auto &engine = *result.engine;
    if (!resume)
        copyWeights(engine, run.tensors, "init.");
    engine.makeAverage();
    engine.makeMasters();
    memory::StepMemory memory;
    memory.depth = model::checkpointDepth(stage)->depth;
    engine.setMemory(memory);
    engine.setKeepPrediction(true);
    if (resume) {
        checkpoint::LoadOptions options;
        options.emaFromMaster = true;
        const auto report = checkpoint::loadCheckpoint(resume->folder->string(), engine.state(), options);
        if (!report) {
            result.failure = report.error().message();
            return result;
        }
        std::vector<std::string> notes;
        engine.adoptState(notes);
    }
    const auto tolerances = settings->dtype == torch::kFloat32 ? kFloat32 : kHalf;
    const auto start = snapshot(engine);
    const auto first = engine.counters();
    bool firstUpdate = true;
    for (std::size_t i = 0; i < run.json["steps"].size() && result.failure.empty(); ++i) {
        RecordedStep recorded(run, i, settings->patch);
        data::Batch batch;
        const auto index = first.epoch * perEpoch + first.microStep + std::int64_t(i);
        batch.epoch = index / perEpoch;
        batch.index = index % perEpoch;
        batch.video = torch::zeros({recorded.batchSize(), 3, 1, 1, 1});
        const auto micro = engine.microStep(batch, recorded, recorded);
        std::optional<UpdateOutcome> update;
        if (engine.isUpdateDue()) {
            if (firstUpdate && run.isOwn()) {
                engine.fillState();              // shows the gradients of the open window
                result.failure = compareAll(run, "first_update_grad.", engine.state().parameters, [](const auto &p) { return p.gradient; }, {}, tolerances.firstGradient);
            }
            firstUpdate = false;
            update = engine.update();
        }
        engine.afterMicroStep();
        if (result.failure.empty())
            result.failure = compareStep(run, i, recorded, micro, update, engine.schedule().lr(), tolerances);
    }
    if (!result.failure.empty() || !run.isOwn())
        return result;
    const auto &parameters = engine.state().parameters;
    const bool half = settings->dtype != torch::kFloat32;
    // The whole update is compared where the recording resolves it: in half precision the working weights alone do not (two updates change
    // a weight by few of its own rounding steps), the fp32 masters do; some recordings have only the former.
    const std::string resolved = half ? "final_master_shard." : "final.";
    for (const auto &failure : {
             compareAll(run, resolved, parameters, [](const auto &p) { return p.master.defined() ? p.master : p.weight; }, start, tolerances.update),
             compareAll(run, "final.", parameters, [](const auto &p) { return p.weight; }, {}, half ? 1e-2 : 1e-5),
             compareAll(run, "final_ema_shard.", parameters, [](const auto &p) { return p.ema; }, {}, half ? 1e-2 : 1e-5),
             compareAll(run, "final_exp_avg_shard.", parameters, [](const auto &p) { return p.expAvg; }, {}, tolerances.average),
             compareAll(run, "final_exp_avg_sq_shard.", parameters, [](const auto &p) { return p.expAvgSq; }, {}, tolerances.average)}) {
        if (result.failure.empty())
            result.failure = failure;
    }
    return result;
}

// A trainer over clips of the recorded run's lengths, in the epoch's number of batches.
std::vector<SyntheticBatch> epochOf(const RecordedRun &run)
{
    std::vector<SyntheticBatch> epoch;
    for (std::int64_t i = 0; i < batchesPerEpoch(run); ++i) {
        const std::int64_t frames[] = {41, 5, 1, 9};
        epoch.push_back({{2 * i, 2 * i + 1}, frames[i % 4], 16, 32});
    }
    return epoch;
}

struct Outcome {
    Result<events::Summary> summary{Error()};
    RecordingSink sink;
};

Outcome trainRun(const RecordedRun &run, config::Stage stage, const std::filesystem::path &folder, const std::optional<std::filesystem::path> &load)
{
    Outcome outcome;
    SyntheticSource data(epochOf(run));
    auto trainer = Trainer::create({.stage = stage, .data = data, .sink = outcome.sink, .runFolder = folder, .load = load, .runIdentity = "golden"});
    outcome.summary = trainer ? (*trainer)->run() : Result<events::Summary>(trainer.error());
    return outcome;
}

} // namespace

class TrajectoryTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void replayedRunEqualsTheRecording_data() { addRuns(false); }
    void replayedRunEqualsTheRecording();
    void runInWhichTheOriginalFailedSucceeds_data() { addRuns(true); }
    void runInWhichTheOriginalFailedSucceeds();
    void initialWeightsFollowFromTheSeed();

private:
    void addRuns(bool failedUpstream);
    std::vector<RecordedRun> m_runs;
};

void TrajectoryTest::initTestCase()
{
    torch::set_num_threads(1);
    m_runs = recordedRuns();
    QVERIFY(!m_runs.empty());
}

void TrajectoryTest::addRuns(bool failedUpstream)
{
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < m_runs.size(); ++i) {
        if (m_runs[i].failedUpstream() == failedUpstream)
            QTest::newRow(m_runs[i].name.c_str()) << int(i);
    }
    if (std::none_of(m_runs.begin(), m_runs.end(), [&](const auto &run) { return run.failedUpstream() == failedUpstream; }))
        QTest::newRow("no such run") << -1;
}

void TrajectoryTest::replayedRunEqualsTheRecording()
{
    QFETCH(int, index);
    if (index < 0)
        QSKIP("there is no such recording");
    const auto &run = m_runs[std::size_t(index)];
    if (run.json["world"].get<int>() > 1)
        QSKIP("recorded with more than one process: training with several is not built yet");
    if (run.tensorsOf.empty())
        QSKIP("its inputs were not recorded, nor those of a run with the same batches");
    const auto result = replay(run);
    if (!result.skip.empty())
        QSKIP(result.skip.c_str());
    QVERIFY2(result.failure.empty(), result.failure.c_str());
}

void TrajectoryTest::runInWhichTheOriginalFailedSucceeds()
{
    QFETCH(int, index);
    if (index < 0)
        QSKIP("there is no such recording");
    const auto &run = m_runs[std::size_t(index)];
    if (run.json["world"].get<int>() > 1)
        QSKIP("recorded with more than one process: training with several is not built yet");
    QTemporaryDir folder;
    const std::filesystem::path root = folder.path().toStdString();
    std::filesystem::create_directories(root / "run");
    auto stage = stageOf(run);
    std::optional<std::filesystem::path> load;
    if (const auto resume = resumeSource(run)) {
        load = resume->folder;
        if (!load) {                             // train the run that it resumes from as far as that
            const auto source = std::find_if(m_runs.begin(), m_runs.end(), [&](const auto &other) { return other.name == resume->run; });
            QVERIFY2(source != m_runs.end(), resume->run.c_str());
            auto sourceStage = stageOf(*source);
            sourceStage.values().set("max_train_steps", resume->step);
            std::filesystem::create_directories(root / "source");
            const auto made = trainRun(*source, sourceStage, root / "source", {});
            QVERIFY2(made.summary.ok(), made.summary.ok() ? "" : made.summary.error().message().c_str());
            QVERIFY(!made.summary->checkpoints.empty());
            load = made.summary->checkpoints.back().path;
        }
    }
    const auto outcome = trainRun(run, stage, root / "run", load);
    QVERIFY2(outcome.summary.ok(), outcome.summary.ok() ? "" : outcome.summary.error().message().c_str());
    QVERIFY2(outcome.summary->exit == 0, outcome.sink.problems().c_str());
    QVERIFY2(outcome.summary->steps > 0, "no update was made");
    for (const double loss : outcome.sink.losses())
        QVERIFY(std::isfinite(loss));
    QVERIFY2(!outcome.summary->checkpoints.empty(), outcome.sink.problems().c_str());
}

void TrajectoryTest::initialWeightsFollowFromTheSeed()
{
    int compared = 0;
    for (const auto &run : m_runs) {
        if (!run.isOwn() || run.json["world"].get<int>() > 1 || resumeSource(run))
            continue;
        const auto stage = stageOf(run);
        const auto settings = readSettings(stage, 1);
        QVERIFY(settings.ok());
        torch::manual_seed(static_cast<std::uint64_t>(settings->seed));
        model::Mmdit mmdit(*model::mmditConfig(stage), torch::TensorOptions(settings->dtype));
        int drawn = 0;
        for (const auto &named : mmdit->named_parameters()) {
            // What begins as a constant (norm scales at one, cond_in at zero) the recordings fill with numbers of their own, so that it
            // matters from the first step; everything that is drawn must be as drawn.
            if (named.value().min().item<double>() == named.value().max().item<double>())
                continue;
            ++drawn;
            QVERIFY2(relativeL2(named.value(), run.tensors.at("init." + named.key())) < 1e-6, (run.name + " " + named.key()).c_str());
        }
        QVERIFY(drawn > 20);
        // Where the generator stands after that is not compared: the recording's stand-ins for the encoders drew from it, too.
        ++compared;
    }
    if (compared == 0)
        QSKIP("no recording begins from fresh weights");
}

QTEST_GUILESS_MAIN(TrajectoryTest)
#include "trajectory_test.moc"
