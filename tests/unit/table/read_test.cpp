// Tables as people write them: what is read, and what is refused with which words.
#include <QtTest/QtTest>

#include <cmath>
#include <random>

#include <arrow/api.h>
#include <arrow/io/api.h>
#include <parquet/arrow/writer.h>

#include "core/base/host.h"
#include "core/table/buckets.h"
#include "core/table/order.h"
#include "core/table/table.h"

using namespace stagewright;
using namespace stagewright::table;

namespace {

const std::string kHeader = "path,text,num_frames,height,width,fps\n";

std::string written(const QTemporaryDir &folder, const std::string &name, const std::string &content)
{
    const std::string path = folder.filePath(QString::fromStdString(name)).toStdString();
    QDir().mkpath(QFileInfo(QString::fromStdString(path)).path());
    QFile file(QString::fromStdString(path));
    if (!file.open(QIODevice::WriteOnly))
        qFatal("cannot write %s", path.c_str());
    file.write(content.data(), static_cast<qint64>(content.size()));
    return path;
}

std::string utf16(const std::string &text, bool mark)
{
    std::string result = mark ? "\xff\xfe" : "";
    for (const char c : text)
        result += {c, '\0'};
    return result;
}

bool hasProblem(const Table &table, const std::string &code, const std::string &part)
{
    for (const Problem &problem : table.problems()) {
        if (problem.code == code && problem.message.find(part) != std::string::npos)
            return true;
    }
    return false;
}

template <class Builder, class Value>
std::shared_ptr<arrow::Array> arrayOf(Builder &builder, const std::vector<std::optional<Value>> &values)
{
    for (const auto &value : values)
        (void)(value ? builder.Append(*value) : builder.AppendNull());
    return builder.Finish().ValueOrDie();
}

std::string parquetWith(const QTemporaryDir &folder, const std::string &name, std::shared_ptr<arrow::Array> frames, std::shared_ptr<arrow::Array> captions = nullptr)
{
    const std::int64_t rows = frames->length();
    arrow::StringBuilder paths, texts;
    arrow::Int32Builder sizes;
    arrow::DoubleBuilder rates;
    for (std::int64_t i = 0; i < rows; ++i) {
        (void)paths.Append("clips/" + std::to_string(i) + ".mp4");
        (void)texts.Append("NA");
        (void)sizes.Append(512);
        (void)rates.Append(24.0);
    }
    auto size = sizes.Finish().ValueOrDie();
    auto text = captions ? captions : texts.Finish().ValueOrDie();
    auto schema = arrow::schema({arrow::field("path", arrow::utf8()), arrow::field("text", text->type()), arrow::field("num_frames", frames->type()),
                                 arrow::field("height", size->type()), arrow::field("width", size->type()), arrow::field("fps", arrow::float64())});
    auto table = arrow::Table::Make(schema, {paths.Finish().ValueOrDie(), text, frames, size, size, rates.Finish().ValueOrDie()});
    const std::string path = folder.filePath(QString::fromStdString(name)).toStdString();
    auto out = arrow::io::FileOutputStream::Open(path).ValueOrDie();
    if (!parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), out, 2).ok() || !out->Close().ok())
        qFatal("cannot write %s", path.c_str());
    return path;
}

} // namespace

class ReadTest : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;

private Q_SLOTS:
    void refusesWithPlaceAndAdvice_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<QByteArray>("code");
        QTest::addColumn<int>("line");
        QTest::addColumn<QByteArrayList>("says");
        const auto row = [](const char *title, const std::string &content, const char *code, int line, QByteArrayList says, const char *name = "t.csv") {
            QTest::newRow(title) << QByteArray(name) << QByteArray::fromStdString(content) << QByteArray(code) << line << says;
        };
        row("empty file", "", "data.table-empty", 0, {"is empty"});
        row("header only", kHeader, "data.table-empty", 0, {"no rows"});
        row("blank lines only", "\n\n", "data.table-empty", 1, {"no header"});
        row("missing columns", "path,text,num_frames\na.mp4,x,3\n", "data.missing-column", 1, {"height, width, fps", "\"num_frames\""});
        row("caption under an unknown name", "path,texts,num_frames,height,width,fps\n", "data.missing-column", 1, {"no column text", "Rename \"texts\" to text"});
        row("two columns that could be the caption", "path,caption,prompt,num_frames,height,width,fps\n", "data.double-column", 1, {"\"caption\"", "\"prompt\"", "could be text"});
        row("what can be measured is missing", "path,text,fps\na.mp4,x,3\n", "data.missing-column", 1, {"num_frames, height, width", "--probe"});
        row("semicolons", "path;text;num_frames;height;width;fps\n", "data.missing-column", 1, {"no comma"});
        row("double column", "path,text,text,num_frames,height,width,fps\n", "data.double-column", 1, {"text is there twice"});
        row("unquoted comma", kHeader + "a.mp4,ok,1,2,3,4\nb.mp4,a man, a dog,1,2,3,4\n", "data.field-count", 3, {":3:", "7 fields", "header has 6", "double quotes"});
        row("too few fields", kHeader + "a.mp4,ok\n", "data.field-count", 2, {":2:", "2 fields"});
        row("trailing comma", kHeader + "a.mp4,ok,1,2,3,4,\n", "data.field-count", 2, {"7 fields"});
        row("lines inside quotes are counted", kHeader + "a.mp4,\"two\nlines\",1,2,3,4\nb.mp4,x,1,2,3\n", "data.field-count", 4, {":4:"});
        row("open quote", kHeader + "a.mp4,ok,1,2,3,4\nb.mp4,\"never closed,1,2,3,4\n", "data.open-quote", 3, {":3:", "never closes"});
        row("Latin-1", kHeader + "a.mp4,ok,1,2,3,4\nb.mp4,caf\xe9,1,2,3,4\n", "data.not-utf8", 3, {":3:", "0xe9", "column text", "byte 4", "Latin-1"});
        row("GBK", kHeader + "a.mp4,\xc4\xe3\xba\xc3,1,2,3,4\n", "data.not-utf8", 2, {"GBK"});
        row("Latin-1 in the header", "path,caf\xe9\n", "data.not-utf8", 1, {"0xe9"});
        row("UTF-16", utf16(kHeader, true), "data.utf16", 1, {"UTF-16", "save it as UTF-8"});
        row("UTF-16 without a mark", utf16(kHeader, false), "data.not-text", 1, {"UTF-16"});
        row("other format", "x", "data.table-format", 0, {"is not a .csv, .parquet"}, "t.xlsx");
        row("broken Parquet", "PAR1 and then nothing useful", "data.table-unreadable", 0, {"Parquet"}, "t.parquet");
        row("short Parquet", "PAR1", "data.table-unreadable", 0, {"Parquet"}, "t.parquet");
    }
    void refusesWithPlaceAndAdvice()
    {
        QFETCH(QByteArray, name);
        QFETCH(QByteArray, content);
        QFETCH(QByteArray, code);
        QFETCH(int, line);
        QFETCH(QByteArrayList, says);
        const std::string file = written(m_folder, name.toStdString(), content.toStdString());
        const auto table = readTable(file);
        QVERIFY(!table);
        const Error &error = table.error();
        QCOMPARE(QByteArray::fromStdString(error.problem.code), code);
        QCOMPARE(error.exit, ExitCode::Data);
        QCOMPARE(error.problem.line, line);
        QVERIFY2(error.message().find(file) == 0, error.message().c_str());
        for (const QByteArray &part : says)
            QVERIFY2(error.message().find(part.toStdString()) != std::string::npos, error.message().c_str());
    }

    void refusesWhatIsNoFile()
    {
        const auto missing = readTable(m_folder.filePath(QStringLiteral("nowhere.csv")).toStdString());
        QVERIFY(!missing);
        QCOMPARE(missing.error().problem.code, std::string("data.table-missing"));
        QVERIFY(QDir(m_folder.path()).mkpath(QStringLiteral("empty")));
        const auto folder = readTable(m_folder.filePath(QStringLiteral("empty")).toStdString());
        QVERIFY(!folder);
        QCOMPARE(folder.error().problem.code, std::string("data.table-folder"));
    }

    void keepsCaptionsAsTheyAre()
    {
        const auto table = readTable(written(m_folder, "captions.csv",
            "\xef\xbb\xbf\"path\",text,num_frames,height,width,fps\r\n"
            "a.mp4,NA,1,2,3,\r\nb.mp4,,1,2,3,\r\nc.mp4,null,1,2,3,\r\nd.mp4,None,1,2,3,\r\ne.mp4,2024,1,2,3,\r\n"
            "f.mp4,\"a \"\"red\"\" dog, and\ntwo lines\",1,2,3,\r\n\r\ng.mp4,  spaces ,1,2,3,"));
        QVERIFY2(table, table ? "" : table.error().message().c_str());
        const std::vector<std::string> expected{"NA", "", "null", "None", "2024", "a \"red\" dog, and\ntwo lines", "  spaces "};
        QCOMPARE((*table)->rowCount(), static_cast<std::int64_t>(expected.size()));
        for (std::size_t i = 0; i < expected.size(); ++i)
            QCOMPARE(std::string((*table)->caption(static_cast<std::int64_t>(i))), expected[i]);
        QVERIFY(hasProblem(**table, "data.empty-caption", "row 1"));
    }

    void readsNumbersOfEverySpelling()
    {
        const auto table = readTable(written(m_folder, "numbers.csv", kHeader
            + "0.mp4,x,129,1,1,24\n1.mp4,x,,1,1,24\n2.mp4,x,129.0,1,1,24\n3.mp4,x,12 frames,1,1,24\n4.mp4,x,-1,1,1,24\n5.mp4,x,1e3,1,1,24\n6.mp4,x,129.5,1,1,24\n7.mp4,x, +7 ,1,1,24\n"));
        QVERIFY(table);
        const Table &t = **table;
        const std::vector<double> expected{129, NAN, 129, NAN, -1, 1000, 129.5, 7};
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const double value = t.number(NumberColumn::NumFrames, static_cast<std::int64_t>(i));
            QVERIFY(std::isnan(expected[i]) ? std::isnan(value) : value == expected[i]);
        }
        QCOMPARE(t.unreadableRows(), std::vector<std::int64_t>{3});
        QCOMPARE(t.badCells().size(), std::size_t(1));
        QCOMPARE(t.badCells()[0].text, std::string("12 frames"));
        QVERIFY(hasProblem(t, "data.unreadable-value", "row 3"));
        QVERIFY(hasProblem(t, "data.unreadable-value", "12 frames"));
        QVERIFY(hasProblem(t, "data.fractional-value", "row 6"));
        QVERIFY(hasProblem(t, "data.missing-value", "row 1"));
        QVERIFY(t.isIntegerColumn(NumberColumn::Fps));
        QVERIFY(!t.isIntegerColumn(NumberColumn::NumFrames));
    }

    void resolvesPathsAgainstTheTablesFolder()
    {
        const std::string file = written(m_folder, "data/meta.csv", kHeader + "clips/a.mp4,x,1,2,3,\n../b.mp4,x,1,2,3,\n~/c.mp4,x,1,2,3,\n/d.PNG,x,1,2,3,\nno.ext/e,x,1,2,3,\n");
        const std::string before = QDir::currentPath().toStdString(), base = m_folder.path().toStdString();
        for (const std::string &where : {std::string("/"), base + "/data"}) {
            QDir::setCurrent(QString::fromStdString(where));
            const auto table = readTable(file);
            QVERIFY(table);
            QCOMPARE((*table)->mediaPath(0).string(), base + "/data/clips/a.mp4");
            QCOMPARE((*table)->mediaPath(1).string(), base + "/b.mp4");
            QCOMPARE((*table)->mediaPath(2).string(), QDir::homePath().toStdString() + "/c.mp4");
            QCOMPARE((*table)->mediaPath(3).string(), std::string("/d.PNG"));
            QVERIFY((*table)->isImage(3) && !(*table)->isImage(0) && !(*table)->isImage(4));
            QCOMPARE(missingFiles(**table), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
        }
        QDir::setCurrent(QString::fromStdString(before));
    }

    void readsParquetNumbersOfEveryType()
    {
        arrow::Int64Builder integers;
        arrow::DoubleBuilder doubles;
        arrow::StringBuilder strings;
        arrow::StringDictionaryBuilder dictionary;
        arrow::Decimal128Builder decimals(arrow::decimal128(10, 2));
        const auto whole = parquetWith(m_folder, "int.parquet", arrayOf<arrow::Int64Builder, std::int64_t>(integers, {129, {}, 5}));
        const auto real = parquetWith(m_folder, "double.parquet", arrayOf<arrow::DoubleBuilder, double>(doubles, {129.0, {}, 5.0}));
        const auto text = parquetWith(m_folder, "string.parquet", arrayOf<arrow::StringBuilder, std::string>(strings, {"129", {}, "5.0"}));
        const auto packed = parquetWith(m_folder, "dictionary.parquet", arrayOf<arrow::StringDictionaryBuilder, std::string>(dictionary, {"129", {}, "5"}));
        const auto exact = parquetWith(m_folder, "decimal.parquet", arrayOf<arrow::Decimal128Builder, arrow::Decimal128>(decimals, {arrow::Decimal128(12900), {}, arrow::Decimal128(500)}));
        for (const std::string &file : {whole, real, text, packed, exact}) {
            const auto table = readTable(file);
            QVERIFY2(table, table ? "" : table.error().message().c_str());
            QCOMPARE((*table)->rowCount(), 3);
            QCOMPARE((*table)->number(NumberColumn::NumFrames, 0), 129.0);
            QVERIFY(std::isnan((*table)->number(NumberColumn::NumFrames, 1)));
            QCOMPARE((*table)->number(NumberColumn::NumFrames, 2), 5.0);
            QCOMPARE(std::string((*table)->caption(2)), std::string("NA"));
            QCOMPARE(std::string((*table)->path(2)), std::string("clips/2.mp4"));
            QVERIFY(!(*table)->isIntegerColumn(NumberColumn::Fps));
            QVERIFY((*table)->isIntegerColumn(NumberColumn::Height));
        }
    }

    void namesTheRowOfTextAmongParquetNumbers()
    {
        arrow::StringBuilder strings, captions;
        const auto file = parquetWith(m_folder, "words.parquet", arrayOf<arrow::StringBuilder, std::string>(strings, {"129", "many"}),
                                      arrayOf<arrow::StringBuilder, std::string>(captions, {"", {}}));
        const auto table = readTable(file);
        QVERIFY(table);
        QCOMPARE((*table)->unreadableRows(), std::vector<std::int64_t>{1});
        QVERIFY(hasProblem(**table, "data.empty-caption", "rows 0 and 1"));
    }

    void refusesTruncatedParquet()
    {
        arrow::Int64Builder integers;
        const auto file = parquetWith(m_folder, "whole.parquet", arrayOf<arrow::Int64Builder, std::int64_t>(integers, {1, 2, 3, 4, 5, 6}));
        QFile whole(QString::fromStdString(file));
        QVERIFY(whole.open(QIODevice::ReadOnly));
        const QByteArray content = whole.readAll();
        for (const qsizetype keep : {content.size() - 5, content.size() / 2}) {
            const auto table = readTable(written(m_folder, "cut.parquet", content.left(keep).toStdString()));
            QVERIFY(!table);
            QCOMPARE(table.error().problem.code, std::string("data.table-unreadable"));
        }
    }

    void noticesAChangedTable()
    {
        const std::string rows = "a.mp4,x,1,2,3,24\nb.mp4,y,1,2,3,25\n";
        const auto first = readTable(written(m_folder, "one.csv", kHeader + rows)), same = readTable(written(m_folder, "two.csv", kHeader + rows));
        QVERIFY(first && same);
        QCOMPARE((*first)->fingerprint(), (*same)->fingerprint());
        QCOMPARE((*first)->fingerprint().size(), std::size_t(32));
        for (const std::string &other : {std::string("a.mp4,x,1,2,3,24\nb.mp4,y,1,2,3,26\n"), std::string("a.mp4,xb,1,2,3,24\n.mp4,y,1,2,3,25\n"),
                                         std::string("b.mp4,y,1,2,3,25\na.mp4,x,1,2,3,24\n"), std::string("a.mp4,x,1,2,3,24\n")}) {
            const auto table = readTable(written(m_folder, "three.csv", kHeader + other));
            QVERIFY(table);
            QVERIFY((*table)->fingerprint() != (*first)->fingerprint());
        }
    }

    void keepsTextsInAFileBeyondTheLimit()
    {
        TextColumn small, spilled(1000);
        for (int i = 0; i < 500; ++i) {
            const std::string text = std::string(static_cast<std::size_t>(i % 7), 'x') + std::to_string(i);
            QVERIFY(small.append(text) && spilled.append(text));
        }
        QVERIFY(small.finish() && spilled.finish());
        QVERIFY(!small.isSpilled() && spilled.isSpilled());
        TextColumn moved(std::move(spilled));
        for (std::int64_t i = 0; i < 500; ++i)
            QCOMPARE(moved.at(i), small.at(i));
    }

    // Two million rows: a second or two on two threads, and memory that does not grow with the captions.
    void readsMillionsOfRows()
    {
        const std::int64_t rows = qEnvironmentVariableIntValue("STAGEWRIGHT_TABLE_ROWS") ? qEnvironmentVariableIntValue("STAGEWRIGHT_TABLE_ROWS") : 100'000;
        const std::string file = m_folder.filePath(QStringLiteral("many.csv")).toStdString();
        {
            QFile out(QString::fromStdString(file));
            QVERIFY(out.open(QIODevice::WriteOnly));
            QByteArray block(kHeader.c_str());
            std::mt19937 random(1);
            for (std::int64_t i = 0; i < rows; ++i) {
                const int height = 240 + static_cast<int>(random() % 800), width = 320 + static_cast<int>(random() % 1600);
                block += "clips/" + QByteArray::number(static_cast<qlonglong>(i)) + ".mp4,\"a caption, with a comma, about clip " + QByteArray::number(static_cast<qlonglong>(i))
                    + " and its long scene\"," + QByteArray::number(1 + static_cast<int>(random() % 200)) + ',' + QByteArray::number(height) + ',' + QByteArray::number(width) + ",23.976\n";
                if (block.size() > (1 << 20)) {
                    out.write(block);
                    block.clear();
                }
            }
            out.write(block);
        }
        const double begin = steadySeconds();
        const auto table = readTable(file);
        const double read = steadySeconds();
        QVERIFY2(table, table ? "" : table.error().message().c_str());
        QCOMPARE((*table)->rowCount(), rows);
        const auto rules = bucketRules({{"256px", 1, 0.5, {}, 4}, {"256px", 33, 0.5, {}, 2}, {"256px", 129, 0.7, {}, 1}, {"768px", 33, 0.3, {}, 1}}, 16, 42, 24);
        QVERIFY(rules);
        const BucketPlan one = assignBuckets(**table, *rules, 0, 1);
        const double assigned = steadySeconds();
        const BucketPlan two = assignBuckets(**table, *rules, 0, 2);
        const double again = steadySeconds();
        QVERIFY(one.bucketOfRow == two.bucketOfRow);
        const BatchOrder order(two, 0, 8, 3);
        QVERIFY(order.size() > 0);
        const double ordered = steadySeconds();
        qInfo("%lld rows: read %.2f s, assign %.2f s (one thread), %.2f s (two), order %.2f s, resident %.0f MB", static_cast<long long>(rows), read - begin,
              assigned - read, again - assigned, ordered - again, static_cast<double>(residentBytes()) / 1e6);
    }
};

QTEST_GUILESS_MAIN(ReadTest)
#include "read_test.moc"
