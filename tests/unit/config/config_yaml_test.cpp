#include <QTest>

#include "core/config/document.h"
#include "core/config/stage.h"

using namespace stagewright;
using namespace stagewright::config;

namespace {

Result<LoadedConfig> load(const std::string &text)
{
    return loadDocumentText(text, "stage.yaml");
}

} // namespace

class ConfigYamlTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readsScalarsByYaml12_data()
    {
        QTest::addColumn<QString>("scalar");
        QTest::addColumn<QString>("python");
        const auto row = [](const char *scalar, const char *python) { QTest::newRow(scalar) << QString::fromUtf8(scalar) << QString::fromUtf8(python); };
        row("1e-5", "1e-05");
        row("1.0e-05", "1e-05");
        row("5e3", "5000.0");
        row(".5", "0.5");
        row("-3", "-3");
        row("+3", "3");
        row("0x1F", "31");
        row("0o17", "15");
        row("0012", "12");
        row("true", "True");
        row("False", "False");
        row("yes", "'yes'");
        row("off", "'off'");
        row("n", "'n'");
        row("null", "None");
        row("~", "None");
        row("", "None");
        row("None", "'None'");
        row(".inf", "float('inf')");
        row("-.inf", "float('-inf')");
        row("25_000", "'25_000'");
        row("1:30", "'1:30'");
        row("2024-01-01", "'2024-01-01'");
        row("1.2.3", "'1.2.3'");
        row("-", "nothing");
        row("e5", "'e5'");
        row("'1'", "'1'");
        row("\"tr\\u00fce\"", "'tr\xc3\xbc" "e'");
        row("!!str 12", "'12'");
        row("!!float 3", "3.0");
        row("!!int 3", "3");
        row("!tuple [8, 100]", "(8, 100)");
        row("!tuple []", "()");
        row("!!python/tuple [1]", "(1,)");
        row("[1, [2.5, a]]", "[1, [2.5, 'a']]");
        row("{1: a, \"1\": b, 256px: c}", "{1: 'a', '1': 'b', '256px': 'c'}");
        row("-9223372036854775808", "-9223372036854775808");
        row("|\n    a\n    b", "'a\\nb\\n'");
        row(">-\n    a\n    b", "'a b'");
    }
    void readsScalarsByYaml12()
    {
        QFETCH(QString, scalar);
        QFETCH(QString, python);
        const auto loaded = load("x: " + scalar.toStdString() + "\n");
        const Value *value = loaded.ok() ? lookUp(loaded->values, "x") : nullptr;
        const std::string shown = value && !(value->isSequence() && value->items().size() == 1 && python == QStringLiteral("nothing")) ? toPython(*value) : "nothing";
        QCOMPARE(QString::fromStdString(shown), python);
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("line");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *name, const char *text, int line, const char *says) { QTest::newRow(name) << QString::fromUtf8(text) << line << QString::fromUtf8(says); };
        row("commaAtTheBeginning", ",a: 4\n", 1, "comma");
        row("tag", "a: 1\nx: !thing 3\n", 2, "!thing");
        row("object tag", "x: !!python/object/apply:os.system ['true']\n", 1, "!!python/object");
        row("broken", "a: 1\nx: [1, 2\n", 3, "YAML");
        row("tab", "a:\n\tb: 1\n", 2, "YAML");
        row("two documents", "a: 1\n---\nb: 2\n", 3, "second YAML document");
        row("list at the top", "- a\n- b\n", 1, "mapping");
        row("number at the top", "3\n", 1, "mapping");
        row("boolean key", "x:\n  true: 1\n", 2, "key");
        row("float key", "x: {1.5: 1}\n", 1, "key");
        row("list key", "x: {[1]: 1}\n", 1, "key");
        row("integer at the top", "1: a\n", 1, "name");
        row("large number", "x: 9223372036854775808\n", 1, "too large");
        row("unknown anchor", "x: *nobody\n", 1, "anchor");
        row("alias of itself", "x: &a [1, *a]\n", 1, "inside");
        row("base inside a text", "_base_: []\nx: a/{{_base_.lr}}\n", 1, "whole value");
        row("base missing", "x: {{_base_.lr}}\n", 1, "no base sets");
    }
    void refuses()
    {
        QFETCH(QString, text);
        QFETCH(int, line);
        QFETCH(QString, says);
        const auto loaded = load(text.toStdString());
        QVERIFY(!loaded.ok());
        const std::string message = loaded.error().message();
        QVERIFY2(message.starts_with("stage.yaml:" + std::to_string(line) + ": "), message.c_str());
        QVERIFY2(message.find(says.toStdString()) != std::string::npos, message.c_str());
    }

    void boundsBillionLaughs()
    {
        std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
        for (int i = 1; i < 12; ++i) {
            text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
            for (int k = 0; k < 10; ++k)
                text += (k ? ", *a" : "*a") + std::to_string(i - 1);
            text += "]\n";
        }
        const auto loaded = load(text);
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().problem.code, std::string("config.too-large"));
        QVERIFY(!load("x: " + std::string(5000, '[')).ok());
        QVERIFY(!load("x: " + std::string(5000, '{')).ok());
    }

    void readsAnchorsAndMergeKeys()
    {
        const auto loaded = load("base: &b {lr: 1e-5, eps: 1}\noptim:\n  <<: *b\n  lr: 2\nsame: *b\n");
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        QCOMPARE(toPython(*lookUp(loaded->values, "optim")), std::string("{'lr': 2, 'eps': 1}"));
        QCOMPARE(toPython(*lookUp(loaded->values, "same")), std::string("{'lr': 1e-05, 'eps': 1}"));
    }

    void reportsDuplicateKeys()
    {
        const auto loaded = load("optim:\n  lr: 1\n  lr: 2\n");
        QVERIFY(loaded.ok());
        QCOMPARE(loaded->problems.size(), std::size_t(1));
        QCOMPARE(loaded->problems[0].code, std::string("config.duplicate-key"));
        QCOMPARE(loaded->problems[0].line, 3);
        QCOMPARE(lookUp(loaded->values, "optim.lr")->integer(), std::int64_t(2));
    }

    void knowsPlacesWithUnicodeAndCrlf()
    {
        const auto loaded = load("\xef\xbb\xbf# \xe5\xad\xa6\r\nlr: 1e-5\r\nmodel:\r\n  depth: 19  # x\r\n  t: !tuple [1, 2]\r\n");
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        const Value *depth = lookUp(loaded->values, "model.depth");
        QCOMPARE(depth->origin.line, 4);
        QCOMPARE(depth->origin.column, 10);
        QCOMPARE(lookUp(loaded->values, "lr")->spelling, std::string("1e-5"));
        QCOMPARE(lookUp(loaded->values, "model.t")->origin.line, 5);
    }

    void emptyTextIsAnEmptyConfig()
    {
        for (const char *text : {"", "# only a comment\n", "---\n", "{}\n"}) {
            const auto loaded = load(text);
            QVERIFY2(loaded.ok(), text);
            QVERIFY(loaded->values.empty());
        }
    }

    void writesWhatItReads_data()
    {
        QTest::addColumn<QString>("python");
        for (const char *value : {"{'a': 1}", "{'lr': 1e-05, 'x': 1e+22, 'y': 0.5, 'z': float('inf'), 'n': float('-inf')}", "{'t': (1, (2.0, 'x')), 'e': (), 'l': [[], {}], 'd': {}}",
                 "{'b': {'256px': {1: (1.0, 50), 129: ([0.5, 0.5], 3)}, '1': {'129': None}}}",
                 "{'s': ['yes', 'No', 'null', '~', '1', '1e-5', '0x10', '1_000', '1:30', '', ' a ', '- x', '#c', 'a: b', 'a #b', '[', '*a', '&a', '!t', '%', '@', '`', '\"', \"'\", '\\n', '\\x00\\x1b\\x85', '\\u2028', '\\ufeff', '\\u5b66', '.', '..', '.inf', '-1', '+', '=', '<<', '2024-01-01', '?', '|', '>', '{', 'true', 'on']}",
                 "{'k': {'yes': 1, '': 2, 'a b': 3, '<<': 4, '12': 5, 12: 6, 'x:y': 7, '-': 8, '\\n': 9, 'null': 10, '1.5': 11, -3: 12}}", "{'i': [9223372036854775807, -9223372036854775808, True, None]}"})
            QTest::newRow(value) << QString::fromUtf8(value);
    }
    void writesWhatItReads()
    {
        QFETCH(QString, python);
        const auto value = parseLiteral(python.toStdString());
        QVERIFY2(value.ok(), value.ok() ? "" : value.error().message().c_str());
        const std::string text = toYaml(value->dict());
        const auto again = load(text);
        QVERIFY2(again.ok(), again.ok() ? "" : (again.error().message() + "\n" + text).c_str());
        QCOMPARE(QString::fromStdString(toPython(Value::dict(again->values))), QString::fromStdString(toPython(*value)));
    }

    void writesOneEntryALine()
    {
        const auto value = parseLiteral("{'lr': 1e-5, 'model': {'depth': 19, 'g': (8, 100)}, 'b': {'256px': {1: (1.0, 45)}}, 'l': [1, 2]}");
        QCOMPARE(toYaml(value->dict()), std::string("lr: 1.0e-05\nmodel:\n  depth: 19\n  g: !tuple [8, 100]\nb:\n  \"256px\":\n    1: !tuple [1.0, 45]\nl: [1, 2]\n"));
    }
};

QTEST_GUILESS_MAIN(ConfigYamlTest)
#include "config_yaml_test.moc"
