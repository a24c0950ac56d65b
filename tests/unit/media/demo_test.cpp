// The demo dataset: made in seconds, the same every time, readable as its table says.
#include <QtTest/QtTest>

#include <set>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/media/clip.h"
#include "core/media/demo.h"
#include "core/table/table.h"

using namespace stagewright;
using namespace stagewright::media;
namespace fs = std::filesystem;

class DemoTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    fs::path m_demo;

private Q_SLOTS:
    void initTestCase()
    {
        m_demo = fs::path(m_folder.path().toStdString()) / "demo";
        int last = 0, total = 0;
        const double begin = steadySeconds();
        const auto files = makeDemo(m_demo, [&](int done, int all) { last = done; total = all; });
        qInfo("made in %.2f s", steadySeconds() - begin);
        QVERIFY2(files, files ? "" : files.error().message().c_str());
        QCOMPARE(last, total);
        QCOMPARE(files->files.back(), files->table);
        for (const fs::path &file : files->files)
            QVERIFY2(fs::file_size(file) > 0, file.c_str());
    }

    void tableDescribesTheFiles()
    {
        const auto table = table::readTable(m_demo / "meta.csv");
        QVERIFY2(table, table ? "" : table.error().message().c_str());
        QCOMPARE((*table)->rowCount(), 51);
        QVERIFY((*table)->problems().empty());
        int broken = 0, images = 0, single = 0;
        std::set<std::pair<int, int>> sizes;
        std::set<double> rates, lengths;
        for (std::int64_t row = 0; row < (*table)->rowCount(); ++row) {
            const auto info = probe((*table)->mediaPath(row), Count::Exactly);
            if (!info) {
                QCOMPARE(info.error().problem.code, std::string("data.no-index"));
                QVERIFY((*table)->path(row).find("broken") != std::string_view::npos);
                ++broken;
                continue;
            }
            using enum table::NumberColumn;
            QCOMPARE(static_cast<double>(info->frames), (*table)->number(NumFrames, row));
            QCOMPARE(static_cast<double>(info->width), (*table)->number(Width, row));
            QCOMPARE(static_cast<double>(info->height), (*table)->number(Height, row));
            QCOMPARE(info->isImage, (*table)->isImage(row));
            QVERIFY(std::min(info->width, info->height) >= 144);
            images += info->isImage;
            if (info->isImage)
                continue;
            QVERIFY(std::abs(info->fps - (*table)->number(Fps, row)) < 0.01 || info->frames == 1);
            single += info->frames == 1;
            sizes.insert({info->width, info->height});
            rates.insert((*table)->number(Fps, row));
            lengths.insert(static_cast<double>(info->frames));
            QVERIFY((*table)->caption(row).size() > 10);
        }
        QCOMPARE(broken, 1);
        QCOMPARE(images, 2);
        QVERIFY(single >= 1);
        QVERIFY(sizes.size() >= 4 && rates.size() >= 5 && lengths.size() >= 8);
        QVERIFY(*rates.begin() >= 8 && *rates.rbegin() <= 30 && *lengths.rbegin() <= 40);
    }

    void colourIsWhatTheCaptionSays()
    {
        const auto table = table::readTable(m_demo / "meta.csv");
        QVERIFY(table);
        for (std::int64_t row = 0; row < (*table)->rowCount(); ++row) {
            if ((*table)->caption(row) != "A plain red picture.")
                continue;
            const auto clip = decode((*table)->mediaPath(row), std::vector<std::int64_t>{0});
            QVERIFY(clip);
            QVERIFY(clip->pixels[0] > 240 && clip->pixels[1] < 20 && clip->pixels[2] < 20);
            return;
        }
        QFAIL("no red clip");
    }

    void isTheSameEveryTime()
    {
        const fs::path other = fs::path(m_folder.path().toStdString()) / "other";
        const auto files = makeDemo(other);
        QVERIFY(files);
        for (const fs::path &file : files->files) {
            const auto one = readFile(file), two = readFile(m_demo / fs::relative(file, other));
            QVERIFY(one && two);
            QVERIFY2(*one == *two, file.c_str());
        }
    }

    void keepsAndRepairsItsOwnFolder()
    {
        QVERIFY(replaceFile(m_demo / "demo.yaml", "mine: 1\n"));
        fs::remove(m_demo / "clips/clip03.mp4");
        QVERIFY(makeDemo(m_demo));
        QVERIFY(fs::file_size(m_demo / "clips/clip03.mp4") > 0);
        QVERIFY(fs::exists(m_demo / "demo.yaml"));
        const auto when = fs::last_write_time(m_demo / "clips/clip03.mp4");
        QVERIFY(makeDemo(m_demo));
        QCOMPARE(fs::last_write_time(m_demo / "clips/clip03.mp4"), when);
    }

    void refusesAFolderWithOtherContent()
    {
        const fs::path full = fs::path(m_folder.path().toStdString()) / "full";
        fs::create_directory(full);
        QVERIFY(replaceFile(full / "thesis.txt", "do not touch"));
        for (const fs::path &folder : {full, full / "thesis.txt"}) {
            const auto files = makeDemo(folder);
            QVERIFY(!files);
            QCOMPARE(files.error().exit, ExitCode::InputOutput);
            QVERIFY(files.error().message().find("new or empty folder") != std::string::npos);
        }
        QCOMPARE(std::distance(fs::directory_iterator(full), fs::directory_iterator()), 1);
    }
};

QTEST_GUILESS_MAIN(DemoTest)
#include "demo_test.moc"
