// What an entry of the cache depends on, and what becomes of one that is damaged.
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>

#include "core/base/files.h"
#include "core/cache/survey.h"

using namespace stagewright;
using namespace stagewright::cache;
namespace fs = std::filesystem;

namespace {

const char *const kTable = "path,text,num_frames,height,width,fps\na.mp4,one,9,256,256,12\nb.mp4,two,9,256,256,12\nc.mp4,one,9,256,256,12\n";
const ClipShape kShape{9, 128, 128};

Entry entryOf(const std::vector<float> &values)
{
    Entry entry{ckptfile::DType::F32, {static_cast<std::int64_t>(values.size())}, std::string(values.size() * sizeof(float), '\0')};
    std::memcpy(entry.bytes.data(), values.data(), entry.bytes.size());
    return entry;
}

QString codeOf(const Error &error) { return QString::fromStdString(error.problem.code); }

} // namespace

class CacheStoreTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_dir;
    fs::path m_folder;

    void write(const std::string &name, const std::string &content) const { std::ofstream(m_folder / name, std::ios::binary) << content; }
    std::string text(const std::string &more = {}) const
    {
        return "dataset: {type: video_text, data_path: " + (m_folder / "meta.csv").string() + ", transform_name: resize_crop}\nbucket_config: {128px: {9: !tuple [1.0, 1]}}\nae: {type: haar}\n"
               "t5: {type: hashed}\nclip: {type: hashed}\nencoding_cache: " + (m_folder / "cache").string() + "\n" + more;
    }
    std::shared_ptr<Store> store(const std::string &yaml) const
    {
        const auto stage = config::stageFromYaml(yaml);
        if (!stage)
            qFatal("%s", stage.error().message().c_str());
        auto opened = Store::open(*stage, *table::readTable(*stage), *table::bucketRules(*stage));
        if (!opened)
            qFatal("%s", opened.error().message().c_str());
        return *opened;
    }
    std::string latentsName(const std::string &yaml, std::int64_t row = 0, ClipShape shape = kShape) const { return store(yaml)->latents(row, shape)->name; }

private Q_SLOTS:
    void init()
    {
        m_dir = std::make_unique<QTemporaryDir>();
        m_folder = m_dir->path().toStdString();
        write("meta.csv", kTable);
        for (const char *clip : {"a.mp4", "b.mp4", "c.mp4"})
            write(clip, std::string("contents of ") + clip);
    }

    void nameFollowsEverythingThatIsEncoded_data()
    {
        QTest::addColumn<QByteArray>("more");
        QTest::addColumn<bool>("latents");             // whether these, or the texts, have other names then
        QTest::addColumn<bool>("texts");
        QTest::newRow("autoencoder") << QByteArray("ae: {type: haar, latent_channels: 24}\n") << true << false;
        QTest::newRow("its default, written out") << QByteArray("ae: {type: haar, latent_channels: 48}\n") << false << false;
        QTest::newRow("token encoder") << QByteArray("t5: {type: hashed, max_length: 100}\n") << false << true;
        QTest::newRow("pooled encoder") << QByteArray("clip: {type: hashed, hidden_size: 32}\n") << false << true;
        QTest::newRow("number type of the text") << QByteArray("dtype: fp32\n") << false << true;
        QTest::newRow("number type of latents") << QByteArray("compat: opensora\n") << true << false;
        QTest::newRow("transform") << QByteArray("dataset: {type: video_text, data_path: TABLE, transform_name: center}\n") << true << false;
        QTest::newRow("interval") << QByteArray("dataset: {type: video_text, data_path: TABLE, transform_name: resize_crop, rand_sample_interval: 2}\n") << true << false;
        QTest::newRow("thinning out") << QByteArray("dataset: {type: video_text, data_path: TABLE, transform_name: resize_crop, fps_max: 6}\n") << true << true;
        QTest::newRow("seed") << QByteArray("seed: 7\n") << false << false;
        QTest::newRow("learning rate") << QByteArray("optim: {lr: 0.5}\n") << false << false;
    }

    void nameFollowsEverythingThatIsEncoded()
    {
        QFETCH(QByteArray, more);
        QFETCH(bool, latents);
        QFETCH(bool, texts);
        more.replace("TABLE", QByteArray::fromStdString((m_folder / "meta.csv").string()));
        // Later lines of a document take the place of earlier ones with the same key.
        std::string changed;
        const std::string key = more.left(more.indexOf(':')).toStdString();
        std::istringstream lines(text());
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with(key + ":"))
                changed += line + "\n";
        }
        changed += more.toStdString();
        const auto before = store(text()), after = store(changed);
        QCOMPARE(before->latents(0, kShape)->name != after->latents(0, kShape)->name, latents);
        const auto namesOf = [](const Store &store) {
            const std::string words = store.wordsOf(0, 9, 0);
            return store.text(Part::Tokens, words).name + store.text(Part::Pooled, words).name;
        };
        QCOMPARE(namesOf(*before) != namesOf(*after), texts);
    }

    void nameFollowsTheContentsAndNotThePlace()
    {
        const std::string first = latentsName(text());
        QVERIFY(first != latentsName(text(), 1));
        QVERIFY(first != latentsName(text(), 0, {5, 128, 128}));
        QVERIFY(first != latentsName(text(), 0, {9, 128, 144}));
        write("c.mp4", "contents of a.mp4");
        QCOMPARE(latentsName(text(), 2), first);
        fs::last_write_time(m_folder / "a.mp4", fs::file_time_type::clock::now() - std::chrono::hours(5));
        QCOMPARE(latentsName(text()), first);
        write("a.mp4", "contents of x.mp4");
        QVERIFY(latentsName(text()) != first);
    }

    void weightsAreKnownByTheirContents()
    {
        fs::create_directories(m_folder / "t5weights/part");
        write("t5weights/config.json", "{}");
        write("t5weights/part/model.bin", "weights");
        std::string yaml = text();
        yaml.replace(yaml.find("t5: {type: hashed}"), 18, "t5: {type: text_embedder, from_pretrained: " + (m_folder / "t5weights").string() + "}");
        const std::string first = store(yaml)->text(Part::Tokens, "words").name;
        fs::rename(m_folder / "t5weights", m_folder / "moved");
        std::string moved = yaml;
        moved.replace(moved.find("t5weights"), 9, "moved");
        QCOMPARE(store(moved)->text(Part::Tokens, "words").name, first);
        write("moved/part/model.bin", "Weights");
        QVERIFY(store(moved)->text(Part::Tokens, "words").name != first);
        const auto stage = config::stageFromYaml(yaml);
        const auto gone = Store::open(*stage, *table::readTable(*stage), *table::bucketRules(*stage));
        QVERIFY(!gone);
        QVERIFY2(gone.error().message().find("t5.from_pretrained") != std::string::npos && gone.error().message().find("t5weights") != std::string::npos, gone.error().message().c_str());
    }

    // That an unchanged clip is not read again shows in contents that changed behind its size and time.
    void unchangedClipsAreNotReadAgain()
    {
        const std::string first = latentsName(text());
        const auto writer = store(text());
        QVERIFY(writer->beginWriting());
        QVERIFY(!writer->knownLatents(0, kShape));
        QVERIFY(writer->latents(0, kShape));
        const auto time = fs::last_write_time(m_folder / "a.mp4");
        write("a.mp4", "contents of X.mp4");
        fs::last_write_time(m_folder / "a.mp4", time);
        QCOMPARE(store(text())->knownLatents(0, kShape)->name, first);
        write("cache/contents.jsonl", "damaged\n{}\n{\"path\":1}\n");
        QVERIFY(!store(text())->knownLatents(0, kShape));
        QVERIFY(latentsName(text()) != first);
    }

    void entryComesBackAsItWas()
    {
        const auto cache = store(text());
        QVERIFY(cache->beginWriting());
        const auto key = *cache->latents(0, kShape);
        const auto missing = cache->read(key);
        QVERIFY(!missing);
        QCOMPARE(codeOf(missing.error()), QStringLiteral("data.cache-missing"));
        const Entry entry = entryOf({1, -2.5f, 3});
        QVERIFY(cache->write(key, entry));
        const auto read = cache->read(key);
        QVERIFY2(read, read ? "" : read.error().message().c_str());
        QCOMPARE(read->bytes, entry.bytes);
        QCOMPARE(read->shape, entry.shape);
        QVERIFY(lookAtEntry(cache->pathOf(key), key));
    }

    void damagedEntryIsNeverRead_data()
    {
        QTest::addColumn<int>("kind");
        QTest::addColumn<bool>("headerShowsIt");
        QTest::newRow("cut short") << 0 << true;
        QTest::newRow("longer") << 1 << true;
        QTest::newRow("one bit") << 2 << false;
        QTest::newRow("of another clip") << 3 << true;
        QTest::newRow("empty") << 4 << true;
        QTest::newRow("no safetensors") << 5 << true;
        QTest::newRow("a folder") << 6 << false;
    }

    void damagedEntryIsNeverRead()
    {
        QFETCH(int, kind);
        QFETCH(bool, headerShowsIt);
        const auto cache = store(text());
        QVERIFY(cache->beginWriting());
        const auto key = *cache->latents(0, kShape), other = *cache->latents(1, kShape);
        QVERIFY(cache->write(key, entryOf({1, 2, 3})));
        QVERIFY(cache->write(other, entryOf({4, 5, 6})));
        const fs::path file = cache->pathOf(key);
        std::string bytes = *readFile(file);
        const std::function<void()> damage[] = {[&] { bytes.pop_back(); }, [&] { bytes += '\0'; }, [&] { bytes[bytes.size() - 2] ^= 1; }, [&] { bytes = *readFile(cache->pathOf(other)); },
                                                [&] { bytes.clear(); }, [&] { bytes = "hello"; }, [] {}};
        damage[kind]();
        if (kind == 6) {
            fs::remove(file);
            fs::create_directory(file);
        } else {
            std::ofstream(file, std::ios::binary) << bytes;
        }
        const auto read = cache->read(key);
        QVERIFY(!read);
        QCOMPARE(codeOf(read.error()), kind == 6 ? QStringLiteral("data.cache-missing") : QStringLiteral("data.cache-damaged"));
        QVERIFY2(read.error().message().find(file.string()) != std::string::npos, read.error().message().c_str());
        QCOMPARE(!lookAtEntry(file, key), headerShowsIt || kind == 6);
    }

    void numbersThatAreNotFiniteAreRefused_data()
    {
        QTest::addColumn<float>("value");
        QTest::newRow("NaN") << std::nanf("");
        QTest::newRow("infinity") << -std::numeric_limits<float>::infinity();
    }

    void numbersThatAreNotFiniteAreRefused()
    {
        QFETCH(float, value);
        const auto cache = store(text());
        QVERIFY(cache->beginWriting());
        const auto key = *cache->latents(0, kShape);
        const auto refused = cache->write(key, entryOf({1, value}));
        QVERIFY(!refused);
        QCOMPARE(codeOf(refused.error()), QStringLiteral("data.not-finite"));
        QVERIFY(!fs::exists(cache->pathOf(key)));
        for (const auto &[dtype, bits] : {std::pair(ckptfile::DType::BF16, std::uint16_t(0x7fc0)), std::pair(ckptfile::DType::F16, std::uint16_t(0xfc00))}) {
            Entry half{dtype, {1}, std::string(2, '\0')};
            std::memcpy(half.bytes.data(), &bits, 2);
            QVERIFY(!cache->write(key, half));
        }
        Entry greatest{ckptfile::DType::F16, {1}, std::string("\xff\x7b", 2)};                 // 65504
        QVERIFY(cache->write(key, greatest));
    }

    void refusalIsRememberedWithItsReason()
    {
        const auto cache = store(text());
        QVERIFY(cache->beginWriting());
        const auto key = *cache->latents(1, kShape);
        cache->refuse(key, {1, "b.mp4", "no picture of it can be decoded"});
        const auto later = store(text());
        QVERIFY(later->refusal(key));
        const auto read = later->read(key);
        QVERIFY(!read && read.error().message().find("no picture") != std::string::npos);
        QVERIFY(!later->refusal(*later->latents(0, kShape)));
    }

    // The parts of a survey add up, whatever is wrong with the folder.
    void surveyCountsEachEntryOnce()
    {
        const auto cache = store(text());
        QVERIFY(cache->beginWriting());
        const Wanted wanted = wantedBy(*cache, 1);
        QCOMPARE(wanted.clips.size(), std::size_t(3));
        QCOMPARE(wanted.texts.size(), std::size_t(3));                 // one, two, none
        QCOMPARE(wanted.count(), std::int64_t(9));
        QVERIFY(cache->write(*cache->latents(0, kShape), entryOf({1})));
        QVERIFY(cache->write(*cache->latents(1, kShape), entryOf({1})));
        cache->refuse(*cache->latents(2, kShape), {2, "c.mp4", "bad"});
        QVERIFY(cache->write(cache->text(Part::Pooled, ""), entryOf({1})));
        QVERIFY(cache->write(cache->text(Part::Pooled, "nobody's"), entryOf({1})));
        std::ofstream(cache->pathOf(*cache->latents(1, kShape)), std::ios::app | std::ios::binary) << "x";
        for (const Depth depth : {Depth::Headers, Depth::EveryByte}) {
            const auto survey = surveyOf(*cache, wanted, depth);
            QVERIFY(survey);
            QCOMPARE(survey->wanted, std::int64_t(9));
            QCOMPARE(survey->present, std::int64_t(2));
            QCOMPARE(survey->damaged, std::int64_t(1));
            QCOMPARE(survey->refused, std::int64_t(1));
            QCOMPARE(survey->missing, std::int64_t(5));
            QCOMPARE(survey->unused, std::int64_t(1));
            QVERIFY(!survey->isWhole());
            QVERIFY2(survey->firstDamaged.front().message.find("row 1") != std::string::npos, survey->firstDamaged.front().message.c_str());
        }
        const auto glance = glanceAt(*cache, wanted);
        QCOMPARE(glance.wanted, std::int64_t(9));
        QCOMPARE(glance.present(), std::int64_t(3));   // damage does not show in names
        QCOMPARE(glance.missing, std::int64_t(5));
        QCOMPARE(glance.refused, std::int64_t(1));
        QCOMPARE(glance.unknown, std::int64_t(0));
        write("a.mp4", "other contents");
        QCOMPARE(glanceAt(*cache, wanted).unknown, std::int64_t(1));
        QCOMPARE(surveyOf(*cache, wanted, Depth::Headers)->present, std::int64_t(1));
        int told = 0;
        const auto stopped = surveyOf(*cache, wanted, Depth::Headers, [&](std::int64_t, std::int64_t) { return ++told < 3; });
        QVERIFY(!stopped);
        QCOMPARE(codeOf(stopped.error()), QStringLiteral("data.stopped"));
    }

    // Another build may be writing, so only old ones go.
    void leftoversOfAKilledBuildGoWhenTheyAreOld()
    {
        fs::create_directories(m_folder / "cache/ab");
        write("cache/ab/.tmp-1-1", "half");
        write("cache/ab/.tmp-1-2", "half");
        fs::last_write_time(m_folder / "cache/ab/.tmp-1-1", fs::file_time_type::clock::now() - std::chrono::hours(2));
        QVERIFY(store(text())->beginWriting());
        QVERIFY(!fs::exists(m_folder / "cache/ab/.tmp-1-1"));
        QVERIFY(fs::exists(m_folder / "cache/ab/.tmp-1-2"));
    }

    void conditionsTakeOnlyTextFromTheCache()
    {
        const auto cache = store(text("condition_config: {t2v: 1, i2v_head: 1}\n"));
        QVERIFY(!cache->hasLatents());
        QVERIFY(wantedBy(*cache, 1).clips.empty());
    }

    // Where the draws of an epoch decide, more epochs want more.
    void moreEpochsWantMore()
    {
        std::string yaml = text();
        yaml.replace(yaml.find("{9: !tuple [1.0, 1]}"), 20, "{9: !tuple [0.5, 1], 5: !tuple [1.0, 1]}");
        const auto cache = store(yaml);
        QCOMPARE(wantedBy(*cache, 1).clips.size(), std::size_t(2));    // one is not drawn
        QCOMPARE(wantedBy(*cache, 20).clips.size(), std::size_t(3));
        QCOMPARE(store(yaml + "epochs: 1\n")->epochs(), std::int64_t(1));
        QCOMPARE(wantedBy(*store(yaml + "epochs: 1\n"), 0).clips.size(), std::size_t(2));
        QCOMPARE(wantedBy(*store(yaml + "epochs: 1000000\n"), 0).clips.size(), std::size_t(3));     // ends, since nothing new comes
    }
};

QTEST_GUILESS_MAIN(CacheStoreTest)
#include "store_test.moc"
