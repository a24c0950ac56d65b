#include <QTest>

#include <limits>

#include <nlohmann/json.hpp>

#include "core/config/stage.h"
#include "core/config/document.h"
#include "tests/support/growth.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::tests;

class ConfigValueTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void keepsTypesApart()
    {
        QVERIFY(!(Value(1) == Value(1.0)));
        QVERIFY(!(Value(1) == Value(true)));
        QVERIFY(!(Value::list({Value(1)}) == Value::tuple({Value(1)})));
        QVERIFY(Value(std::int64_t(1)) == Value(1));
        QVERIFY(!(DictKey("1") == DictKey(std::int64_t(1))));
    }

    void copiesAreDeep()
    {
        Value original = Value::list({Value::list({Value(1)})});
        Value copy = original;
        copy.items()[0].items()[0] = Value(2);
        QCOMPARE(original.items()[0].items()[0].integer(), std::int64_t(1));
        Dict dict;
        for (int i = 0; i < 100; ++i)
            dict.set(DictKey(std::int64_t(i)), Value(i));
        Dict second = dict;
        second.set("more", Value(1));
        second.remove(DictKey(std::int64_t(50)));
        QVERIFY(dict.find(DictKey(std::int64_t(50))) && !dict.find("more"));
        QVERIFY(!second.find(DictKey(std::int64_t(50))) && second.find("more"));
        QCOMPARE(second.find(DictKey(std::int64_t(99)))->integer(), std::int64_t(99));
    }

    void keepsTheOrderOfEntries()
    {
        Dict dict;
        dict.set("b", Value(1));
        dict.set("a", Value(2));
        dict.set("b", Value(3));
        QCOMPARE(toPython(Value::dict(dict)), std::string("{'b': 3, 'a': 2}"));
        dict.remove("b");
        dict.set("b", Value(4));
        QCOMPARE(toPython(Value::dict(dict)), std::string("{'a': 2, 'b': 4}"));
    }

    void findsEntriesOfLargeTablesInLinearTime()
    {
        const auto fillAndFind = [](int rows) {
            Dict frames;
            for (int i = 0; i < rows; ++i)
                frames.set(DictKey(std::int64_t(i)), Value::tuple({Value(1.0), Value(i)}));
            Dict table;
            table.set("256px", Value::dict(std::move(frames)));
            Dict root;
            root.set("bucket_config", Value::dict(std::move(table)));
            std::int64_t found = 0;
            for (int i = 0; i < rows; ++i)
                found += lookUp(root, "bucket_config.256px." + std::to_string(i))->items()[1].integer() == i;
            return found;
        };
        QCOMPARE(fillAndFind(10000), std::int64_t(10000));
        const double grows = growth(1000, 8000, fillAndFind);
        QVERIFY2(grows < 24, std::to_string(grows).c_str());           // 8 where it is linear, 64 where it is quadratic
    }

    void looksUpPaths_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("expected");
        QTest::newRow("top") << "lr" << "1e-05";
        QTest::newRow("nested") << "model.depth" << "19";
        QTest::newRow("integer key") << "bucket_config.256px.129" << "(1.0, 3)";
        QTest::newRow("digits as text") << "x.7" << "'seven'";
        QTest::newRow("missing") << "model.dpth" << "";
        QTest::newRow("through a scalar") << "lr.x" << "";
        QTest::newRow("empty part") << "model." << "";
        QTest::newRow("empty") << "" << "";
    }
    void looksUpPaths()
    {
        QFETCH(QString, path);
        QFETCH(QString, expected);
        const auto loaded = loadDocumentText("lr = 1e-5\nmodel = dict(depth=19)\nbucket_config = {'256px': {129: (1.0, 3)}}\nx = {'7': 'seven'}\n", {});
        QVERIFY(loaded.ok());
        const Value *value = lookUp(loaded->values, path.toStdString());
        QCOMPARE(value ? QString::fromStdString(toPython(*value)) : QString(), expected);
    }

    void spellsAsPython_data()
    {
        QTest::addColumn<QString>("expression");
        QTest::addColumn<QString>("expected");
        for (const char *same : {"None", "True", "-7", "(8, 100)", "(1,)", "()", "[]", "{}", "5e-05", "0.0001", "1e+16", "123456789012345.0", "1e-07", "0.1", "1e+22", "-0.0",
                 "float('inf')", "float('-inf')", "'a'", "'\\n\\t\\\\'", "\"it's\"", "{1: 'x', 'k': [1.5]}", "-9223372036854775808", "9007199254740993", "2.5e-323"})
            QTest::newRow(same) << QString::fromUtf8(same) << QString::fromUtf8(same);
        QTest::newRow("1e-5") << "1e-5" << "1e-05";
        QTest::newRow("1e15") << "1e15" << "1000000000000000.0";
        QTest::newRow("1e16") << "1e16" << "1e+16";
        QTest::newRow("both quotes") << "\"a'b\\\"c\"" << "'a\\'b\"c'";
        QTest::newRow("unicode") << QString::fromUtf8("'\\u5b66'") << QString::fromUtf8("'\xe5\xad\xa6'");
    }
    void spellsAsPython()
    {
        QFETCH(QString, expression);
        QFETCH(QString, expected);
        const auto value = parseLiteral(expression.toStdString());
        QVERIFY2(value.ok(), value.ok() ? "" : value.error().message().c_str());
        QCOMPARE(QString::fromStdString(toPython(*value)), expected);
        const auto again = parseLiteral(toPython(*value));
        QVERIFY(again.ok() && *again == *value);
    }

    void jsonIsTheOriginalsConfigTxt()
    {
        const auto value = parseLiteral("{'256px': {1: (1.0, 50)}, 'n': None, 's': 'x', 'b': True}");
        QCOMPARE(toJson(*value).dump(), std::string("{\"256px\":{\"1\":[1.0,50]},\"b\":true,\"n\":null,\"s\":\"x\"}"));
    }
};

QTEST_GUILESS_MAIN(ConfigValueTest)
#include "config_value_test.moc"
