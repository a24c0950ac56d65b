// The batches that training gets: the same whatever the threads, whole whatever the files, and where a resume left off.
#include <QTest>

#include <fstream>
#include <set>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/data/source.h"
#include "core/media/clip.h"
#include "core/media/demo.h"
#include "core/table/order.h"

using namespace stagewright;
using namespace stagewright::data;
namespace fs = std::filesystem;

namespace {

struct Taken {
    std::vector<std::int64_t> rows;
    std::vector<std::string> texts;
    std::int64_t epoch = 0, index = 0;
    torch::Tensor video;
    std::vector<events::BadSample> bad;
};

bool same(const Taken &a, const Taken &b)
{
    return a.rows == b.rows && a.texts == b.texts && a.epoch == b.epoch && a.index == b.index && torch::equal(a.video, b.video);
}

// `count` batches, across epochs; fails the program on an error, since the tests that expect one ask the source themselves.
std::vector<Taken> take(BatchSource &source, int count)
{
    std::vector<Taken> all;
    while (static_cast<int>(all.size()) < count) {
        auto batch = source.next();
        if (!batch)
            qFatal("%s", batch.error().message().c_str());
        if (*batch)
            all.push_back({(*batch)->rows, (*batch)->texts, (*batch)->epoch, (*batch)->index, (*batch)->video, (*batch)->bad});
    }
    return all;
}

std::unique_ptr<BatchSource> make(SourceOptions options)
{
    auto source = makeBatchSource(std::move(options));
    if (!source)
        qFatal("%s", source.error().message().c_str());
    return std::move(*source);
}

} // namespace

class SourceTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    fs::path m_demo;

    SourceOptions demoOptions(const std::vector<config::BucketRow> &buckets = {{"128px", 1, 1.0, {}, 2}, {"128px", 5, 1.0, {}, 2}, {"128px", 9, 0.7, {}, 2}})
    {
        return optionsFor(m_demo / "meta.csv", buckets);
    }
    static SourceOptions optionsFor(const fs::path &file, const std::vector<config::BucketRow> &buckets)
    {
        SourceOptions options;
        auto table = table::readTable(file);
        if (!table)
            qFatal("%s", table.error().message().c_str());
        options.table = *table;
        options.rules = *table::bucketRules(buckets, 16, 42, 16);
        options.seed = 42;
        options.workers = 2;
        return options;
    }
    // A table of some of the demo's clips, each row "file,num_frames".
    fs::path tableOf(const std::string &name, const std::vector<std::pair<std::string, int>> &clips)
    {
        const fs::path file = m_demo / name;
        std::ofstream out(file);
        out << "path,text,num_frames,height,width,fps\n";
        for (const auto &[clip, frames] : clips)
            out << "clips/" << clip << ",words about " << clip << ',' << frames << ",256,256,12\n";
        return file;
    }

private Q_SLOTS:
    void initTestCase()
    {
        torch::set_num_threads(1);
        m_demo = fs::path(m_folder.path().toStdString()) / "demo";
        const auto files = media::makeDemo(m_demo);
        QVERIFY2(files, files ? "" : files.error().message().c_str());
    }

    // An annotation's cut and crop, and its captions, of which each sample uses one.
    void followsTheCutoutsAndCaptionsOfAnnotations()
    {
        const fs::path file = m_demo / "annotation.json";
        std::ofstream(file) << "[{\"path\": \"clips/clip00.mp4\", \"cap\": [\"one\", \"two\", \"three\"], \"resolution\": {\"height\": 128, \"width\": 128}, \"fps\": 12,"
                               " \"num_frames\": 6, \"cut\": [10, 16], \"crop\": [20, 148, 40, 168]},"
                               "{\"path\": \"clips/clip00.mp4\", \"cap\": \"x\", \"resolution\": {\"height\": 128, \"width\": 128}, \"fps\": 12, \"num_frames\": 6,"
                               " \"cut\": [10, 16], \"crop\": [200, 328, 0, 128]}]";
        SourceOptions options = optionsFor(file, {{"128px", 5, 1.0, {}, 1}});
        const auto table = options.table;
        auto source = make(std::move(options));
        const auto whole = media::decode(m_demo / "clips/clip00.mp4", std::vector<std::int64_t>{10, 11});
        QVERIFY(whole && whole->width == 256);
        std::set<std::string> texts;
        for (const Taken &batch : take(*source, 24)) {
            QCOMPARE(batch.rows, std::vector<std::int64_t>{0});        // the other's crop is outside its picture
            texts.insert(batch.texts[0]);
            // Chosen among frames 10 to 15, so the first is 10 (the last window is never drawn).
            const auto pixel = [&](int y, int x) { return static_cast<float>(whole->pixels[static_cast<std::size_t>((y * 256 + x) * 3)]) / 255.0f * 2 - 1; };
            QVERIFY(std::abs(batch.video[0][0][0][0][0].item<float>() - pixel(40, 20)) < 1e-5f);
            QVERIFY(std::abs(batch.video[0][0][0][127][127].item<float>() - pixel(167, 147)) < 1e-5f);
        }
        QCOMPARE(texts, (std::set<std::string>{"one 12 FPS.", "two 12 FPS.", "three 12 FPS."}));
        auto again = make(optionsFor(file, {{"128px", 5, 1.0, {}, 1}}));
        auto more = make(optionsFor(file, {{"128px", 5, 1.0, {}, 1}}));
        QVERIFY(same(take(*again, 5)[4], take(*more, 5)[4]));
    }

    // Under the policy Keep: thinned out less, stretched, and batches filled up.
    void usesEveryRowWhenAskedToKeep()
    {
        const fs::path file = m_demo / "keep.csv";
        std::ofstream(file) << "path,text,num_frames,height,width,fps\nclips/clip00.mp4,a,24,256,256,30\nclips/clip00.mp4,b,24,256,256,12\nclips/clip00.mp4,c,24,256,256,12.5\n";
        for (const int frames : {17, 25, 29}) {
            SourceOptions options = optionsFor(file, {{"128px", frames, 1.0, {}, 2}});
            options.rules.fpsMax = 12;
            options.rules.policy = table::DataPolicy::Keep;
            auto source = make(std::move(options));
            QCOMPARE(source->batchesPerEpoch(), 2);
            std::set<std::int64_t> rows;
            for (const Taken &batch : take(*source, 2)) {
                QVERIFY2(batch.bad.empty(), batch.bad.empty() ? "" : batch.bad[0].reason.c_str());
                QCOMPARE(batch.video.size(0), 2);
                QCOMPARE(batch.video.size(2), frames);
                for (std::size_t i = 0; i < batch.rows.size(); ++i) {
                    rows.insert(batch.rows[i]);
                    if (batch.rows[i] == 0)
                        QCOMPARE(batch.texts[i], std::string("a 30.0 FPS."));
                    if (batch.rows[i] == 2)
                        QCOMPARE(batch.texts[i], std::string("c 12.5 FPS."));
                }
            }
            QCOMPARE(rows.size(), std::size_t(3));
        }
    }

    void givesBatchesInTheOrderOfThePlan()
    {
        SourceOptions options = demoOptions();
        options.motionScore = true;
        const auto plan = table::assignBuckets(*options.table, options.rules, 0);
        const table::BatchOrder order(plan, 0, 1, 0);
        auto source = make(options);
        QCOMPARE(source->batchesPerEpoch(), order.size());
        for (std::int64_t i = 0; i < order.size(); ++i) {
            QCOMPARE(source->position().index, i);
            auto batch = source->next();
            QVERIFY(batch && *batch);
            const auto entry = order.at(i);
            const table::Bucket &bucket = plan.buckets[static_cast<std::size_t>(entry.bucket)];
            QCOMPARE((*batch)->index, i);
            QCOMPARE((*batch)->video.sizes().vec(), (std::vector<std::int64_t>{bucket.batchSize, 3, bucket.frames, bucket.height, bucket.width}));
            QCOMPARE((*batch)->video.scalar_type(), torch::kFloat32);
            QVERIFY((*batch)->video.abs().max().item<float>() <= 1.0f);
            QCOMPARE((*batch)->bucket, (events::Bucket{bucket.resolution, bucket.frames, bucket.height, bucket.width, bucket.batchSize}));
            QCOMPARE((*batch)->texts.size(), (*batch)->rows.size());
            if ((*batch)->bad.empty())
                QCOMPARE((*batch)->rows, std::vector<std::int64_t>(entry.rows.begin(), entry.rows.end()));
            if (bucket.frames > 1)
                QVERIFY((*batch)->texts[0].find(" FPS, ") != std::string::npos && (*batch)->texts[0].ends_with("motion score."));
            QCOMPARE((*batch)->fps > 0, bucket.frames > 1);
        }
        auto end = source->next();
        QVERIFY(end && !*end);
        QCOMPARE(source->position().epoch, 1);
        QCOMPARE(source->position().index, 0);
        auto first = source->next();
        QVERIFY(first && *first);
        QCOMPARE((*first)->epoch, 1);
    }

    void isTheSameForAnyNumberOfThreads_data()
    {
        QTest::addColumn<bool>("original");
        QTest::newRow("own draws") << false;
        QTest::newRow("the original's draws") << true;
    }
    void isTheSameForAnyNumberOfThreads()
    {
        QFETCH(bool, original);
        SourceOptions options = demoOptions();
        options.compat = original ? Compat::OpenSora : Compat::None;
        options.workers = original ? 2 : 0;
        auto reference = make(options);
        const int count = static_cast<int>(reference->batchesPerEpoch()) + 6;
        const auto expected = take(*reference, count);
        // With the original's draws the number of loader processes decides who draws what, so only the room ahead varies.
        for (const int variant : {1, 2, 3}) {
            options.workers = original ? 2 : variant;
            options.batchesAhead = variant == 3 ? 1 : 2 * variant;
            options.bytesAhead = variant == 2 ? 1 : std::int64_t(1) << 30;
            auto source = make(options);
            const auto batches = take(*source, count);
            for (int i = 0; i < count; ++i)
                QVERIFY2(same(batches[static_cast<std::size_t>(i)], expected[static_cast<std::size_t>(i)]), std::to_string(i).c_str());
        }
    }

    void continuesWhereItStopped()
    {
        for (const int workers : {0, 2}) {
            SourceOptions options = demoOptions();
            options.workers = workers;
            auto whole = make(options);
            const int count = static_cast<int>(whole->batchesPerEpoch()) + 8;
            const auto expected = take(*whole, count);
            for (const int stop : {0, 3, static_cast<int>(whole->batchesPerEpoch()), count - 3}) {
                auto before = make(options);
                take(*before, stop);
                const Position position = before->position();
                auto after = make(options);
                QVERIFY(after->seek(position));
                QCOMPARE(after->position().epoch, position.epoch);
                const auto rest = take(*after, count - stop);
                for (std::size_t i = 0; i < rest.size(); ++i)
                    QVERIFY(same(rest[i], expected[i + static_cast<std::size_t>(stop)]));
            }
        }
    }

    void seeksBackAndRefusesPlacesThatDoNotExist()
    {
        auto source = make(demoOptions());
        const auto first = take(*source, 4);
        QVERIFY(source->seek({0, 1}));
        QVERIFY(same(take(*source, 1)[0], first[1]));
        for (const Position nowhere : {Position{0, 10'000}, Position{-1, 0}, Position{0, -1}}) {
            const Status status = source->seek(nowhere);
            QVERIFY(!status);
            QCOMPARE(status.error().problem.code, std::string("data.no-such-position"));
        }
        QVERIFY(same(take(*source, 1)[0], first[2]));
    }

    void ranksShareTheEpoch()
    {
        SourceOptions options = demoOptions();
        const auto plan = table::assignBuckets(*options.table, options.rules, 0);
        options.worldSize = 2;
        for (std::int64_t rank = 0; rank < 2; ++rank) {
            options.rank = rank;
            auto source = make(options);
            QCOMPARE(source->batchesPerEpoch(), plan.batchesPerRank(2));
            const table::BatchOrder order(plan, 0, 2, rank);
            const auto batches = take(*source, 3);
            for (std::size_t i = 0; i < batches.size(); ++i) {
                if (batches[i].bad.empty())
                    QCOMPARE(batches[i].rows, std::vector<std::int64_t>(order.at(static_cast<std::int64_t>(i)).rows.begin(), order.at(static_cast<std::int64_t>(i)).rows.end()));
            }
        }
    }

    void replacesABadClipAndSaysSo()
    {
        const fs::path file = tableOf("bad.csv", {{"clip00.mp4", 24}, {"broken.mp4", 24}, {"clip06.mp4", 28}, {"gone.mp4", 20}, {"clip12.mp4", 24}, {"clip18.mp4", 28}});
        SourceOptions options = optionsFor(file, {{"128px", 5, 1.0, {}, 2}});
        std::optional<std::vector<Taken>> reference;
        for (const int workers : {0, 1, 3}) {
            options.workers = workers;
            auto source = make(options);
            const auto batches = take(*source, 6);
            std::set<std::int64_t> badRows;
            for (const Taken &batch : batches) {
                QCOMPARE(batch.rows.size(), std::size_t(2));
                QVERIFY(batch.video.isfinite().all().item<bool>());
                for (const auto row : batch.rows)
                    QVERIFY(row != 1 && row != 3);
                for (const events::BadSample &bad : batch.bad) {
                    badRows.insert(bad.row);
                    QCOMPARE(bad.total, static_cast<std::int64_t>(badRows.size()));
                    QVERIFY(bad.path.ends_with(bad.row == 1 ? "broken.mp4" : "gone.mp4"));
                    QVERIFY2(bad.reason.find(bad.row == 1 ? "no index" : "no such file") != std::string::npos, bad.reason.c_str());
                }
            }
            QCOMPARE(badRows, (std::set<std::int64_t>{1, 3}));
            if (!reference)
                reference = batches;
            for (std::size_t i = 0; i < batches.size(); ++i)
                QVERIFY(same(batches[i], (*reference)[i]));
        }
    }

    // A bad clip is not opened again by a run that resumes, until it changes. That it is not opened shows in the content, which has become good.
    void resumedRunsLeaveKnownBadClipsAloneUntilTheyChange()
    {
        const fs::path clip = m_demo / "clips/mended.mp4", good = m_demo / "clips/clip00.mp4", record = m_demo / "bad_clips.jsonl";
        fs::remove(record);
        std::ofstream(clip, std::ios::binary) << std::string(fs::file_size(good), 'x');
        const auto time = fs::last_write_time(clip);
        const fs::path file = tableOf("mended.csv", {{"clip00.mp4", 24}, {"mended.mp4", 24}, {"clip06.mp4", 28}, {"clip12.mp4", 24}});
        SourceOptions options = optionsFor(file, {{"128px", 5, 1.0, {}, 2}});
        options.quarantineFile = record;
        const auto first = take(*make(options), 6);
        QVERIFY(fs::exists(record));
        const auto known = readQuarantine(record);
        QVERIFY(known);
        QCOMPARE(known->size(), std::size_t(1));       // although it came up in three epochs
        QCOMPARE(known->front().row, std::int64_t(1));
        QCOMPARE(known->front().frames, std::int64_t(5));

        fs::copy_file(good, clip, fs::copy_options::overwrite_existing);
        fs::last_write_time(clip, time);
        options.knownBad = *known;
        options.quarantineFile = m_demo / "bad_clips_of_the_resume.jsonl";
        fs::remove(options.quarantineFile);
        const auto second = take(*make(options), 6);
        for (std::size_t i = 0; i < first.size(); ++i) {
            QVERIFY(same(first[i], second[i]));
            QCOMPARE(second[i].bad.size(), first[i].bad.size());       // still counted and said
        }
        QCOMPARE(readQuarantine(options.quarantineFile)->size(), std::size_t(1));

        fs::last_write_time(clip, time + std::chrono::seconds(1));
        options.quarantineFile.clear();
        bool used = false;
        for (const Taken &batch : take(*make(options), 2))
            used = used || std::count(batch.rows.begin(), batch.rows.end(), 1) > 0;
        QVERIFY(used);
    }

    // Pixels lie in memory that the trainer gave (page-locked beside a GPU), never in more of it than allowed, and all of it comes back.
    void pixelsLieInTheMemoryThatIsGiven()
    {
        SourceOptions options = demoOptions({{"128px", 5, 1.0, {}, 2}, {"128px", 17, 1.0, {}, 2}});
        const auto plain = take(*make(options), 8);
        auto held = std::make_shared<std::atomic<std::int64_t>>(0), most = std::make_shared<std::atomic<std::int64_t>>(0);
        options.workers = 3;
        options.batchesAhead = 16;
        options.bytesAhead = std::int64_t(8) << 20;
        options.allocate = [held, most](at::IntArrayRef shape) {
            const std::int64_t bytes = c10::multiply_integers(shape) * 4, now = *held += bytes;
            for (std::int64_t before = *most; now > before && !most->compare_exchange_weak(before, now);) { }
            return torch::from_blob(new float[std::size_t(bytes / 4)], shape, [held, bytes](void *memory) { delete[] static_cast<float *>(memory); *held -= bytes; }, torch::kFloat32);
        };
        {
            auto source = make(options);
            const std::int64_t largest = 2 * 3 * 17 * 128 * 240 * 4;
            for (const Taken &expected : plain) {
                auto batch = source->next();
                while (batch && !*batch)
                    batch = source->next();
                QVERIFY(batch && torch::equal((*batch)->video, expected.video));
            }
            QVERIFY(*most > 0);
            QVERIFY2(*most <= options.bytesAhead + largest, std::to_string(*most).c_str());            // those that wait, and the one that trains
        }
        QTRY_COMPARE(held->load(), std::int64_t(0));
    }

    // Each process of a machine has its share of the decoders' memory before it starts.
    void decodersOfAllProcessesShareTheMachine()
    {
        const auto stage = config::stageFromYaml("dataset: {type: video_text, data_path: " + (m_demo / "meta.csv").string() + ", transform_name: resize_crop}\nbucket_config:\n  128px:\n    5: !tuple [1.0, 2]\n"
                                                 "decoder_memory: 1\n");
        QVERIFY(stage);
        QCOMPARE(sourceOptions(*stage)->decodeBudget->bytes(), std::int64_t(1) << 30);
        qputenv("LOCAL_WORLD_SIZE", "4");
        const auto shared = sourceOptions(*stage);
        qunsetenv("LOCAL_WORLD_SIZE");
        QCOMPARE(shared->decodeBudget->bytes(), std::int64_t(1) << 28);
    }

    // A clip that needs more than that is a bad one, replaced and named like any other.
    void clipThatNeedsTooMuchMemoryIsABadOne()
    {
        SourceOptions options = demoOptions({{"128px", 5, 1.0, {}, 2}});
        const auto whole = take(*make(options), 3);
        options.decodeBudget = std::make_shared<media::DecodeBudget>(std::int64_t(1) << 20);
        auto source = make(options);
        const auto refused = source->next();
        QVERIFY(!refused);
        QVERIFY2(refused.error().message().find("decoder_memory") != std::string::npos, refused.error().message().c_str());
        options.decodeBudget = std::make_shared<media::DecodeBudget>(std::int64_t(16) << 20);          // one at a time
        const auto one = take(*make(options), 3);
        for (std::size_t i = 0; i < whole.size(); ++i)
            QVERIFY(same(whole[i], one[i]));
        QVERIFY(options.decodeBudget->highWater() <= options.decodeBudget->bytes());
    }

    void recordsOfBadClipsMayBeCutShortButNotDamaged()
    {
        const fs::path record = m_demo / "record.jsonl";
        const std::string whole = R"({"row":1,"frames":5,"path":"/a.mp4","reason":"r","stamp":"-"})" "\n";
        std::ofstream(record) << whole << whole.substr(0, 20);
        QCOMPARE(readQuarantine(record)->size(), std::size_t(1));
        std::ofstream(record) << whole << "{\"row\":true}\n" << whole;
        const auto damaged = readQuarantine(record);
        QVERIFY(!damaged);
        QCOMPARE(damaged.error().problem.code, std::string("data.quarantine"));
        QVERIFY2(damaged.error().message().find("line 2") != std::string::npos, damaged.error().message().c_str());
        QVERIFY(readQuarantine(m_demo / "none.jsonl")->empty());
    }

    void shrinksTheBatchAsTheOriginalDoes()
    {
        const fs::path file = tableOf("bad2.csv", {{"clip00.mp4", 24}, {"broken.mp4", 24}, {"clip06.mp4", 28}, {"clip12.mp4", 24}});
        SourceOptions options = optionsFor(file, {{"128px", 5, 1.0, {}, 2}});
        options.compat = Compat::OpenSora;
        auto source = make(options);
        std::size_t samples = 0;
        for (const Taken &batch : take(*source, 2)) {
            samples += batch.rows.size();
            QCOMPARE(batch.video.size(0), static_cast<std::int64_t>(batch.rows.size()));
        }
        QCOMPARE(samples, std::size_t(3));
    }

    void takesAnotherBucketWhereAWholeOneIsBad()
    {
        const fs::path file = tableOf("bad3.csv", {{"clip00.mp4", 24}, {"clip06.mp4", 28}, {"gone1.mp4", 5}, {"gone2.mp4", 5}});
        auto source = make(optionsFor(file, {{"128px", 17, 1.0, {}, 1}, {"128px", 5, 1.0, {}, 1}}));
        QCOMPARE(source->batchesPerEpoch(), 4);
        const auto batches = take(*source, 4);
        for (const Taken &batch : batches) {
            QVERIFY(batch.rows[0] < 2);
            QCOMPARE(batch.video.size(2), 17);
        }
    }

    void stopsWhereNothingCanBeRead()
    {
        const fs::path file = tableOf("bad4.csv", {{"gone1.mp4", 24}, {"gone2.mp4", 24}, {"gone3.mp4", 24}, {"gone4.mp4", 24}});
        for (const int workers : {0, 2}) {
            SourceOptions options = optionsFor(file, {{"128px", 5, 1.0, {}, 2}});
            options.workers = workers;
            auto source = make(options);
            for (int i = 0; i < 2; ++i) {
                const auto batch = source->next();
                QVERIFY(!batch);
                QCOMPARE(batch.error().exit, ExitCode::Data);
                QCOMPARE(batch.error().problem.code, std::string("data.no-usable-file"));
                QVERIFY(batch.error().message().find("gone") != std::string::npos);
            }
        }
    }

    void stopsWhereMostCannotBeRead()
    {
        std::vector<std::pair<std::string, int>> clips;
        for (int i = 0; i < 150; ++i)
            clips.emplace_back(i % 3 ? "gone" + std::to_string(i) + ".mp4" : "clip00.mp4", 24);
        auto source = make(optionsFor(tableOf("bad5.csv", clips), {{"128px", 5, 1.0, {}, 2}}));
        for (int i = 0; i < 75; ++i) {
            const auto batch = source->next();
            if (batch)
                continue;
            QCOMPARE(batch.error().problem.code, std::string("data.too-many-bad"));
            return;
        }
        QFAIL("went on although two thirds of the files are missing");
    }

    void trueFrameCountDecides()
    {
        // clip05.mov has 9 frames; the table claims 40. A bucket of 5 can take it, a bucket of 17 cannot.
        const fs::path file = tableOf("claims.csv", {{"clip05.mov", 40}, {"clip00.mp4", 24}});
        auto fits = make(optionsFor(file, {{"128px", 5, 1.0, {}, 2}}));
        QVERIFY(take(*fits, 1)[0].bad.empty());
        auto short17 = make(optionsFor(file, {{"128px", 17, 1.0, {}, 2}}));
        const auto batch = take(*short17, 1)[0];
        QCOMPARE(batch.bad.size(), std::size_t(1));
        QVERIFY2(batch.bad[0].reason.find("has 9 frames, and its bucket needs 17") != std::string::npos, batch.bad[0].reason.c_str());
    }

    void refusesATableWithoutABatch()
    {
        const auto source = makeBatchSource(demoOptions({{"128px", 33, 1.0, {}, 400}}));
        QVERIFY(!source);
        QCOMPARE(source.error().exit, ExitCode::Data);
        QCOMPARE(source.error().problem.code, std::string("data.no-batch"));
    }

    void endsInTheMiddleWithoutWaiting()
    {
        const double begin = steadySeconds();
        for (int i = 0; i < 10; ++i) {
            SourceOptions options = demoOptions();
            options.workers = 3;
            auto source = make(options);
            take(*source, i % 3);
        }
        QVERIFY(steadySeconds() - begin < 60);
    }

    void drawsDifferFromEpochToEpochAndAreTheSamplesOwn()
    {
        const fs::path file = tableOf("one.csv", {{"clip00.mp4", 24}});
        auto source = make(optionsFor(file, {{"128px", 5, 1.0, {}, 1}}));
        const auto epochs = take(*source, 6);
        int different = 0;
        for (std::size_t i = 1; i < epochs.size(); ++i)
            different += !torch::equal(epochs[i].video, epochs[0].video);
        QVERIFY(different >= 3);
    }

    void fingerprintIsOfTableAndBuckets()
    {
        QCOMPARE(make(demoOptions())->fingerprint(), make(demoOptions())->fingerprint());
        QVERIFY(make(demoOptions())->fingerprint() != make(demoOptions({{"128px", 5, 1.0, {}, 2}}))->fingerprint());
    }

    void readsItsOptionsFromAStage()
    {
        const std::string yaml = "seed: 7\nnum_workers: 1\ndataset:\n  type: video_text\n  data_path: " + (m_demo / "meta.csv").string()
            + "\n  transform_name: resize_crop\n  fps_max: 24\n  vmaf: true\nbucket_config:\n  128px:\n    5: !tuple [1.0, 2]\n";
        const auto stage = config::stageFromYaml(yaml);
        QVERIFY2(stage, stage ? "" : stage.error().message().c_str());
        const auto options = sourceOptions(*stage, 1, 2);
        QVERIFY2(options, options ? "" : options.error().message().c_str());
        QCOMPARE(options->seed, 7);
        QCOMPARE(options->workers, 1);
        QCOMPARE(options->rank, 1);
        QCOMPARE(options->rules.fpsMax, 24.0);
        QVERIFY(options->motionScore);
        QVERIFY(makeBatchSource(*stage));
    }

    void refusesStagesThatCannotBeLoaded_data()
    {
        QTest::addColumn<QByteArray>("dataset");
        QTest::addColumn<QByteArray>("code");
        const QByteArray path = QByteArray::fromStdString("data_path: " + (m_demo / "meta.csv").string());
        QTest::newRow("no table") << QByteArray("type: video_text") << QByteArray("config.missing-key");
        QTest::newRow("missing table") << QByteArray("data_path: /nowhere/t.csv, transform_name: resize_crop") << QByteArray("data.table-missing");
        QTest::newRow("captions only") << path + ", type: text" << QByteArray("config.not-built-yet");
        QTest::newRow("no shards") << path + ", memory_efficient: true" << QByteArray("data.shards-missing");
        QTest::newRow("center of oblongs") << path + ", transform_name: center" << QByteArray("config.transform-needs-square");
        QTest::newRow("batch of random sizes") << path + ", transform_name: rand_size_crop" << QByteArray("config.transform-needs-single");
    }
    void refusesStagesThatCannotBeLoaded()
    {
        QFETCH(QByteArray, dataset);
        QFETCH(QByteArray, code);
        const auto stage = config::stageFromYaml("dataset: {" + dataset.toStdString() + "}\nbucket_config:\n  128px:\n    5: !tuple [1.0, 2]\n");
        QVERIFY(stage);
        const auto source = makeBatchSource(*stage);
        QVERIFY(!source);
        QCOMPARE(QByteArray::fromStdString(source.error().problem.code), code);
    }
};

QTEST_GUILESS_MAIN(SourceTest)
#include "source_test.moc"
