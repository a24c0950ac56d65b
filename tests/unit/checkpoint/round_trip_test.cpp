// What is saved comes back bit for bit; what is written is the original's layout; the snapshot is of one moment; folders of the original load.
#include <QTest>

#include <QProcess>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include "core/base/files.h"
#include "core/checkpoint/load.h"
#include "core/checkpoint/save_plan.h"
#include "core/checkpoint/writer.h"
#include "core/ckptfile/contents.h"
#include "core/ckptfile/inspect.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/manifest.h"
#include "core/ckptfile/output_file.h"
#include "core/config/stage.h"
#include "small_state.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::checkpoint;
using namespace stagewright::tests;
namespace fs = std::filesystem;

namespace {

// Writes wait until the gate is opened.
class GatedFiles : public ckptfile::FileSystem
{
public:
    ssize_t writeAt(int file, const void *data, std::size_t bytes, off_t offset) override
    {
        std::unique_lock lock(m_mutex);
        m_opened.wait_for(lock, std::chrono::seconds(30), [&] { return m_open; });
        lock.unlock();
        return FileSystem::writeAt(file, data, bytes, offset);
    }
    void open()
    {
        const std::lock_guard lock(m_mutex);
        m_open = true;
        m_opened.notify_all();
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_opened;
    bool m_open = false;
};

// Remembers which threads copied. Each waits a moment for another, so that one thread cannot take all blocks before the next is awake.
class CountingCopier : public SnapshotCopier
{
public:
    void *allocate(std::int64_t bytes) override { return hostCopier().allocate(bytes); }
    void release(void *block, std::int64_t bytes) override { hostCopier().release(block, bytes); }
    void begin(const torch::Device &device) override { hostCopier().begin(device); }
    void copy(const torch::Tensor &tensor, std::int64_t offset, std::int64_t bytes, void *into) override
    {
        hostCopier().copy(tensor, offset, bytes, into);
        std::unique_lock lock(m_mutex);
        threads.insert(std::this_thread::get_id());
        m_another.notify_all();
        if (threads.size() < 2 && !std::exchange(m_waited, true))
            m_another.wait_for(lock, std::chrono::seconds(10), [&] { return threads.size() > 1; });
    }
    void settle() override {}
    bool copiesHostAtOnce() const override { return true; }

    std::set<std::thread::id> threads;

private:
    std::mutex m_mutex;
    std::condition_variable m_another;
    bool m_waited = false;
};

SaveOptions asynchronous(bool async = true)
{
    SaveOptions options;
    options.async = async;
    return options;
}

} // namespace

class RoundTripTest : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_run;

    // Saves and waits for everything; the one outcome.
    SaveOutcome save(CheckpointWriter &writer, const TrainingState &state, const SaveOptions &options)
    {
        const Status begun = writer.begin(state, m_run, options);
        if (!begun)
            qFatal("%s", begun.error().message().c_str());
        if (auto snapshot = writer.waitForSnapshot(); !snapshot)
            qFatal("%s", snapshot.error().message().c_str());
        if (Status finished = writer.finish(std::chrono::seconds(60)); !finished)
            qFatal("%s", finished.error().message().c_str());
        auto outcomes = writer.takeOutcomes();
        if (outcomes.size() != 1)
            qFatal("%zu outcomes", outcomes.size());
        return outcomes.front();
    }

private Q_SLOTS:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_run = m_temporary->path().toStdString();
    }

    // at::parallel_for in a file that was compiled without OpenMP is a plain loop, and nothing says so.
    void snapshotIsCopiedByAllThreads()
    {
#if defined(__SANITIZE_THREAD__)
        QSKIP("one thread under the thread sanitizer, which does not see OpenMP's barriers");
#endif
        const int threads = torch::get_num_threads();
        torch::set_num_threads(2);
        CountingCopier copier;
        WriterSettings settings;
        settings.copier = &copier;
        CheckpointWriter writer(settings);
        StateShape shape;
        shape.width = 800;                       // several blocks of tensors: each thread gets a run of blocks
        const SaveOutcome outcome = save(writer, makeState(shape), asynchronous());
        torch::set_num_threads(threads);
        QVERIFY(outcome.verified);
        QCOMPARE(copier.threads.size(), std::size_t(2));
    }

    void preparedMemoryIsWhatTheSaveUses_data()
    {
        QTest::addColumn<bool>("async");
        QTest::addColumn<qint64>("limit");
        QTest::newRow("whole") << true << qint64(0);
        QTest::newRow("limited") << true << qint64(2 * ckptfile::kBlockBytes);
        QTest::newRow("synchronous") << false << qint64(0);
    }
    void preparedMemoryIsWhatTheSaveUses()
    {
        QFETCH(bool, async);
        QFETCH(qint64, limit);
        StateShape shape;
        shape.width = 800;                       // files of several blocks
        const TrainingState state = makeState(shape);
        const std::int64_t blocks = [&] {
            const auto plan = planSave(state, asynchronous().shardMebibytes);
            return std::accumulate(plan->files.begin(), plan->files.end(), std::int64_t(0), [](std::int64_t sum, const PlannedFile &file) { return sum + file.bytes / ckptfile::kBlockBytes; });
        }();
        QVERIFY(blocks > 3);
        const std::int64_t wanted = !async ? 0 : (limit > 0 ? limit : blocks * ckptfile::kBlockBytes);
        WriterSettings settings;
        settings.stagingLimitBytes = limit;
        CheckpointWriter writer(settings);
        writer.prepare(state, asynchronous(async));
        QTRY_COMPARE_WITH_TIMEOUT(writer.stagingBytes(), wanted, 20000);
        QVERIFY(save(writer, state, asynchronous(async)).verified);
        if (async && limit == 0)                 // beside them only the ends of files, which are given back
            QCOMPARE(writer.stagingBytes(), wanted);
    }

    void aSaveDoesNotWaitForThePreparation()
    {
        StateShape shape;
        shape.width = 800;
        const TrainingState state = makeState(shape);
        CheckpointWriter writer;
        writer.prepare(state, asynchronous());
        QVERIFY(save(writer, state, asynchronous()).verified);
        CheckpointWriter never;
        never.prepare(state, asynchronous());    // and is given up with its writer
    }

    void comesBackBitForBit_data()
    {
        QTest::addColumn<int>("dtype");
        QTest::addColumn<bool>("async");
        QTest::addColumn<bool>("gradients");
        QTest::addColumn<double>("shard");
        QTest::addColumn<QString>("folder");
        QTest::newRow("bf16, async") << int(at::kBFloat16) << true << false << 4096.0 << QString();
        QTest::newRow("bf16, sync") << int(at::kBFloat16) << false << false << 4096.0 << QString();
        QTest::newRow("fp16, mid-window") << int(at::kHalf) << true << true << 4096.0 << QString();
        QTest::newRow("fp32, small shards") << int(at::kFloat) << true << false << 0.005 << QString();
        QTest::newRow("spaces, unicode, newline") << int(at::kBFloat16) << true << false << 4096.0 << QStringLiteral("a b 训练\nline");
    }
    void comesBackBitForBit()
    {
        QFETCH(int, dtype);
        QFETCH(bool, async);
        QFETCH(bool, gradients);
        QFETCH(double, shard);
        QFETCH(QString, folder);
        StateShape shape;
        shape.dtype = static_cast<at::ScalarType>(dtype);
        shape.gradients = gradients;
        TrainingState state = makeState(shape);
        SaveOptions options = asynchronous(async);
        options.shardMebibytes = shard;
        m_run /= folder.toStdString();
        std::mutex mutex;
        std::vector<events::Checkpoint> told;
        WriterSettings settings;
        settings.progress = [&](const events::Checkpoint &record) { const std::lock_guard lock(mutex); told.push_back(record); };
        CheckpointWriter writer(settings);
        const SaveOutcome outcome = save(writer, state, options);
        QVERIFY2(!outcome.error, outcome.error ? outcome.error->message().c_str() : "");
        QVERIFY(outcome.committed && outcome.verified && writer.isSafeToStop());
        QCOMPARE(outcome.folder, m_run / "epoch1-global_step7");

        TrainingState loaded = emptyLike(state);
        if (loaded.parameters.front().weight.scalar_type() == at::kHalf)
            loaded.scaler = ckptfile::ScalerState();
        const auto report = loadCheckpoint(m_run.string(), loaded);
        QVERIFY2(report.ok(), report.ok() ? "" : report.error().message().c_str());
        const std::string differs = difference(state, loaded);
        QVERIFY2(differs.empty(), differs.c_str());
        QVERIFY(report->ours && report->missing.empty() && report->unexpected.empty());

        // Loading twice changes nothing.
        QVERIFY(loadCheckpoint(outcome.folder.string(), loaded).ok());
        QVERIFY(difference(state, loaded).empty());

        QCOMPARE(told.front().phase, std::string("stage"));
        QCOMPARE(told.back().phase, std::string("done"));
        std::vector<std::string> phases;
        std::int64_t fileBytes = 0;
        for (const events::Checkpoint &record : told) {
            if (record.file.empty() && (phases.empty() || phases.back() != record.phase) && record.phase != "write")
                phases.push_back(record.phase);
            if (record.phase == "write" && !record.file.empty() && record.bytes == record.totalBytes)
                fileBytes += record.bytes;
        }
        QCOMPARE(phases, (std::vector<std::string>{"stage", "commit", "verify", "done"}));
        QCOMPARE(fileBytes, outcome.bytes);
    }

    // Every rule that the original's reader has.
    void writesTheOriginalsLayout()
    {
        TrainingState state = makeState();
        CheckpointWriter writer;
        SaveOptions options = asynchronous();
        options.shardMebibytes = 0.01;
        const fs::path folder = save(writer, state, options).folder;
        const auto contents = ckptfile::openCheckpoint(folder);
        QVERIFY(contents.ok() && contents->isWhole());
        for (std::size_t at = 0; at < state.parameters.size(); ++at)
            QCOMPARE(contents->weights.at(at).name, state.parameters[at].name);
        for (const char *part : {"model", "optimizer"}) {
            int indexes = 0;
            for (const auto &entry : fs::directory_iterator(folder / part))
                indexes += entry.path().string().find(".index.") != std::string::npos;
            QCOMPARE(indexes, 1);
        }
        for (const auto &entry : fs::recursive_directory_iterator(folder / "stagewright"))
            QVERIFY(entry.path().string().find(".index") == std::string::npos);
        const auto master = ckptfile::SafetensorsFile::open(folder / "master.safetensors");
        QVERIFY(master.ok());
        for (const ckptfile::TensorInfo &tensor : (*master)->header().tensors)
            QVERIFY(tensor.name.starts_with("module.") && tensor.dtype == ckptfile::DType::F32);
        QVERIFY(*readFile(folder / "running_states.json") == ckptfile::runningStatesJson(state.counters));
        const auto group = ckptfile::TorchArchive::open(folder / "optimizer/pytorch_optim_group.bin");
        QCOMPARE((*group)->root().items[0].find("params")->items.size(), state.parameters.size() - 1);      // one is frozen
        QVERIFY(fs::exists(folder / "lr_scheduler") && fs::exists(folder / "sampler"));
        const auto manifest = ckptfile::readManifest(folder);
        QVERIFY(manifest.ok());
        for (const auto &entry : fs::recursive_directory_iterator(folder)) {
            const std::string path = entry.path().lexically_relative(folder).string();
            const bool listed = std::any_of(manifest->files.begin(), manifest->files.end(), [&](const ckptfile::ManifestFile &file) { return file.path == path; });
            QVERIFY2(entry.is_directory() || listed || path == ckptfile::kManifestFile || path == ckptfile::kVerifiedFile, path.c_str());
        }
    }

    // The file holds the moment of the save, whatever training does afterwards; with little staging memory the step waits instead.
    void holdsOneMoment_data()
    {
        QTest::addColumn<qint64>("limit");
        QTest::newRow("whole state staged") << qint64(0);
        QTest::newRow("one block") << qint64(1);
    }
    void holdsOneMoment()
    {
        QFETCH(qint64, limit);
        TrainingState state = makeState();
        moveOn(state, 1);
        GatedFiles files;
        WriterSettings settings;
        settings.files = &files;
        settings.stagingLimitBytes = limit;
        CheckpointWriter writer(settings);
        QVERIFY(writer.begin(state, m_run, asynchronous()).ok());
        if (limit > 0)
            files.open();
        QVERIFY(writer.waitForSnapshot().ok());
        const TrainingState then = cloneOf(state);
        moveOn(state, 2);
        QVERIFY(limit > 0 || writer.isSaving());
        files.open();
        QVERIFY(writer.finish(std::chrono::seconds(60)).ok());
        TrainingState loaded = emptyLike(state);
        const auto report = loadCheckpoint(m_run.string(), loaded);
        QVERIFY2(report.ok(), report.ok() ? "" : report.error().message().c_str());
        const std::string differs = difference(then, loaded);
        QVERIFY2(differs.empty(), differs.c_str());
    }

    void stagesLittleMoreThanTheState()
    {
        StateShape shape;
        shape.width = 512;
        shape.layers = 12;
        TrainingState state = makeState(shape);          // about 190 MB
        std::atomic<std::int64_t> held{0};
        WriterSettings settings;
        settings.staging = [&](std::int64_t bytes) { held = bytes; };
        CheckpointWriter writer(settings);
        const SaveOutcome first = save(writer, state, asynchronous());
        QVERIFY(!first.error);
        QVERIFY2(writer.stagingPeakBytes() <= first.bytes * 105 / 100, std::to_string(writer.stagingPeakBytes()).c_str());
        const std::int64_t peak = writer.stagingPeakBytes();
        state.counters.updates = 8;
        QVERIFY(!save(writer, state, asynchronous()).error);
        QVERIFY(writer.stagingPeakBytes() <= std::max(peak, first.bytes * 105 / 100));
        state.counters.updates = 9;
        WriterSettings small;
        CheckpointWriter synchronous(small);
        QVERIFY(!save(synchronous, state, asynchronous(false)).error);
        QVERIFY(synchronous.stagingPeakBytes() <= std::int64_t(128) << 20);
        QVERIFY(held >= 0);
    }

    void replacesTheSameStepWhole()
    {
        TrainingState state = makeState();
        CheckpointWriter writer;
        save(writer, state, asynchronous());
        {
            const torch::NoGradGuard noGrad;
            state.parameters[0].weight.fill_(9);
        }
        const SaveOutcome second = save(writer, state, asynchronous());
        QVERIFY2(!second.error, second.error ? second.error->message().c_str() : "");
        QVERIFY(second.verified);
        TrainingState loaded = emptyLike(state);
        QVERIFY(loadCheckpoint(m_run.string(), loaded).ok());
        QVERIFY(difference(state, loaded).empty());
        int entries = 0;
        for (const auto &entry : fs::directory_iterator(m_run))
            entries += entry.exists();
        QCOMPARE(entries, 1);                            // no older version, no temporary folder
    }

    void prunesAfterVerifying()
    {
        TrainingState state = makeState();
        CheckpointWriter writer;
        SaveOptions options = asynchronous();
        options.keepNewest = 2;
        options.keepEvery = 3;
        for (std::int64_t step = 1; step <= 7; ++step) {
            state.counters.updates = step;
            QVERIFY(!save(writer, state, options).error);
        }
        std::vector<std::string> left;
        for (const auto &entry : fs::directory_iterator(m_run))
            left.push_back(entry.path().filename().string());
        std::sort(left.begin(), left.end());
        QCOMPARE(left, (std::vector<std::string>{"epoch1-global_step3", "epoch1-global_step6", "epoch1-global_step7"}));
    }

    void waitsForAnEarlierSave()
    {
        TrainingState state = makeState();
        CheckpointWriter writer;
        for (std::int64_t step = 1; step <= 5; ++step) {
            state.counters.updates = step;
            QVERIFY(writer.begin(state, m_run, asynchronous()).ok());
            QVERIFY(writer.waitForSnapshot().ok());
            moveOn(state, step + 1);
        }
        QVERIFY(writer.finish(std::chrono::seconds(60)).ok());
        const auto outcomes = writer.takeOutcomes();
        QCOMPARE(outcomes.size(), 5u);
        for (const SaveOutcome &outcome : outcomes)
            QVERIFY(outcome.verified && !outcome.error);
    }

    void loadsWhatTheOriginalWrote_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<int>("dtype");
        int rows = 0;
        for (const fs::path &json : support::goldenFiles("ckpt", "*.json")) {
            const fs::path folder = json.parent_path() / json.stem();
            if (!fs::exists(folder / "running_states.json"))
                continue;
            for (const auto dtype : {at::kBFloat16, at::kFloat})
                QTest::newRow((json.stem().string() + (dtype == at::kFloat ? " into fp32" : " into bf16")).c_str()) << QString::fromStdString(folder.string()) << int(dtype);
            ++rows;
        }
        QVERIFY2(rows > 0, "no golden checkpoint folders were found");
    }
    void loadsWhatTheOriginalWrote()
    {
        QFETCH(QString, folder);
        QFETCH(int, dtype);
        const auto contents = ckptfile::openCheckpoint(folder.toStdString());
        QVERIFY(contents.ok());
        TrainingState state;
        for (const ckptfile::StoredTensor &tensor : contents->weights) {
            ParameterState parameter;
            parameter.name = tensor.name;
            parameter.weight = torch::zeros(tensor.shape, static_cast<at::ScalarType>(dtype));
            if (dtype != int(at::kFloat))
                parameter.master = torch::zeros(tensor.shape);
            if (!contents->ema.empty())
                parameter.ema = torch::zeros(tensor.shape);
            state.parameters.push_back(std::move(parameter));
        }
        const auto report = loadCheckpoint(folder.toStdString(), state);
        QVERIFY2(report.ok(), report.ok() ? "" : report.error().message().c_str());
        QVERIFY(!report->ours && report->missing.empty() && report->mismatched.empty());
        for (const char *part : {"weights", "optimizer", "sampler", "counters"})
            QVERIFY2(report->part(part) && report->part(part)->restored, part);
        QVERIFY(!report->part("rng")->restored);
        QCOMPARE(state.counters, *contents->counters);
        QCOMPARE(state.sampler, *contents->sampler);
        QCOMPARE(state.group, contents->groups->group);
        QCOMPARE(state.position->index, contents->counters->microStep);
        if (!contents->ema.empty())
            QVERIFY(report->part("ema")->restored);
        for (std::size_t at = 0; at < state.parameters.size(); ++at) {
            const ParameterState &parameter = state.parameters[at];
            QCOMPARE(parameter.updates, *contents->optimizer.at(std::int64_t(at)).step);
            std::string bytes(parameter.expAvg.nbytes(), '\0');
            std::memcpy(bytes.data(), parameter.expAvg.const_data_ptr(), bytes.size());
            QVERIFY(bytes == *contents->optimizer.at(std::int64_t(at)).expAvg->readAll());
            // Masters round to the weights: they are of the same moment.
            const torch::Tensor exact = dtype == int(at::kFloat) ? parameter.weight : parameter.master;
            if (!contents->master.empty() && contents->weights[at].dtype == ckptfile::DType::BF16) {
                torch::Tensor stored = torch::empty(parameter.weight.sizes(), at::kBFloat16);
                QVERIFY(contents->weights[at].read(0, stored.mutable_data_ptr(), std::int64_t(stored.nbytes())).ok());
                QVERIFY2(torch::equal(exact.to(at::kBFloat16), stored), parameter.name.c_str());
            }
        }
        // What it holds can be written again, and is the same then.
        m_run /= "again";
        CheckpointWriter writer;
        state.dtype = "bf16";
        const SaveOutcome outcome = save(writer, state, asynchronous());
        QVERIFY(!outcome.error);
        TrainingState again = emptyLike(state);
        QVERIFY(loadCheckpoint(outcome.folder.string(), again).ok());
        const std::string differs = difference(state, again);
        QVERIFY2(differs.empty(), differs.c_str());
        // Byte for byte the original's, where the original wrote the asynchronous form.
        for (const char *file : {"model/model-00001.safetensors", "model/model.safetensors.index.json", "optimizer/optimizer-00001.safetensors", "optimizer/optimizer.safetensors.index.json", "master.safetensors"}) {
            const fs::path theirs = fs::path(folder.toStdString()) / file;
            if (dtype == int(at::kBFloat16) && fs::exists(theirs) && fs::exists(fs::path(folder.toStdString()) / "ema.safetensors"))
                QVERIFY2(*readFile(theirs) == *readFile(outcome.folder / file), file);
        }
    }

    // Where Python's torch can be imported: it reads our small files with weights_only and our tensors.
    void pythonReadsWhatWasWritten()
    {
        QProcess python;
        python.start(QStringLiteral("python3"), {QStringLiteral("-c"), QStringLiteral("import torch, safetensors.torch")});
        if (!python.waitForFinished(60000) || python.exitCode() != 0)
            QSKIP("python3 cannot import torch and safetensors here, so its reader is not asked");
        TrainingState state = makeState();
        CheckpointWriter writer;
        const fs::path folder = save(writer, state, asynchronous()).folder;
        const QString script = QStringLiteral(R"(
import json, sys, torch, safetensors.torch as st
f = sys.argv[1]
g = torch.load(f + '/optimizer/pytorch_optim_group.bin', weights_only=True)
assert g[0]['lr'] == 2e-3 and g[0]['betas'] == (0.9, 0.95) and g[0]['params'] == list(range(len(g[0]['params']))), g
assert torch.load(f + '/sampler', weights_only=True) == {'seed': 42, 'epoch': 1, 'last_micro_batch_access_index': 14}
assert torch.load(f + '/lr_scheduler', weights_only=True)['last_epoch'] == 7
m = st.load_file(f + '/model/model-00001.safetensors')
a = st.load_file(f + '/master.safetensors')
assert all(torch.equal(m[k], a['module.' + k].to(torch.bfloat16)) for k in m if 'module.' + k in a)
st.load_file(f + '/optimizer/optimizer-00001.safetensors')
)");
        python.start(QStringLiteral("python3"), {QStringLiteral("-c"), script, QString::fromStdString(folder.string())});
        QVERIFY(python.waitForFinished(120000));
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
    }
};

QTEST_GUILESS_MAIN(RoundTripTest)
#include "round_trip_test.moc"
