// Tables that are no single CSV or Parquet file: Open-Sora-Plan's annotations, folders of tables, Open-Sora's caption shards, other column names.
#include <QtTest/QtTest>

#include <cmath>
#include <random>

#include <arrow/api.h>
#include <arrow/io/api.h>
#include <parquet/arrow/writer.h>

#include "core/table/json_scanner.h"
#include "core/table/table.h"

using namespace stagewright;
using namespace stagewright::table;

namespace {

const std::string kHeader = "path,text,num_frames,height,width,fps\n";

bool hasProblem(const Table &table, const std::string &code, const std::string &part)
{
    return std::any_of(table.problems().begin(), table.problems().end(),
                       [&](const Problem &problem) { return problem.code == code && problem.message.find(part) != std::string::npos; });
}

// JSON with single quotes for double ones, as sources are read more easily.
std::string quoted(std::string text)
{
    std::replace(text.begin(), text.end(), '\'', '"');
    return text;
}

struct Column {
    std::string name;
    std::vector<std::string> cells;
};

// Columns of text, and of numbers where every cell is one.
void writeParquet(const std::string &path, const std::vector<Column> &columns)
{
    QDir().mkpath(QFileInfo(QString::fromStdString(path)).path());
    arrow::FieldVector fields;
    arrow::ArrayVector arrays;
    for (const Column &column : columns) {
        const bool numbers = column.name != "path" && column.name != "text";
        arrow::DoubleBuilder doubles;
        arrow::StringBuilder strings;
        for (const std::string &cell : column.cells)
            (void)(numbers ? doubles.Append(std::stod(cell)) : strings.Append(cell));
        arrays.push_back(numbers ? doubles.Finish().ValueOrDie() : strings.Finish().ValueOrDie());
        fields.push_back(arrow::field(column.name, arrays.back()->type()));
    }
    auto out = arrow::io::FileOutputStream::Open(path).ValueOrDie();
    if (!parquet::arrow::WriteTable(*arrow::Table::Make(arrow::schema(fields), arrays), arrow::default_memory_pool(), out, 1000).ok() || !out->Close().ok())
        qFatal("cannot write %s", path.c_str());
}

} // namespace

class FormatsTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

    std::string path(const std::string &name) const { return m_folder.filePath(QString::fromStdString(name)).toStdString(); }
    std::string written(const std::string &name, const std::string &content) const
    {
        QDir().mkpath(QFileInfo(QString::fromStdString(path(name))).path());
        QFile file(QString::fromStdString(path(name)));
        if (!file.open(QIODevice::WriteOnly))
            qFatal("cannot write %s", name.c_str());
        file.write(content.data(), static_cast<qint64>(content.size()));
        return path(name);
    }

    // A main table without captions, and shards that have them.
    std::string memoryEfficient(const std::string &name, const std::vector<std::vector<int>> &shards, bool withStray = false) const
    {
        std::vector<std::string> paths, ones, sizes;
        for (int i = 0; i < 6; ++i) {
            paths.push_back("clips/" + std::to_string(i) + ".mp4");
            ones.push_back("33");
            sizes.push_back("256");
        }
        writeParquet(path(name + ".parquet"), {{"path", paths}, {"num_frames", ones}, {"height", sizes}, {"width", sizes}, {"fps", ones}});
        for (std::size_t shard = 0; shard < shards.size(); ++shard) {
            Column names{"path", {}}, texts{"text", {}};
            for (const int i : shards[shard]) {
                names.cells.push_back(paths[static_cast<std::size_t>(i)]);
                texts.cells.push_back("caption " + std::to_string(i));
            }
            writeParquet(path(name + "/0000" + std::to_string(shard + 1) + ".parquet"), {names, texts});
        }
        if (withStray)
            written(name + "/_SUCCESS", "");
        return path(name + ".parquet");
    }

private Q_SLOTS:
    void readsAnnotations_data()
    {
        QTest::addColumn<QByteArray>("text");
        const auto first = QByteArray::fromStdString(quoted("{'path': 'a.mp4', 'cap': ['one', 'two', 'three'], 'resolution': {'height': 240, 'width': 320}, 'fps': 29.97, 'num_frames': 106, 'cut': [4, 110], 'crop': [10, 110, 20, 220], 'aesthetic': 3.4}"));
        const auto second = QByteArray::fromStdString(quoted("{'path': 'b.jpg', 'cap': 'a \\'still\\' {with} [brackets], and 中文', 'resolution': {'height': 300, 'width': 1400}}"));
        const auto third = QByteArray::fromStdString(quoted("{'path': 'c.mp4', 'cap': 'three', 'resolution': {'height': '480', 'width': 854}, 'fps': 24, 'num_frames': '33'}"));
        QTest::newRow("list") << "[" + first + ",\n" + second + ",\n" + third + "]\n";
        QTest::newRow("list after a byte order mark") << "\xef\xbb\xbf [" + first + "," + second + "," + third + "]";
        QTest::newRow("lines") << QByteArray(first).replace('\n', ' ') + "\n" + second + "\r\n\n" + third;
    }
    void readsAnnotations()
    {
        QFETCH(QByteArray, text);
        const auto read = readTable(written("a.json", text.toStdString()));
        QVERIFY2(read, read ? "" : read.error().message().c_str());
        const Table &table = **read;
        QCOMPARE(table.rowCount(), 3);
        QCOMPARE(table.mediaPath(0).string(), path("a.mp4"));
        QCOMPARE(table.captionCount(0), 3);
        QCOMPARE(std::string(table.caption(0)), std::string("one"));
        QCOMPARE(std::string(table.caption(0, 2)), std::string("three"));
        QCOMPARE(table.captionCount(1), 1);
        QCOMPARE(std::string(table.caption(1)), std::string("a \"still\" {with} [brackets], and 中文"));
        QCOMPARE(table.number(NumberColumn::NumFrames, 0), 106.0);
        QCOMPARE(table.number(NumberColumn::NumFrames, 1), 1.0);
        QVERIFY(std::isnan(table.number(NumberColumn::Fps, 1)));
        QCOMPARE(table.number(NumberColumn::NumFrames, 2), 33.0);
        QCOMPARE(table.number(NumberColumn::Height, 2), 480.0);
        const Cutout cutout = table.cutout(0);
        QCOMPARE(cutout.firstFrame, 4);
        QVERIFY(cutout.left == 10 && cutout.width == 100 && cutout.top == 20 && cutout.height == 200);
        QVERIFY(table.cutout(2).isWhole());
        QVERIFY(!hasProblem(table, "data.column-alias", "cap"));
    }

    void refusesAnnotationsWithPlace_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("code");
        QTest::addColumn<int>("line");
        QTest::addColumn<QByteArray>("says");
        const auto good = QByteArray::fromStdString(quoted("{'path': 'a.mp4', 'cap': 'x', 'resolution': {'height': 2, 'width': 3}, 'fps': 24, 'num_frames': 9}"));
        const auto row = [](const char *title, const QByteArray &text, const char *code, int line, const char *says) {
            QTest::newRow(title) << text << QByteArray(code) << line << QByteArray(says);
        };
        row("cut off in an annotation", "[" + good + ",\n{\"path\": \"b", "data.table-unreadable", 2, "never ends");
        row("cut off between two", "[" + good + ",\n", "data.table-unreadable", 2, "cut off");
        row("not JSON inside", "[" + good + ",\n{path: 1}]", "data.table-unreadable", 2, "not valid JSON");
        row("a list of lists", QByteArray("[[1, 2]]"), "data.table-unreadable", 1, "must be an object");
        row("no path", "[" + good + ",\n\n{\"cap\": \"x\"}]", "data.missing-value", 3, "no \"path\"");
        row("no frame counts at all", QByteArray::fromStdString(quoted("[{'path': 'a.mp4', 'cap': 'x', 'resolution': {'height': 2, 'width': 3}, 'fps': 24}]")), "data.missing-column", 0, "num_frames");
        row("older version without sizes", QByteArray::fromStdString(quoted("[{'path': 'a.mp4', 'cap': 'x', 'fps': 24, 'num_frames': 9}, {'path': 'b.mp4'}]")), "data.missing-column", 0, "height, width");
        row("Latin-1", QByteArray("[") + good + ",\n{\"path\": \"caf\xe9.mp4\"}]", "data.not-utf8", 2, "UTF-8");
        row("wrong crop", QByteArray::fromStdString(quoted("[{'path': 'a.mp4', 'cap': 'x', 'resolution': {'height': 2, 'width': 3}, 'fps': 24, 'num_frames': 9, 'crop': [5, 1, 0, 2]}]")), "data.unreadable-value", 1, "left < right");
        row("empty list", QByteArray("[]"), "data.table-empty", 0, "no annotations");
    }
    void refusesAnnotationsWithPlace()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, code);
        QFETCH(int, line);
        QFETCH(QByteArray, says);
        const auto read = readTable(written("bad.json", text.toStdString()));
        QVERIFY(!read);
        QCOMPARE(QByteArray::fromStdString(read.error().problem.code), code);
        QCOMPARE(read.error().problem.line, line);
        QVERIFY2(read.error().message().find(says.toStdString()) != std::string::npos, read.error().message().c_str());
    }

    void findsObjectsWhereverTheTextIsCut()
    {
        const std::string text = quoted("[ {'a': 'x}\\']', 'b': [{'c': 1}]} , {'d': {}} ]");
        for (std::size_t step = 1; step < text.size(); ++step) {
            JsonScanner scanner;
            std::vector<std::string> objects;
            for (std::size_t at = 0; at < text.size(); at += step)
                QVERIFY(scanner.feed(std::string_view(text).substr(at, step), [&](const JsonScanner::Object &object) { objects.push_back(object.text); return true; }));
            QVERIFY(scanner.finish());
            QCOMPARE(objects, (std::vector<std::string>{quoted("{'a': 'x}\\']', 'b': [{'c': 1}]}"), quoted("{'d': {}}")}));
        }
    }

    void followsAnIndexOfAnnotations()
    {
        written("plan/one.json", quoted("[{'path': 'a.mp4', 'cap': 'x', 'resolution': {'height': 2, 'width': 3}, 'fps': 24, 'num_frames': 9}]"));
        written("plan/two.jsonl", quoted("{'path': 'b.mp4', 'cap': 'y', 'resolution': {'height': 2, 'width': 3}, 'fps': 24, 'num_frames': 9}"));
        const auto read = readTable(written("plan/data.txt", "/videos/one,one.json\n\n../clips, two.jsonl\n"));
        QVERIFY2(read, read ? "" : read.error().message().c_str());
        QCOMPARE((*read)->mediaPath(0).string(), std::string("/videos/one/a.mp4"));
        QCOMPARE((*read)->mediaPath(1).string(), path("clips/b.mp4"));
        const auto commas = readTable(written("plan/commas.txt", "/a,b,one.json\n"));
        QVERIFY(!commas);
        QCOMPARE(commas.error().problem.code, std::string("data.index-line"));
        const auto pickled = readTable(written("plan/pickled.txt", "/a,one.pkl\n"));
        QVERIFY(!pickled && pickled.error().message().find("pickled") != std::string::npos);
        const auto missing = readTable(written("plan/missing.txt", "/a,nowhere.json\n"));
        QVERIFY(!missing && missing.error().message().find(path("plan/nowhere.json")) != std::string::npos);
    }

    void readsAFolderInTheOrderOfNames()
    {
        written("many/b.csv", kHeader + "b.mp4,x,1,2,3,\n");
        written("many/a.csv", kHeader + "a.mp4,x,1,2,3,\n");
        written("many/c.jsonl", quoted("{'path': 'c.mp4', 'cap': 'y', 'resolution': {'height': 2, 'width': 3}, 'fps': 24, 'num_frames': 9}"));
        written("many/_SUCCESS", "");
        written("many/notes.md", "x");
        const auto read = readTable(path("many"));
        QVERIFY2(read, read ? "" : read.error().message().c_str());
        QCOMPARE((*read)->rowCount(), 3);
        QCOMPARE((*read)->mediaPath(0).string(), path("many/a.mp4"));
        QCOMPARE((*read)->mediaPath(2).string(), path("many/c.mp4"));
        QVERIFY(hasProblem(**read, "data.stray-file", "notes.md"));
        QVERIFY(!hasProblem(**read, "data.stray-file", "_SUCCESS"));
        written("many/d.csv", "path,text\nd.mp4,x\n");
        const auto broken = readTable(path("many"));
        QVERIFY(!broken);
        QVERIFY(broken.error().message().find(path("many/d.csv")) == 0);
    }

    void takesTheUsualOtherColumnNames()
    {
        const auto read = readTable(written("alias.csv", "Video_Path,caption,n_frames,H,W,frame_rate,extra\na.mp4,hello,33,256,512,24,z\n"));
        QVERIFY2(read, read ? "" : read.error().message().c_str());
        QCOMPARE(std::string((*read)->path(0)), std::string("a.mp4"));
        QCOMPARE(std::string((*read)->caption(0)), std::string("hello"));
        QCOMPARE((*read)->number(NumberColumn::NumFrames, 0), 33.0);
        QCOMPARE((*read)->number(NumberColumn::Width, 0), 512.0);
        QVERIFY(hasProblem(**read, "data.column-alias", "\"n_frames\" is read as num_frames"));
        writeParquet(path("alias.parquet"), {{"path", {"a.mp4"}}, {"text", {"x"}}, {"frames", {"33"}}, {"height", {"2"}}, {"width", {"3"}}, {"fps", {"24"}}});
        const auto parquet = readTable(path("alias.parquet"));
        QVERIFY2(parquet, parquet ? "" : parquet.error().message().c_str());
        QCOMPARE((*parquet)->number(NumberColumn::NumFrames, 0), 33.0);
    }

    void prefersTheExactNameOverAnother()
    {
        const auto read = readTable(written("both.csv", "path,caption,text,num_frames,height,width,fps\na.mp4,other,mine,33,2,3,24\n"));
        QVERIFY(read);
        QCOMPARE(std::string((*read)->caption(0)), std::string("mine"));
        QVERIFY((*read)->problems().empty());
    }

    void readsOnlyPathsWhereMeasuresAreToBeMade()
    {
        ReadOptions options;
        options.needMeasures = false;
        const auto read = readTable(written("bare.csv", "path,text\na.mp4,x\nb.jpg,y\n"), options);
        QVERIFY2(read, read ? "" : read.error().message().c_str());
        QVERIFY(!(*read)->hasColumn(NumberColumn::Height));
        QVERIFY(std::isnan((*read)->number(NumberColumn::Height, 1)));
    }

    void readsColumnsOfCachedFiles()
    {
        const auto read = readTable(written("cached/meta.csv", "path,text,num_frames,height,width,fps,latents_path,text_t5_path,text_clip_path\na.mp4,x,1,2,3,24,l/a.pt,/abs/t.pt,\n"));
        QVERIFY(read);
        QVERIFY((*read)->hasColumn(FileColumn::Latents) && (*read)->hasColumn(FileColumn::TextClip));
        QCOMPARE((*read)->cachedFile(FileColumn::Latents, 0).string(), path("cached/l/a.pt"));
        QCOMPARE((*read)->cachedFile(FileColumn::TextT5, 0).string(), std::string("/abs/t.pt"));
        QVERIFY((*read)->cachedFile(FileColumn::TextClip, 0).empty());
    }

    void readsCaptionsFromShards_data()
    {
        QTest::addColumn<QList<QList<int>>>("shards");
        QTest::newRow("in order") << QList<QList<int>>{{0, 1, 2, 3}, {4, 5}};
        QTest::newRow("a shard with its rows reversed") << QList<QList<int>>{{3, 2, 1, 0}, {4, 5}};
        QTest::newRow("uneven shards in another order") << QList<QList<int>>{{5}, {2, 3, 4}, {0, 1}};
        QTest::newRow("more captions than rows") << QList<QList<int>>{{0, 1, 2}, {3, 4, 5}, {1, 1}};
    }
    void readsCaptionsFromShards()
    {
        QFETCH(QList<QList<int>>, shards);
        std::vector<std::vector<int>> plain;
        for (const auto &shard : shards)
            plain.emplace_back(shard.begin(), shard.end());
        const std::string name = std::string("shards.") + QTest::currentDataTag();         // a dot in the name as well
        const std::string file = memoryEfficient(name, plain, /*withStray=*/true);
        ReadOptions options;
        options.captionShards = true;
        const auto read = readTable(file, options);
        QVERIFY2(read, read ? "" : read.error().message().c_str());
        for (int i = 0; i < 6; ++i)
            QCOMPARE(std::string((*read)->caption(i)), "caption " + std::to_string(i));
        QVERIFY((*read)->problems().empty());
    }

    void refusesShardsThatDoNotFit()
    {
        ReadOptions options;
        options.captionShards = true;
        const auto incomplete = readTable(memoryEfficient("incomplete", {{0, 1, 2}, {4, 5}}), options);
        QVERIFY(!incomplete);
        QCOMPARE(incomplete.error().problem.code, std::string("data.shard-mismatch"));
        QVERIFY(incomplete.error().message().find("clips/3.mp4") != std::string::npos);

        const auto absent = readTable(memoryEfficient("absent", {}), options);
        QVERIFY(!absent);
        QCOMPARE(absent.error().problem.code, std::string("data.shards-missing"));

        const std::string file = memoryEfficient("cut", {{0, 1, 2}, {3, 4, 5}});
        QFile shard(QString::fromStdString(path("cut/00002.parquet")));
        QVERIFY(shard.resize(shard.size() / 2));
        const auto cut = readTable(file, options);
        QVERIFY(!cut);
        QVERIFY2(cut.error().message().find("00002.parquet") != std::string::npos, cut.error().message().c_str());
    }

    void noticesOtherCaptionsAndCutouts()
    {
        const std::string base = quoted("'path': 'a.mp4', 'resolution': {'height': 2, 'width': 3}, 'fps': 24, 'num_frames': 9");
        std::set<std::string> prints;
        for (const auto &rest : std::vector<std::string>{quoted("'cap': 'x'"), quoted("'cap': ['x', 'y']"), quoted("'cap': ['x', 'z']"), quoted("'cap': 'x', 'cut': [1, 9]"), quoted("'cap': 'x', 'crop': [0, 2, 0, 2]")}) {
            const auto read = readTable(written("print.json", "[{" + base + ", " + rest + "}]"));
            QVERIFY2(read, read ? "" : read.error().message().c_str());
            prints.insert((*read)->fingerprint());
        }
        QCOMPARE(prints.size(), std::size_t(5));
    }
};

QTEST_GUILESS_MAIN(FormatsTest)
#include "formats_test.moc"
