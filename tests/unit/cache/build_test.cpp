// Building a cache with the real encoders: what training reads is what it would have encoded, and a build goes on where it stopped.
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <fstream>
#include <set>

#include "core/base/files.h"
#include "core/cache/survey.h"
#include "core/client/cache_build.h"
#include "core/config/overrides.h"
#include "core/data/cached.h"
#include "core/data/sample.h"
#include "core/demo/demo_stage.h"
#include "core/model/autoencoder.h"
#include "core/model/text_encoder.h"
#include "core/service/cache_builder.h"

using namespace stagewright;
namespace fs = std::filesystem;

namespace {

const fs::path kWorker = STAGEWRIGHT_BIN "/stagewright-worker";

} // namespace

class CacheBuildTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_dir;
    fs::path m_demo;
    int m_number = 0;

    // The demo stage with a cache folder of its own.
    config::Stage stage(std::vector<config::Override> more = {})
    {
        more.push_back({"encoding_cache", (fs::path(m_dir.path().toStdString()) / ("cache" + std::to_string(++m_number))).string()});
        auto loaded = config::loadStage(m_demo, more);
        if (!loaded || hasErrors(loaded->problems()))
            qFatal("%s", loaded ? loaded->problems().front().message.c_str() : loaded.error().message().c_str());
        return *loaded;
    }
    static events::CacheRequest requestFor(const config::Stage &stage, bool check = false) { return {config::toYaml(stage.values()), 1, check}; }
    static Result<events::CacheProgress> build(const config::Stage &stage, bool check = false, const service::CacheTold &told = {})
    {
        const std::atomic<bool> stop{false};
        return service::buildCache(requestFor(stage, check), stop, told);
    }
    static std::vector<fs::path> entriesOf(const config::Stage &stage)
    {
        std::vector<fs::path> entries;
        for (const auto &file : fs::recursive_directory_iterator(stage.string("encoding_cache"))) {
            if (file.path().extension() == ".safetensors")
                entries.push_back(file.path());
        }
        std::sort(entries.begin(), entries.end());
        return entries;
    }

    // So much to write that a build is still going on when somebody looks at its first entries.
    config::Stage longStage() { return stage({{"t5.max_length", "2048"}, {"t5.hidden_size", "1024"}}); }
    static bool hasBegun(const config::Stage &stage) { return fs::exists(stage.string("encoding_cache")) && entriesOf(stage).size() > 2; }

private Q_SLOTS:
    void initTestCase()
    {
        torch::set_num_threads(1);
        const auto demo = demo::makeDemoStage(fs::path(m_dir.path().toStdString()) / "demo");
        QVERIFY2(demo, demo ? "" : demo.error().message().c_str());
        m_demo = demo->stage;
    }

    void batchesHoldWhatTheStepWouldEncode()
    {
        const auto cached = stage();
        const auto built = build(cached);
        QVERIFY2(built, built ? "" : built.error().message().c_str());
        QVERIFY(built->finished && built->encoded > 0 && built->present == 0);
        QCOMPARE(built->encoded + built->refused, built->wanted);
        auto options = data::sourceOptions(cached);
        QVERIFY2(options, options ? "" : options.error().message().c_str());
        const auto autoencoder = model::makeAutoencoder(cached, torch::kCPU, torch::kFloat32).value();
        const auto tokens = model::makeTokenEncoder(cached, torch::kCPU, torch::kFloat32).value(), pooled = model::makePooledEncoder(cached, torch::kCPU, torch::kFloat32).value();
        const auto sampleOptions = *options;
        auto source = data::makeBatchSource(std::move(*options));
        QVERIFY2(source, source ? "" : source.error().message().c_str());
        std::set<std::int64_t> epochs;
        for (int taken = 0; taken < 12;) {
            const auto next = (*source)->next();
            QVERIFY2(next, next ? "" : next.error().message().c_str());
            if (!*next)
                continue;
            const data::Batch &batch = **next;
            ++taken;
            QVERIFY(!batch.video.defined());
            for (std::size_t i = 0; i < batch.rows.size(); ++i) {
                torch::Tensor video;
                auto draws = data::drawsOfCachedClip();
                const data::SampleShape shape{batch.bucket.frames, int(batch.bucket.height), int(batch.bucket.width)};
                QVERIFY(data::loadSample(sampleOptions, batch.rows[i], shape, draws, [&](int height, int width) {
                    video = torch::empty({3, shape.frames, height, width});
                    return video.data_ptr<float>();
                }, {}));
                const auto at = static_cast<std::int64_t>(i);
                QVERIFY(torch::equal(batch.latents[at], autoencoder->encode(video.unsqueeze(0))[0]));
                QVERIFY(torch::equal(batch.tokens[at], tokens->encode({batch.texts[i]})[0]));
                QVERIFY(torch::equal(batch.pooled[at], pooled->encode({batch.texts[i]})[0]));
            }
        }
        const auto nulls = data::readNullEmbeddings(cached);
        QVERIFY2(nulls, nulls ? "" : nulls.error().message().c_str());
        QVERIFY(torch::equal(nulls->tokens, tokens->nullEmbedding()));
        QVERIFY(torch::equal(nulls->pooled, pooled->nullEmbedding()));
    }

    void secondBuildHasNothingToDo()
    {
        const auto cached = stage();
        const auto first = build(cached);
        QVERIFY(first);
        const auto before = entriesOf(cached);
        const auto second = build(cached);
        QVERIFY(second);
        QCOMPARE(second->encoded, std::int64_t(0));
        QCOMPARE(second->present, first->encoded);
        QCOMPARE(second->refused, first->refused);
        QVERIFY(entriesOf(cached) == before);
    }

    // The demo's broken clip: named, not tried again, and no entry for it.
    void clipThatCannotBeDecodedIsNamed()
    {
        const auto cached = stage();
        for (int turn = 0; turn < 2; ++turn) {
            const auto built = build(cached);
            QVERIFY(built);
            QVERIFY(built->refused > 0);
            QCOMPARE(built->refusals.size(), std::size_t(built->refused));
            QVERIFY2(built->refusals.front().path.find("broken") != std::string::npos, built->refusals.front().path.c_str());
            QVERIFY(!built->refusals.front().reason.empty());
        }
        QVERIFY(fs::exists(fs::path(cached.string("encoding_cache")) / "refused.jsonl"));
    }

    void damagedEntriesAreMadeAgainAndSaid()
    {
        const auto cached = stage();
        QVERIFY(build(cached));
        const auto entries = entriesOf(cached);
        QVERIFY(entries.size() > 4);
        const std::string whole = *readFile(entries[1]), sound = *readFile(entries[3]);
        std::ofstream(entries[1], std::ios::binary) << whole.substr(0, whole.size() / 2);
        std::string flipped = sound;
        flipped[flipped.size() - 5] ^= 4;
        std::ofstream(entries[3], std::ios::binary) << flipped;
        const auto quick = build(cached);
        QVERIFY(quick);
        QCOMPARE(quick->encoded, std::int64_t(1));     // only what its header shows
        QCOMPARE(quick->damaged, std::int64_t(1));
        QVERIFY2(quick->notes.front().find(entries[1].filename().string()) != std::string::npos, quick->notes.front().c_str());
        const auto thorough = build(cached, true);
        QVERIFY(thorough);
        QCOMPARE(thorough->damaged, std::int64_t(1));
        QCOMPARE(*readFile(entries[1]), whole);
        QCOMPARE(*readFile(entries[3]), sound);
    }

    void changedClipOrEncoderIsEncodedAnew()
    {
        const auto cached = stage();
        const auto first = build(cached);
        QVERIFY(first);
        const auto other = build(*config::overridden(cached, {{"ae.latent_channels", "12"}, {"model.in_channels", "48"}}));
        QVERIFY(other);
        QVERIFY(other->encoded > 0 && other->present > 0);             // latents anew, texts as they were
        const fs::path clip = m_demo.parent_path() / "clips/clip00.mp4";
        const std::string before = *readFile(clip);
        std::ofstream(clip, std::ios::app | std::ios::binary) << "free";                     // behind the last box: decodes as before
        const auto changed = build(cached);
        std::ofstream(clip, std::ios::binary) << before;
        QVERIFY(changed);
        QCOMPARE(changed->encoded, std::int64_t(1));
        const auto back = build(cached);
        QVERIFY(back);
        QCOMPARE(back->encoded, std::int64_t(0));
    }

    void stoppedBuildGoesOn()
    {
        const auto cached = stage();
        std::atomic<bool> stop{false};
        const auto stopped = service::buildCache(requestFor(cached), stop, [&](const events::CacheProgress &progress) { stop = progress.encoded > 0; });
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().exit, ExitCode::Stopped);
        const auto some = entriesOf(cached).size();
        QVERIFY(some > 0);
        const auto rest = build(cached);
        QVERIFY(rest);
        QCOMPARE(rest->present, std::int64_t(some));
        QCOMPARE(rest->present + rest->encoded + rest->refused, rest->wanted);
    }

    // The real worker, ended in the middle by the system: entries are whole, and the next build makes the rest.
    void killedWorkerLeavesWholeEntries()
    {
        const auto cached = longStage();
        const auto killed = client::buildCache(requestFor(cached), [&](const events::CacheProgress &) {
            if (hasBegun(cached)) {
                std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) + "/children");
                for (int child; children >> child;)
                    ::kill(child, SIGKILL);
            }
            return true;
        }, kWorker);
        QVERIFY(!killed);
        QCOMPARE(killed.error().exit, ExitCode::WorkerDied);
        QVERIFY2(killed.error().message().find("SIGKILL") != std::string::npos, killed.error().message().c_str());
        const auto options = data::sourceOptions(cached);
        auto &store = *options->cached.store;
        const auto survey = cache::surveyOf(store, cache::wantedBy(store, 1), cache::Depth::EveryByte);
        QVERIFY(survey);
        QCOMPARE(survey->damaged, std::int64_t(0));
        QVERIFY(survey->present > 0 && survey->missing > 0);
        const auto rest = client::buildCache(requestFor(cached), {}, kWorker);
        QVERIFY2(rest, rest ? "" : rest.error().message().c_str());
        QCOMPARE(rest->present, survey->present);
        const auto after = data::sourceOptions(cached)->cached.store;  // knows what the rest refused
        QVERIFY(cache::surveyOf(*after, cache::wantedBy(*after, 1), cache::Depth::EveryByte)->isWhole());
    }

    void askedToStopItFinishesTheClip()
    {
        const auto cached = longStage();
        const auto stopped = client::buildCache(requestFor(cached), [&](const events::CacheProgress &) { return !hasBegun(cached); }, kWorker);
        QVERIFY(!stopped);
        QCOMPARE(stopped.error().exit, ExitCode::Stopped);
        QVERIFY2(stopped.error().message().find("goes on") != std::string::npos, stopped.error().message().c_str());
    }

    void whatCannotBeEncodedIsASentence_data()
    {
        QTest::addColumn<QByteArray>("path");
        QTest::addColumn<QByteArray>("value");
        QTest::addColumn<QByteArray>("code");
        QTest::newRow("no table") << QByteArray("dataset.data_path") << QByteArray("/nowhere.csv") << QByteArray("data.table-missing");
        QTest::newRow("an encoder that is not built yet") << QByteArray("ae.type") << QByteArray("hunyuan_vae") << QByteArray("run.not-built-yet");
        QTest::newRow("a file where the folder must be") << QByteArray("encoding_cache") << QByteArray("/proc/version") << QByteArray("env.io");
    }

    void whatCannotBeEncodedIsASentence()
    {
        QFETCH(QByteArray, path);
        QFETCH(QByteArray, value);
        QFETCH(QByteArray, code);
        const auto cached = config::overridden(stage(), {{path.toStdString(), value.toStdString()}});
        QVERIFY2(cached, cached ? "" : cached.error().message().c_str());
        const auto built = build(*cached);
        QVERIFY(!built);
        QCOMPARE(QByteArray::fromStdString(built.error().problem.code), code);
    }

    // A row whose entry is missing or damaged trains nothing; the sentence says what to do, and a later run tries it again.
    void missingEntryIsABadRow()
    {
        const auto cached = stage();
        QVERIFY(build(cached));
        auto options = data::sourceOptions(cached);
        const auto wanted = cache::wantedBy(*options->cached.store, 1);
        const auto &clip = wanted.clips.at(3);
        fs::remove(options->cached.store->pathOf(*options->cached.store->latents(clip.row, clip.shape)));
        options->quarantineFile = fs::path(m_dir.path().toStdString()) / "bad_of_cache.jsonl";
        const auto quarantine = options->quarantineFile;
        auto source = data::makeBatchSource(std::move(*options));
        std::vector<events::BadSample> bad;
        for (;;) {
            auto next = (*source)->next();
            QVERIFY(next);
            if (!*next)
                break;
            bad.insert(bad.end(), (*next)->bad.begin(), (*next)->bad.end());
        }
        const auto found = std::find_if(bad.begin(), bad.end(), [&](const auto &sample) { return sample.row == clip.row; });
        QVERIFY(found != bad.end());
        QVERIFY2(found->reason.find("stagewright-cli cache build") != std::string::npos, found->reason.c_str());
        const auto kept = data::readQuarantine(quarantine);
        QVERIFY(kept);
        for (const auto &row : *kept)
            QVERIFY(row.row != clip.row);
    }
};

QTEST_GUILESS_MAIN(CacheBuildTest)
#include "build_test.moc"
