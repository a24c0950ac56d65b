// Latents and text embeddings from files, in the layout of the original's cached datasets.
#include <QtTest/QtTest>

#include <fstream>

#include "core/base/files.h"
#include "core/data/cached.h"
#include "core/data/source.h"

using namespace stagewright;
using namespace stagewright::data;
namespace fs = std::filesystem;

namespace {

void save(const fs::path &file, const torch::Tensor &tensor)
{
    fs::create_directories(file.parent_path());
    const auto bytes = torch::pickle_save(tensor);
    std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

torch::Tensor latentsOf(int row) { return torch::full({4, 2, 3, 5}, 0.5 + row, torch::kFloat); }

} // namespace

class CachedTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_temporary;
    fs::path m_folder;

    // Eight rows whose clips do not exist.
    SourceOptions options(bool video = true, bool text = true)
    {
        const fs::path file = m_folder / "meta.csv";
        std::ofstream out(file);
        out << "path,text,num_frames,height,width,fps,latents_path,text_t5_path,text_clip_path\n";
        for (int row = 0; row < 8; ++row) {
            const std::string name = std::to_string(row);
            out << "gone" << row << ".mp4,words,33,256,256,12,l/" << name << ".pt,t5/" << name << ".pt,clip/" << name << ".pt\n";
            save(m_folder / "l" / (name + ".pt"), latentsOf(row));
            save(m_folder / "t5" / (name + ".pt"), torch::full({1, 6, 16}, row, torch::kBFloat16));
            save(m_folder / "clip" / (name + ".pt"), torch::full({8}, row, torch::kFloat));
        }
        out.close();
        SourceOptions options;
        options.table = *table::readTable(file);
        options.rules = *table::bucketRules({{"256px", 33, 1.0, {}, 2}}, 16, 42, 16);
        options.cached = {video, text, 4, 16, 8, nullptr};
        options.workers = 1;
        return options;
    }
    static std::vector<Batch> epochOf(SourceOptions options)
    {
        auto source = makeBatchSource(std::move(options));
        if (!source)
            qFatal("%s", source.error().message().c_str());
        std::vector<Batch> all;
        while (true) {
            auto batch = (*source)->next();
            if (!batch)
                qFatal("%s", batch.error().message().c_str());
            if (!*batch)
                return all;
            all.push_back(std::move(**batch));
        }
    }

private Q_SLOTS:
    void init()
    {
        m_temporary = std::make_unique<QTemporaryDir>();
        m_folder = m_temporary->path().toStdString();
    }

    void batchesHoldWhatTheFilesOfTheirRowsHold()
    {
        const auto batches = epochOf(options());
        QCOMPARE(batches.size(), std::size_t(4));
        for (const Batch &batch : batches) {
            QVERIFY(!batch.video.defined());
            QVERIFY(batch.bad.empty());
            QCOMPARE(batch.latents.sizes().vec(), (std::vector<std::int64_t>{2, 4, 2, 3, 5}));
            QCOMPARE(batch.tokens.sizes().vec(), (std::vector<std::int64_t>{2, 6, 16}));
            QCOMPARE(batch.pooled.sizes().vec(), (std::vector<std::int64_t>{2, 8}));
            for (std::int64_t i = 0; i < batch.size(); ++i) {
                const int row = static_cast<int>(batch.rows[static_cast<std::size_t>(i)]);
                QVERIFY(torch::equal(batch.latents[i], latentsOf(row)));
                QCOMPARE(batch.tokens[i][0][0].item<float>(), float(row));
                QCOMPARE(batch.pooled[i][0].item<float>(), float(row));
            }
        }
    }

    void badFilesAreReplacedAndNamed_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<int>("fault");
        QTest::addColumn<QString>("said");
        QTest::newRow("missing") << "l/3.pt" << 0 << "no such file";
        QTest::newRow("cut short") << "l/3.pt" << 1 << "cut short";
        QTest::newRow("no archive") << "t5/3.pt" << 2 << "archive";
        QTest::newRow("one byte changed") << "l/3.pt" << 3 << "checksum";
        QTest::newRow("not finite") << "clip/3.pt" << 4 << "not finite";
        QTest::newRow("another number of channels") << "l/3.pt" << 5 << "model.in_channels";
        QTest::newRow("another shape than its batch") << "l/3.pt" << 6 << "shape";
        QTest::newRow("whole numbers") << "t5/3.pt" << 7 << "I64";
        QTest::newRow("no tensor") << "clip/3.pt" << 8 << "one tensor";
    }

    void badFilesAreReplacedAndNamed()
    {
        QFETCH(QString, file);
        QFETCH(int, fault);
        QFETCH(QString, said);
        const SourceOptions options = this->options();
        const fs::path path = m_folder / file.toStdString();
        if (fault == 0)
            fs::remove(path);
        if (fault == 1)
            fs::resize_file(path, fs::file_size(path) / 2);
        if (fault == 2)
            std::ofstream(path) << "nothing of the kind, but long enough for an end record";
        if (fault == 3) {
            std::string bytes = *readFile(path);
            const float value = 3.5f;
            const auto at = bytes.find(std::string(reinterpret_cast<const char *>(&value), 4));
            QVERIFY(at != std::string::npos);
            bytes[at] = static_cast<char>(bytes[at] ^ 1);
            std::ofstream(path, std::ios::binary) << bytes;
        }
        if (fault == 4)
            save(path, torch::full({8}, std::numeric_limits<float>::quiet_NaN()));
        if (fault == 5)
            save(path, torch::zeros({5, 2, 3, 5}));
        if (fault == 6)
            save(path, torch::zeros({4, 3, 3, 5}));
        if (fault == 7)
            save(path, torch::zeros({6, 16}, torch::kLong));
        if (fault == 8) {
            const auto bytes = torch::pickle_save(torch::IValue(3));
            std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        }
        std::vector<events::BadSample> bad;
        bool usedIt = false;
        for (const Batch &batch : epochOf(options)) {
            bad.insert(bad.end(), batch.bad.begin(), batch.bad.end());
            QCOMPARE(batch.size(), std::int64_t(2));
            QVERIFY(torch::isfinite(batch.latents).all().item<bool>());
            usedIt = usedIt || std::count(batch.rows.begin(), batch.rows.end(), 3) > 0;
        }
        // Where two of a batch differ in shape, either may be the one that is replaced.
        QVERIFY(fault == 6 || !usedIt);
        QVERIFY(!bad.empty());
        if (fault != 6)
            QCOMPARE(bad.front().row, std::int64_t(3));
        QVERIFY2(bad.front().reason.find(said.toStdString()) != std::string::npos, bad.front().reason.c_str());
    }

    void columnsThatAreNotThereAreNamed_data()
    {
        QTest::addColumn<QByteArray>("switchedOn");
        QTest::addColumn<QByteArray>("column");
        QTest::newRow("latents") << QByteArray("cached_video") << QByteArray("latents_path");
        QTest::newRow("text") << QByteArray("cached_text") << QByteArray("text_t5_path");
    }

    void columnsThatAreNotThereAreNamed()
    {
        QFETCH(QByteArray, switchedOn);
        QFETCH(QByteArray, column);
        const fs::path file = m_folder / "plain.csv";
        std::ofstream(file) << "path,text,num_frames,height,width,fps\na.mp4,words,33,256,256,12\n";
        const auto stage = config::stageFromYaml("dataset: {type: cached_video_text, data_path: " + file.string() + "}\nbucket_config:\n  256px:\n    33: !tuple [1.0, 1]\n"
                                                 + switchedOn.toStdString() + ": true\n");
        QVERIFY(stage);
        const auto options = sourceOptions(*stage);
        QVERIFY(!options);
        QCOMPARE(options.error().problem.code, std::string("data.missing-column"));
        QVERIFY2(options.error().message().find(column.toStdString()) != std::string::npos, options.error().message().c_str());
    }

    void emptyTextComesFromFilesBesideTheTable()
    {
        options();                                     // the table
        const auto stage = config::stageFromYaml("dataset: {type: cached_video_text, data_path: " + (m_folder / "meta.csv").string() + "}\nmodel: {type: flux, context_in_dim: 16, vec_in_dim: 8}\n");
        QVERIFY(stage);
        const auto missing = readNullEmbeddings(*stage);
        QVERIFY(!missing);
        QCOMPARE(missing.error().problem.code, std::string("data.null-embedding"));
        QVERIFY2(missing.error().message().find("null_t5.pt") != std::string::npos, missing.error().message().c_str());
        save(m_folder / "null_t5.pt", torch::full({1, 6, 16}, 0.25f));
        save(m_folder / "null_clip.pt", torch::full({8}, 0.75f));
        const auto nulls = readNullEmbeddings(*stage);
        QVERIFY2(nulls, nulls ? "" : nulls.error().message().c_str());
        QVERIFY(torch::equal(nulls->tokens, torch::full({1, 6, 16}, 0.25f)));
        QVERIFY(torch::equal(nulls->pooled, torch::full({1, 8}, 0.75f)));
    }

    void textAloneLeavesTheClipsToTheDecoder()
    {
        auto source = makeBatchSource(options(false, true));
        QVERIFY(source);
        const auto batch = (*source)->next();
        QVERIFY(!batch);                               // the clips do not exist
        QVERIFY2(batch.error().message().find("gone") != std::string::npos, batch.error().message().c_str());
    }
};

QTEST_GUILESS_MAIN(CachedTest)
#include "cached_test.moc"
