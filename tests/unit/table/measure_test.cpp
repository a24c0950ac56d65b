// What a table lacks, measured from its files: by any number of threads the same, and nothing made up where a file cannot be read.
#include <QtTest/QtTest>

#include <cmath>

#include "core/table/measure.h"

using namespace stagewright;
using namespace stagewright::table;

class MeasureTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    std::string written(const char *name, const QByteArray &content) const
    {
        QFile file(m_folder.filePath(QString::fromLatin1(name)));
        if (!file.open(QIODevice::WriteOnly))
            qFatal("cannot write %s", name);
        file.write(content);
        return file.fileName().toStdString();
    }

    // A file's name is what it holds: "33x240x320.mp4".
    static Result<Measured> fromName(const std::filesystem::path &path)
    {
        int frames = 0, height = 0, width = 0;
        if (std::sscanf(path.filename().c_str(), "%dx%dx%d", &frames, &height, &width) != 3)
            return Error(ExitCode::Data, "data.not-media", path.string() + ": is not a media file");
        Measured measured{static_cast<double>(frames), height, width, frames == 1 ? 0.0 : 29.97002997, {}};
        if (width == 320)
            measured.remarks.push_back("narrow");
        return measured;
    }

private Q_SLOTS:
    void fillsWhatATableLacks()
    {
        ReadOptions bare;
        bare.needMeasures = false;
        const auto table = readTable(written("bare.csv", "path,text,fps\n33x240x320.mp4,\"one, two\",\nx.mp4,NA,\n1x480x640.png,\"say \"\"hi\"\"\",\n9x9x9.mp4,four,12\n"), bare);
        QVERIFY2(table, table ? "" : table.error().message().c_str());
        for (const int threads : {1, 4}) {
            MeasureOptions options;
            options.threads = threads;
            std::int64_t last = 0;
            options.progress = [&](std::int64_t done, std::int64_t total) { last = done; QCOMPARE(total, 4); };
            const auto found = measureFiles(**table, fromName, options);
            QVERIFY(found);
            QVERIFY(last > 0);
            QCOMPARE(found->unreadable.size(), std::size_t(1));
            QCOMPARE(found->unreadable[0].row, 1);
            QCOMPARE(found->remarks.at("narrow"), std::vector<std::int64_t>{0});
            QCOMPARE(found->differences.size(), std::size_t(1));       // the rate that the table had
            QVERIFY(found->differences[0].sentence.find("fps is 12 in the table and 29.97") != std::string::npos);
            const auto target = probedTablePath((*table)->file());
            QCOMPARE(target.filename().string(), std::string("bare.probed.csv"));
            QVERIFY(writeMeasured(target, **table, *found));
            const auto again = readTable(target);
            QVERIFY2(again, again ? "" : again.error().message().c_str());
            QCOMPARE(std::string((*again)->caption(0)), std::string("one, two"));
            QCOMPARE(std::string((*again)->caption(1)), std::string("NA"));
            QCOMPARE(std::string((*again)->caption(2)), std::string("say \"hi\""));
            QCOMPARE((*again)->mediaPath(0), (*table)->mediaPath(0));
            QCOMPARE((*again)->number(NumberColumn::NumFrames, 0), 33.0);
            QCOMPARE((*again)->number(NumberColumn::Fps, 0), 29.97);
            QCOMPARE((*again)->number(NumberColumn::Fps, 3), 12.0);    // what the table says stays
            QVERIFY(std::isnan((*again)->number(NumberColumn::NumFrames, 1)));
            QVERIFY(std::isnan((*again)->number(NumberColumn::Fps, 2)));
        }
    }

    void comparesWhatATableSays()
    {
        const auto table = readTable(written("full.csv", "path,text,num_frames,height,width,fps\n48x240x320.mp4,x,49,240,320,29.97\n33x240x320.mp4,x,33,320,240,29.97\n33x8x8.mp4,x,33,8,8,30\n"));
        QVERIFY(table);
        const auto found = measureFiles(**table, fromName);
        QVERIFY(found);
        QCOMPARE(found->differences.size(), std::size_t(2));
        QCOMPARE(found->differences[0].sentence, std::string("num_frames is 49 in the table and 48 in the file"));
        QVERIFY(found->differences[1].sentence.find("height is 320 in the table and 240 in the file; width is") == 0);
    }

    void stopsWhenAsked()
    {
        const auto table = readTable(written("many.csv", "path,text,num_frames,height,width,fps\n" + QByteArray("1x2x3.mp4,x,1,2,3,4\n").repeated(1000)));
        QVERIFY(table);
        std::atomic<bool> stop{false};
        MeasureOptions options;
        options.stop = &stop;
        std::atomic<int> calls{0};
        const auto found = measureFiles(**table, [&](const std::filesystem::path &path) { stop = ++calls > 10; return fromName(path); }, options);
        QVERIFY(!found);
        QCOMPARE(found.error().exit, ExitCode::Stopped);
        QVERIFY(calls < 100);
    }
};

QTEST_GUILESS_MAIN(MeasureTest)
#include "measure_test.moc"
