// Loading that must be refused, or done in part and said so; weights for fine-tuning from any kind of file.
#include <QTest>

#include <fstream>
#include <limits>

#include "core/base/files.h"
#include "core/checkpoint/load.h"
#include "core/checkpoint/writer.h"
#include "core/ckptfile/export.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/safetensors.h"
#include "core/ckptfile/stored_tensor.h"
#include "small_state.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::checkpoint;
using namespace stagewright::tests;
namespace fs = std::filesystem;

class WeightsTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_run;
    TrainingState m_state;

    fs::path save(const TrainingState &state)
    {
        CheckpointWriter writer;
        const Status begun = writer.begin(state, m_run, {});
        if (!begun || !writer.finish(std::chrono::seconds(60)))
            qFatal("the checkpoint was not saved");
        return writer.takeOutcomes().front().folder;
    }
    // A safetensors file of fp32 tensors filled with 4.
    fs::path tensorFile(const char *name, const std::vector<std::pair<std::string, std::vector<std::int64_t>>> &tensors)
    {
        std::vector<ckptfile::TensorInfo> infos;
        for (const auto &[tensor, shape] : tensors)
            infos.push_back({tensor, ckptfile::DType::F32, shape});
        std::string bytes = ckptfile::safetensorsHeader(infos);
        const float four = 4;
        for (std::int64_t left = infos.empty() ? 0 : infos.back().end / 4; left > 0; --left)
            bytes.append(reinterpret_cast<const char *>(&four), 4);
        std::ofstream(m_run / name, std::ios::binary) << bytes;
        return m_run / name;
    }
    static TrainingState twoLayers()
    {
        TrainingState state;
        for (const auto &[name, shape] : std::vector<std::pair<std::string, std::vector<std::int64_t>>>{{"a.weight", {4, 3}}, {"b.weight", {2, 3}}}) {
            ParameterState parameter;
            parameter.name = name;
            parameter.weight = torch::ones(shape, at::kBFloat16);
            parameter.master = torch::ones(shape);
            state.parameters.push_back(std::move(parameter));
        }
        return state;
    }

private Q_SLOTS:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_run = m_temporary->path().toStdString();
        m_state = makeState();
    }

    // Whatever is wrong with the folder, the target stays as it was.
    void changesNothingWhenItRefuses_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("fault");
        QTest::addColumn<QString>("words");
        QTest::newRow("shard cut") << QStringLiteral("model/model-00001.safetensors") << QStringLiteral("cut") << QStringLiteral("model-00001.safetensors");
        QTest::newRow("moment flipped") << QStringLiteral("optimizer/optimizer-00001.safetensors") << QStringLiteral("flip") << QStringLiteral("other bytes");
        QTest::newRow("sampler missing") << QStringLiteral("sampler") << QStringLiteral("remove") << QStringLiteral("sampler is missing");
        QTest::newRow("states missing") << QStringLiteral("running_states.json") << QStringLiteral("remove") << QStringLiteral("running_states.json");
        QTest::newRow("states without content") << QStringLiteral("running_states.json") << QStringLiteral("cut0") << QStringLiteral("running_states.json");
        QTest::newRow("manifest missing") << QStringLiteral("stagewright/manifest.json") << QStringLiteral("remove") << QStringLiteral("manifest.json is missing");
        QTest::newRow("extra tensors cut") << QStringLiteral("stagewright/state.safetensors") << QStringLiteral("cut") << QStringLiteral("state.safetensors");
    }
    void changesNothingWhenItRefuses()
    {
        QFETCH(QString, file);
        QFETCH(QString, fault);
        QFETCH(QString, words);
        const fs::path folder = save(m_state), victim = folder / file.toStdString();
        if (fault == QLatin1String("remove"))
            fs::remove(victim);
        else if (fault == QLatin1String("flip")) {
            std::string bytes = *readFile(victim);
            bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 1);
            std::ofstream(victim, std::ios::binary) << bytes;
        } else {
            fs::resize_file(victim, fault == QLatin1String("cut0") ? 0 : fs::file_size(victim) - 3);
        }
        TrainingState target = emptyLike(m_state);
        const TrainingState before = cloneOf(target);
        const auto report = loadCheckpoint(folder.string(), target);
        QVERIFY(!report.ok());
        QVERIFY2(QString::fromStdString(report.error().message()).contains(words), report.error().message().c_str());
        QCOMPARE(report.error().exit, ExitCode::Checkpoint);
        QVERIFY(difference(before, target).empty());
    }

    void loadsWeightsOnlyWithoutTheStates()
    {
        const fs::path folder = save(m_state);
        fs::remove_all(folder / "stagewright");
        fs::remove(folder / "running_states.json");
        TrainingState target = emptyLike(m_state);
        QVERIFY(!loadCheckpoint(folder.string(), target).ok());
        LoadOptions options;
        options.weightsOnly = true;
        const auto report = loadCheckpoint(folder.string(), target, options);
        QVERIFY2(report.ok(), report.ok() ? "" : report.error().message().c_str());
        QVERIFY(torch::equal(target.parameters[0].weight, m_state.parameters[0].weight));
        QVERIFY(!target.parameters[0].expAvg.defined());
        QCOMPARE(target.counters.updates, 0);
    }

    void refusesAnotherModelUnlessPartIsAllowed()
    {
        const fs::path folder = save(m_state);
        TrainingState target = emptyLike(m_state);
        target.parameters[0].weight = torch::zeros({30, 8}, at::kBFloat16);
        target.parameters[0].master = torch::zeros({30, 8});
        ParameterState added;
        added.name = "cond_in.weight";
        added.trainable = false;
        added.weight = torch::zeros({3}, at::kBFloat16);
        target.parameters.push_back(added);
        const auto refused = loadCheckpoint(folder.string(), target);
        QVERIFY(!refused.ok());
        QVERIFY2(refused.error().message().find("img_in.weight: [24, 8] in the checkpoint, [30, 8] here") != std::string::npos, refused.error().message().c_str());
        QVERIFY(refused.error().message().find("cond_in.weight") != std::string::npos);
        LoadOptions options;
        options.allowPartial = options.weightsOnly = true;
        const auto partly = loadCheckpoint(folder.string(), target, options);
        QVERIFY2(partly.ok(), partly.ok() ? "" : partly.error().message().c_str());
        QCOMPARE(partly->mismatched.size(), 1u);
        QCOMPARE(partly->missing, std::vector<std::string>{"cond_in.weight"});
        QVERIFY(torch::equal(target.parameters[2].weight, m_state.parameters[2].weight));
    }

    void refusesAnOptimizerForOtherParameters()
    {
        const fs::path folder = save(m_state);
        TrainingState target = emptyLike(m_state);
        target.parameters[1].trainable = true;           // frozen when it was saved: every index after it would shift
        const auto report = loadCheckpoint(folder.string(), target);
        QVERIFY(!report.ok());
        QVERIFY2(report.error().message().find("parameters, this model trains") != std::string::npos, report.error().message().c_str());
    }

    void saysWhenPrecisionChanges()
    {
        const fs::path folder = save(m_state);
        StateShape shape;
        shape.dtype = at::kFloat;
        TrainingState full = emptyLike(makeState(shape));
        const auto report = loadCheckpoint(folder.string(), full);
        QVERIFY2(report.ok(), report.ok() ? "" : report.error().message().c_str());
        QVERIFY(torch::equal(full.parameters[0].weight, m_state.parameters[0].master));      // the exact ones
        QVERIFY(report->part("weights")->sentence.find("master") != std::string::npos);

        m_run /= "full";
        const TrainingState exact = makeState(shape);
        const fs::path inFull = save(exact);
        TrainingState half = emptyLike(m_state);
        const auto back = loadCheckpoint(inFull.string(), half);
        QVERIFY2(back.ok(), back.ok() ? "" : back.error().message().c_str());
        QVERIFY(torch::equal(half.parameters[0].master, exact.parameters[0].weight));
        QVERIFY(std::any_of(back->notes.begin(), back->notes.end(), [](const Problem &problem) { return problem.code == "checkpoint.dtype"; }));
    }

    void asksBeforeItStartsAnEmaAnew()
    {
        StateShape shape;
        shape.ema = false;
        const fs::path folder = save(makeState(shape));
        TrainingState target = emptyLike(m_state);
        const auto refused = loadCheckpoint(folder.string(), target);
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().message().find("EMA") != std::string::npos);
        LoadOptions options;
        options.emaFromMaster = true;
        const auto report = loadCheckpoint(folder.string(), target, options);
        QVERIFY(report.ok());
        QVERIFY(!report->part("ema")->restored);
        QVERIFY(torch::equal(target.parameters[0].ema, target.parameters[0].master));
    }

    void fallsBackToAnOlderWholeOne()
    {
        save(m_state);
        m_state.counters.updates = 9;
        const fs::path newer = save(m_state);
        fs::resize_file(newer / "master.safetensors", 100);
        TrainingState target = emptyLike(m_state);
        const auto report = loadCheckpoint((m_run / "epoch*").string(), target);
        QVERIFY2(report.ok(), report.ok() ? "" : report.error().message().c_str());
        QCOMPARE(target.counters.updates, 7);
        QCOMPARE(report->rejected.size(), 1u);
        QVERIFY(report->rejected[0].find("master.safetensors") != std::string::npos);
    }

    void refusesLora()
    {
        fs::create_directories(m_run / "lora");
        std::ofstream(m_run / "running_states.json") << ckptfile::runningStatesJson({});
        TrainingState target = emptyLike(m_state);
        const auto report = loadCheckpoint(m_run.string(), target);
        QVERIFY(!report.ok());
        QVERIFY2(report.error().message().find("LoRA") != std::string::npos || report.error().message().find("model/") != std::string::npos, report.error().message().c_str());
    }

    void loadsBareWeights_data()
    {
        QTest::addColumn<QString>("prefix");
        QTest::newRow("plain") << QString();
        QTest::newRow("module.") << QStringLiteral("module.");
        QTest::newRow("module.module.") << QStringLiteral("module.module.");
        QTest::newRow("model.") << QStringLiteral("model.");
        QTest::newRow("module.model.") << QStringLiteral("module.model.");
    }
    void loadsBareWeights()
    {
        QFETCH(QString, prefix);
        const std::string front = prefix.toStdString();
        TrainingState target = twoLayers();
        const auto report = loadWeights(tensorFile("w.safetensors", {{front + "a.weight", {4, 3}}, {front + "b.weight", {2, 3}}}), target, {.strict = true});
        QVERIFY2(report.ok(), report.ok() ? "" : report.error().message().c_str());
        QCOMPARE(target.parameters[1].weight.sum().item<double>(), 24.0);
        QCOMPARE(target.parameters[1].master.sum().item<double>(), 24.0);
        QCOMPARE(report->notes.empty(), front.empty());
    }

    // Nothing of them is taken, and the model stays as it was.
    void refusesWeightsThatAreNotSound_data()
    {
        QTest::addColumn<QString>("kind");
        QTest::addColumn<QByteArray>("code");
        QTest::newRow("a NaN in a file") << QStringLiteral("nan") << QByteArray("checkpoint.not-finite");
        QTest::newRow("a byte of a checkpoint of ours") << QStringLiteral("folder") << QByteArray("checkpoint.damaged-file");
        QTest::newRow("a byte of its model folder") << QStringLiteral("model") << QByteArray("checkpoint.damaged-file");
        QTest::newRow("a byte of one of its shards") << QStringLiteral("shard") << QByteArray("checkpoint.damaged-file");
        QTest::newRow("its moments, which are not read") << QStringLiteral("moments") << QByteArray();
    }
    void refusesWeightsThatAreNotSound()
    {
        QFETCH(QString, kind);
        QFETCH(QByteArray, code);
        TrainingState target;
        fs::path path;
        if (kind == QLatin1String("nan")) {
            target = twoLayers();
            path = tensorFile("w.safetensors", {{"a.weight", {4, 3}}, {"b.weight", {2, 3}}});
            const float nan = std::numeric_limits<float>::quiet_NaN();
            std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
            stream.seekp(-4, std::ios::end);
            stream.write(reinterpret_cast<const char *>(&nan), 4);
        } else {
            target = emptyLike(m_state);
            const fs::path folder = save(m_state), shard = folder / "model/model-00001.safetensors";
            const fs::path victim = kind == QLatin1String("moments") ? folder / "optimizer/optimizer-00001.safetensors" : shard;
            std::string bytes = *readFile(victim);
            bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 1);
            std::ofstream(victim, std::ios::binary) << bytes;
            path = kind == QLatin1String("model") ? folder / "model" : kind == QLatin1String("shard") ? shard : folder;
        }
        const TrainingState before = cloneOf(target);
        const auto report = loadWeights(path, target);
        if (code.isEmpty()) {
            QVERIFY2(report.ok(), report.ok() ? "" : report.error().message().c_str());
            return;
        }
        QVERIFY(!report.ok());
        QCOMPARE(QByteArray::fromStdString(report.error().problem.code), code);
        QVERIFY2(report.error().message().find(kind == QLatin1String("nan") ? "b.weight" : "model-00001.safetensors") != std::string::npos, report.error().message().c_str());
        QVERIFY(difference(before, target).empty());
    }

    // A run folder or a pattern: damage that only reading shows is no reason to fail where an older one is whole.
    void readsAndFallsBack()
    {
        const fs::path older = save(m_state);
        m_state.counters.updates = 9;
        const fs::path newer = save(m_state);
        std::string bytes = *readFile(newer / "master.safetensors");
        bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 1);
        std::ofstream(newer / "master.safetensors", std::ios::binary) << bytes;
        for (const std::string &path : {m_run.string(), (m_run / "epoch*").string()}) {
            TrainingState target = emptyLike(m_state);
            const auto report = loadCheckpoint(path, target);
            QVERIFY2(report.ok(), report.ok() ? "" : report.error().message().c_str());
            QCOMPARE(report->folder, older);
            QCOMPARE(target.counters.updates, 7);
            QVERIFY(report->rejected.at(0).find("master.safetensors") != std::string::npos);
        }
        TrainingState target = emptyLike(m_state);
        QVERIFY(!loadCheckpoint(newer.string(), target).ok());           // named itself, it is not exchanged for another one
    }

    void asksForTheRotaryOrderThatNoFileSays()
    {
        TrainingState target;
        for (const auto &[name, shape] : std::vector<std::pair<std::string, std::vector<std::int64_t>>>{
                 {"double_blocks.0.img_attn.qkv.weight", {24, 8}}, {"double_blocks.0.img_attn.norm.query_norm.scale", {4}}, {"double_blocks.0.img_attn.norm.key_norm.scale", {4}}, {"img_in.weight", {8, 2}}}) {
            ParameterState parameter;
            parameter.name = name;
            parameter.weight = torch::ones(shape);
            target.parameters.push_back(std::move(parameter));
        }
        const fs::path file = tensorFile("w.safetensors", {{"double_blocks.0.img_attn.norm.key_norm.scale", {4}}, {"double_blocks.0.img_attn.norm.query_norm.scale", {4}},
                                                           {"double_blocks.0.img_attn.qkv.weight", {24, 8}}, {"img_in.weight", {8, 2}}});
        WeightOptions options;
        options.modelRope = ckptfile::RopeOrder::Halves;
        const TrainingState before = cloneOf(target);
        const auto unsaid = loadWeights(file, target, options);
        QVERIFY(!unsaid.ok());
        QCOMPARE(unsaid.error().problem.code, std::string("config.rope-unsaid"));
        QCOMPARE(unsaid.error().exit, ExitCode::Usage);
        QVERIFY(difference(before, target).empty());
        options.assumeModelRope = true;
        const auto assumed = loadWeights(file, target, options);
        QVERIFY2(assumed.ok(), assumed.ok() ? "" : assumed.error().message().c_str());
        QVERIFY(std::any_of(assumed->notes.begin(), assumed->notes.end(), [](const Problem &problem) { return problem.code == "config.rope-unsaid" && problem.severity == Severity::Warning; }));
        options.assumeModelRope = false;
        options.fileRope = ckptfile::RopeOrder::Neighbours;
        QVERIFY(loadWeights(file, target, options).ok());
    }

    void judgesHowMuchMatches()
    {
        TrainingState target = twoLayers();
        const auto untouched = [&] { return target.parameters[0].weight.sum().item<double>() == 12.0; };
        const auto nothing = loadWeights(tensorFile("x.safetensors", {{"c.weight", {4, 3}}}), target);
        QVERIFY(!nothing.ok() && untouched());
        QVERIFY2(nothing.error().message().find("0 %") != std::string::npos && nothing.error().message().find("c.weight") != std::string::npos, nothing.error().message().c_str());
        const auto reshaped = loadWeights(tensorFile("y.safetensors", {{"a.weight", {4, 3}}, {"b.weight", {3, 2}}}), target);
        QVERIFY(!reshaped.ok() && untouched());
        QVERIFY2(reshaped.error().message().find("b.weight: [3, 2]") != std::string::npos, reshaped.error().message().c_str());
        const fs::path partial = tensorFile("z.safetensors", {{"a.weight", {4, 3}}, {"extra", {1}}});
        QVERIFY(!loadWeights(partial, target, {.strict = true}).ok() && untouched());
        const auto loose = loadWeights(partial, target);
        QVERIFY(loose.ok());
        QCOMPARE(loose->missing, std::vector<std::string>{"b.weight"});
        QCOMPARE(loose->unexpected, std::vector<std::string>{"extra"});
        QVERIFY(!loadWeights(m_run / "nowhere.safetensors", target).ok());
    }

    void loadsWhatItExportedAndWhatPythonSaved()
    {
        const fs::path folder = save(m_state);
        TrainingState target = emptyLike(m_state);
        QVERIFY(ckptfile::exportWeights(folder, m_run / "one.safetensors", {}).ok());
        ckptfile::ExportOptions shards;
        shards.shardMebibytes = 0.005;
        QVERIFY(ckptfile::exportWeights(folder, m_run / "many", shards).ok());
        for (const fs::path &path : {m_run / "one.safetensors", m_run / "many", folder}) {
            target = emptyLike(m_state);
            QVERIFY(loadWeights(path, target, {.strict = true}).ok());
            QVERIFY(torch::equal(target.parameters[3].weight, m_state.parameters[3].weight));
        }
        // A dict of tensors that Python's torch.save wrote: the original's flat EMA, as far as shapes go.
        const fs::path ema = support::goldenFolder("ckpt") / "sync" / "ema.pt";
        if (!fs::exists(ema))
            QSKIP("this set of golden data has no ema.pt");
        TrainingState flat;
        const auto tensors = ckptfile::tensorsOfFile(ema);
        QVERIFY(tensors.ok());
        for (const ckptfile::StoredTensor &tensor : *tensors) {
            ParameterState parameter;
            parameter.name = tensor.name;
            parameter.weight = torch::zeros(tensor.shape);
            flat.parameters.push_back(std::move(parameter));
        }
        QVERIFY(loadWeights(ema, flat, {.strict = true}).ok());
        QVERIFY(flat.parameters[0].weight.abs().sum().item<double>() > 0);
    }
};

QTEST_GUILESS_MAIN(WeightsTest)
#include "weights_test.moc"
