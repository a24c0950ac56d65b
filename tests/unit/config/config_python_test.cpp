#include <QTemporaryDir>
#include <QTest>

#include "core/base/files.h"
#include "core/config/document.h"

using namespace stagewright;
using namespace stagewright::config;

namespace {

const Value *valueAt(const Result<LoadedConfig> &loaded, const std::string &path)
{
    return loaded.ok() ? lookUp(loaded->values, path) : nullptr;
}

} // namespace

class ConfigPythonTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void evaluates_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("x");
        const auto row = [](const char *text, const char *x) { QTest::newRow(text) << QString::fromUtf8(text) << QString::fromUtf8(x); };
        // numbers
        row("x = 25 * 1024**3", "26843545600");
        row("x = 10_000", "10000");
        row("x = 0x1F + 0o17 + 0b11", "49");
        row("x = 1e-5", "1e-05");
        row("x = 1_0.5e-1_0", "1.05e-09");
        row("x = .5", "0.5");
        row("x = 5.", "5.0");
        row("x = 1e400", "float('inf')");
        row("x = -2**5", "-32");
        row("x = 2**-1", "0.5");
        row("x = 2**3**2", "512");
        row("x = -7 // 2", "-4");
        row("x = -7 % 3", "2");
        row("x = 7 % -3", "-2");
        row("x = -7.5 // 2", "-4.0");
        row("x = -7.5 % 2", "0.5");
        row("x = 1 / 4", "0.25");
        row("x = 1 - 2 - 3", "-4");
        row("x = 2 * 3 + 4 * 5", "26");
        row("x = (260 + 20) * 1024 * 1024", "293601280");
        row("x = 1 << 20 | 5 & 6 ^ 1", "1048581");
        row("x = ~5", "-6");
        row("x = True + True", "2");
        row("x = True & False", "False");
        row("x = +True", "1");
        row("x = 0.1 + 0.2", "0.30000000000000004");
        // comparisons and logic
        row("x = 1 < 2 < 3", "True");
        row("x = 1 == 1.0 == True", "True");
        row("x = 'a' in 'abc' and 2 not in [1]", "True");
        row("x = None is None", "True");
        row("x = not 0 or 5", "True");
        row("x = 0 or 'z'", "'z'");
        row("x = 'yes' if 3 > 2 else 'no'", "'yes'");
        row("x = (1, 2) < (1, 3)", "True");
        row("x = 9007199254740993 > 9007199254740992.0", "True");
        // texts
        row("x = 'a' \"b\" '''c'''", "'abc'");
        row("x = r'\\n' + u'\\x41\\u00e9\\101\\\n!'", "'\\\\nA\xc3\xa9" "A!'");
        row("x = \"\"\"two\nlines\"\"\"", "'two\\nlines'");
        row("x = 'ab' * 2 + 'c'", "'ababc'");
        row("x = '\\q'", "'\\\\q'");
        row("lr = 1e-5\nx = f'lr-{lr}'", "'lr-1e-05'");
        row("n = 7\nx = f'{n:03d}|{n!r}|{n:>4}|{n=}|{{}}'", "'007|7|   7|n=7|{}'");
        row("x = f'{3.14159:.2f} {0.5:.0%} {1234567:,} {255:#x} {1e-5:.1e}'", "'3.14 50% 1,234,567 0xff 1.0e-05'");
        row("x = f'{\"a\" + \"b\":<4}|' 'c'", "'ab  |c'");
        row("d = dict(a=[1, 2])\nx = f\"{d['a'][1]}\"", "'2'");
        row("x = '%s-%03d %.1f%%' % ('run', 5, 0.25)", "'run-005 0.2%'");
        row("x = 'abc'[1:] + 'abc'[-1]", "'bcc'");
        row("x = '\xe5\xad\xa6\xe4\xb9\xa0'[1]", "'\xe4\xb9\xa0'");
        // containers
        row("x = [1, 2,]", "[1, 2]");
        row("x = 1,", "(1,)");
        row("x = ()", "()");
        row("x = (1)", "1");
        row("x = [*range(3), *(4, 5)]", "[0, 1, 2, 4, 5]");
        row("x = {'a': 1, **dict(b=2), 'a': 3}", "{'a': 3, 'b': 2}");
        row("x = dict([('a', 1), (2, 3)], c=4)", "{'a': 1, 2: 3, 'c': 4}");
        row("x = dict(zip(['a', 'b'], [1, 2]))", "{'a': 1, 'b': 2}");
        row("x = {'a': 1} | {'b': 2}", "{'a': 1, 'b': 2}");
        row("x = [(1 + 1) * 2] * 2 + [\n    (3)\n] * 1", "[4, 4, 3]");
        row("x = (1, 2)[::-1]", "(2, 1)");
        row("x = [0, 1, 2, 3][1:-1]", "[1, 2]");
        row("x = [[1, 2], [3]][0][-1]", "2");
        row("d = {'a': {1: 'z'}}\nx = d['a'][1]", "'z'");
        // built-ins
        row("x = (len('abc'), round(2.5), round(3.14159, 2), round(-1234, -2), min(3, 1), max([1, 5]), abs(-2))", "(3, 2, 3.14, -1200, 1, 5, 2)");
        row("x = (int('12'), int(3.9), float('1e-3'), float(2), str(1.0), bool([]), sum([1, 2.5]), sorted([3, 1], reverse=True))", "(12, 3, 0.001, 2.0, '1.0', False, 3.5, [3, 1])");
        row("x = list(range(1, 10, 4)) + list(reversed([1, 2]))", "[1, 5, 9, 2, 1]");
        row("x = {f: (1.0, 2) for f in range(1, 10, 4)}", "{1: (1.0, 2), 5: (1.0, 2), 9: (1.0, 2)}");
        row("x = [i * j for i in (1, 2) for j in [3, 4] if i != j - 2]", "[4, 6]");
        row("x = sum(i for i in range(4))", "6");
        row("x = round(0.5) + round(1.5)", "2");
        row("x = round(2.675, 2)", "2.67");
        // statements
        row("a = x = 3", "3");
        row("a, (b, *c) = 1, (2, 3, 4)\nx = [a, b, c]", "[1, 2, [3, 4]]");
        row("a, b = 1, 2\na, b = b, a\nx = (a, b)", "(2, 1)");
        row("x = 1\nx += 2\nx *= 5", "15");
        row("x = [1]\nx += (2,)", "[1, 2]");
        row("x = dict(a=1)\nx['b'] = 2\nx['a'] += 5\ndel x['b']", "{'a': 6}");
        row("x = dict(a=dict(b=1))\nx['a']['c'] = 3", "{'a': {'b': 1, 'c': 3}}");
        row("x = [1, 2]\nx[0] = 9", "[9, 2]");
        row("y = 1\ndel y\nx = 2", "2");
        row("x: int = 3", "3");
        row("'doc string'\npass\nx = 1; y = 2", "1");
        row("x = \\\n  4", "4");
        row("x = (1 +  # why\n     2)\t# end", "3");
        row("x = {\n  'a': 1,\n\n  # note\n  2: None,\n}", "{'a': 1, 2: None}");
        row("\xe5\xad\xa6 = 2\nx = \xe5\xad\xa6 + 1", "3");
        row("x = '{{ fileBasenameNoExtension }}{{fileExtname}}'", "'text.py'");
        row("x = {{$STAGEWRIGHT_NO_SUCH_VARIABLE:1e-4}}", "0.0001");
        row("x = \"{{ $STAGEWRIGHT_SET_VARIABLE : fallback }}\"", "'from outside'");
    }
    void evaluates()
    {
        QFETCH(QString, text);
        QFETCH(QString, x);
        qputenv("STAGEWRIGHT_SET_VARIABLE", "from outside");
        for (const QString &variant : {text, QString(text).replace(QStringLiteral("\n"), QStringLiteral("\r\n")), text + QStringLiteral("\n")}) {
            const auto loaded = loadDocumentText(variant.toStdString(), {});
            QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
            const Value *value = valueAt(loaded, "x");
            QVERIFY(value);
            QCOMPARE(QString::fromStdString(toPython(*value)), x);
        }
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("line");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QString>("says");
        const auto row = [](const char *text, int line, const char *code, const char *says) {
            QTest::newRow(text) << QString::fromUtf8(text) << line << QString::fromUtf8(code) << QString::fromUtf8(says);
        };
        const char *python = "config.needs-python", *syntax = "config.syntax", *expression = "config.expression", *large = "config.too-large";
        row("a = 1\nimport math\n", 2, python, "`import math`");
        row("from os import path\n", 1, python, "an import");
        row("def f(n):\n    return n\n", 1, python, "a function");
        row("class A:\n    x = 1\n", 1, python, "a class");
        row("for i in range(3):\n    a = i\n", 1, python, "a loop");
        row("while True:\n    pass\n", 1, python, "a loop");
        row("if True:\n    a = 1\n", 1, python, "an if block");
        row("with open('x') as f:\n    pass\n", 1, python, "real Python");
        row("try:\n    a = 1\nexcept E:\n    pass\n", 1, python, "real Python");
        row("f = lambda x: x\n", 1, python, "lambda");
        row("x = open('/etc/passwd').read()\n", 1, python, "real Python");
        row("x = __import__('os').system('true')\n", 1, python, "the call");
        row("x = eval('1')\n", 1, python, "the call");
        row("print('hello')\n", 1, python, "the call");
        row("x = 'a'.upper()\n", 1, python, "real Python");
        row("x = (y := 3)\n", 1, syntax, "needs real Python");
        row("x = b'bytes'\n", 1, python, "bytes");
        row("x = {1, 2}\n", 1, python, "a set");
        row("x = 1j\n", 1, python, "complex");
        row("x = ...\n", 1, python, "'...'");
        row("x = sorted([1], key=len)\n", 1, expression, "`len` is a function");
        row("x = sorted([1], key='k')\n", 1, python, "sorted(key");
        row("x = range(3)\n", 1, expression, "list(");
        row("x = unknown\n", 1, expression, "`unknown` is not defined");
        row("x = true\n", 1, expression, "True");
        row("a = [1]\nb = a\nb[0] = 2\n", 3, python, "used elsewhere");
        row("d = dict(a=1)\nx = d.a\n", 2, expression, "d[\"a\"]");
        row("x = 1 / 0\n", 1, expression, "division by zero");
        row("x = [1][5]\n", 1, expression, "outside");
        row("x = {'a': 1}['b']\n", 1, expression, "no key 'b'");
        row("x = 'a' + 1\n", 1, expression, "does not work");
        row("x = {None: 1}\n", 1, expression, "key");
        row("x = dict(a=1, a=2)\n", 1, syntax, "twice");
        row("x = 9**9**9\n", 1, large, "too large");
        row("x = 9223372036854775808\n", 1, large, "too large");
        row("x = 10**400\n", 1, large, "too large");
        row("x = [0] * 10**9\n", 1, large, "100000");
        row("x = 'a' * 10**9\n", 1, large, "too long");
        row("a = [0] * 1000\nb = [a] * 1000\n", 2, large, "400000");
        row("a = 'x' * 1000000\nb = [a] * 10000\n", 2, large, "32 MiB");
        row("x = list(range(10**8))\n", 1, large, "range()");
        row("x = 1 <<  100\n", 1, large, "too large");
        row("x = (1, 2\ny = 3\n", 1, syntax, "never closed");
        row("x = [1, 2)\n", 1, syntax, "does not match");
        row("x = 1)\n", 1, syntax, "closes nothing");
        row("x = 'abc\n", 1, syntax, "closing quote");
        row("x = '''abc\n", 1, syntax, "closing quote");
        row("x = = 3\n", 1, syntax, "expected a value");
        row("x = 3 4\n", 1, syntax, "expected the end");
        row("  x = 3\n", 1, syntax, "indented");
        row("x = 3\n\ty = 4\n", 2, syntax, "indented");
        row("3 = x\n", 1, syntax, "assigned");
        row("x = 012\n", 1, syntax, "0o12");
        row("x = 1__0\n", 1, syntax, "underscore");
        row("x = 3abc\n", 1, syntax, "no number");
        row("x = $HOME\n", 1, syntax, "'$'");
        row("x\xc2\xa0= 3\n", 1, syntax, "U+00A0");
        row("x = \xe2\x80\x9cquoted\xe2\x80\x9d\n", 1, syntax, "U+201C");
        row("x = dict(a=1\xef\xbc\x8c b=2)\n", 1, syntax, "U+FF0C");
        row("x = f'{'\n", 1, syntax, "never closed");
        row("x = '\\ud800'\n", 1, syntax, "no character");
        row("x = \"{{_base_.lr}}\"\n", 1, syntax, "quotes");
        row("x = {{_base_.lr}}\n", 1, expression, "no base sets");
        row("x = {{$STAGEWRIGHT_NO_SUCH_VARIABLE:}}\n", 1, "config.environment", "STAGEWRIGHT_NO_SUCH_VARIABLE");
        row("_base_ = 3\n", 1, syntax, "path of a file");
        row("_base_ = ('a.py',)\n", 1, syntax, "path of a file");
        row("_base_ = 'nowhere.py'\n", 1, "config.base-missing", "does not exist");
        row("_base_ = 'package::x.py'\n", 1, python, "package");
        row("filename = 'x'\n", 1, "config.reserved-name", "filename");
    }
    void refuses()
    {
        QFETCH(QString, text);
        QFETCH(int, line);
        QFETCH(QString, code);
        QFETCH(QString, says);
        const auto loaded = loadDocumentText(text.toStdString(), "folder/stage.py");
        QVERIFY2(!loaded.ok(), "must be refused");
        const Error &error = loaded.error();
        const std::string message = error.message();
        QVERIFY2(message.starts_with("folder/stage.py:" + std::to_string(line) + ": "), message.c_str());
        QVERIFY2(message.find(says.toStdString()) != std::string::npos, message.c_str());
        QCOMPARE(QString::fromStdString(error.problem.code), code);
        QCOMPARE(error.problem.line, line);
        QCOMPARE(error.exit, ExitCode::Usage);
        QVERIFY2(message.find('\n') == std::string::npos, message.c_str());
    }

    void refusesWhatIsNoText_data()
    {
        QTest::addColumn<QByteArray>("bytes");
        QTest::addColumn<QString>("says");
        QTest::newRow("UTF-16 with mark") << QByteArray("\xff\xfex\0=\0", 6) << "UTF-16";
        QTest::newRow("UTF-16 without mark") << QByteArray("x\0 \0=\0 \0" "1\0\n\0y\0=\0" "1\0\n\0", 20) << "UTF-16";
        QTest::newRow("NUL byte") << QByteArray("x = 1\ny = \0 2\n", 14) << "NUL";
        QTest::newRow("Latin-1") << QByteArray("x = 1\n# caf\xe9\n") << "UTF-8";
        QTest::newRow("too large") << QByteArray(9 << 20, '#') << "MiB";
    }
    void refusesWhatIsNoText()
    {
        QFETCH(QByteArray, bytes);
        QFETCH(QString, says);
        for (const char *name : {"stage.py", "stage.yaml"}) {
            const auto loaded = loadDocumentText(bytes.toStdString(), name);
            QVERIFY(!loaded.ok());
            QVERIFY2(loaded.error().message().find(says.toStdString()) != std::string::npos, loaded.error().message().c_str());
            QVERIFY(loaded.error().message().starts_with(name));
        }
    }

    void acceptsAByteOrderMarkWithAHint()
    {
        const auto loaded = loadDocumentText("\xef\xbb\xbfx = 1\n", {});
        QVERIFY(loaded.ok());
        QCOMPARE(loaded->problems.size(), std::size_t(1));
        QCOMPARE(loaded->problems[0].code, std::string("config.byte-order-mark"));
        QCOMPARE(lookUp(loaded->values, "x")->origin.column, 5);
    }

    void boundsNesting()
    {
        for (const char *pair : {"()", "[]"}) {
            const std::string fine = "x = " + std::string(80, pair[0]) + "1" + std::string(80, pair[1]);
            QVERIFY(loadDocumentText(fine, {}).ok());
            const std::string deep = "x = " + std::string(100000, pair[0]);
            QVERIFY(!loadDocumentText(deep, {}).ok());
        }
        QVERIFY(!loadDocumentText("x = " + std::string(100000, '-') + "1", {}).ok());
        std::string chain = "x = 1", conditional = "x = ";
        for (int i = 0; i < 20000; ++i) {
            chain += " + 1";
            conditional += "1 if 0 else ";
        }
        const auto sum = loadDocumentText(chain, {});
        QVERIFY(sum.ok());
        QCOMPARE(lookUp(sum->values, "x")->integer(), std::int64_t(20001));
        QVERIFY(!loadDocumentText(conditional + "2", {}).ok());
    }

    void keepsSpellingAndPlace()
    {
        const auto loaded = loadDocumentText("lr = 1e-5\nmodel = dict(\n    size=25 * 1024**3,\n    lr=lr, s=\"x\",\n    t=(8, 100), pin=[(34 + 20) * 1024] * 4 + [\n        1\n    ],\n)\n", "s.py");
        QVERIFY(loaded.ok());
        const Value *size = valueAt(loaded, "model.size");
        QCOMPARE(size->spelling, std::string("25 * 1024**3"));
        QCOMPARE(size->origin.line, 3);
        QCOMPARE(size->origin.column, 10);
        QCOMPARE(*size->origin.file, std::string("s.py"));
        QCOMPARE(valueAt(loaded, "lr")->spelling, std::string("1e-5"));
        QCOMPARE(valueAt(loaded, "model.lr")->spelling, std::string("lr"));
        QCOMPARE(valueAt(loaded, "model.s")->spelling, std::string());
        QCOMPARE(valueAt(loaded, "model.t")->spelling, std::string());
        QCOMPARE(valueAt(loaded, "model.pin")->spelling, std::string("[(34 + 20) * 1024] * 4 + [1]"));
        QCOMPARE(loaded->helperNames, std::set<std::string>{"lr"});
    }

    void warnsOfKeysWrittenTwice()
    {
        const auto loaded = loadDocumentText("bucket_config = {'256px': {33: (1.0, 2),\n 33: (1.0, 3)}}\n", "s.py");
        QVERIFY(loaded.ok());
        QCOMPARE(loaded->problems.size(), std::size_t(1));
        QCOMPARE(loaded->problems[0].code, std::string("config.duplicate-key"));
        QCOMPARE(loaded->problems[0].path, std::string("bucket_config.256px.33"));
        QCOMPARE(loaded->problems[0].line, 2);
        QCOMPARE(toPython(*valueAt(loaded, "bucket_config")), std::string("{'256px': {33: (1.0, 3)}}"));
    }

    void namesWithTwoUnderscoresAreDropped()
    {
        const auto loaded = loadDocumentText("__secret = 1\n_own = 2\n", {});
        QCOMPARE(loaded->values.size(), std::size_t(1));
        QVERIFY(valueAt(loaded, "_own"));
    }

    void parsesLiteralsThatPeopleType_data()
    {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QString>("value");
        QTest::newRow("tuple") << "(4, 20)" << "(4, 20)";
        QTest::newRow("bare tuple") << " 4,20 " << "(4, 20)";
        QTest::newRow("list") << "[1,2]" << "[1, 2]";
        QTest::newRow("dict") << "{'256px':{1:(1.0,2)}}" << "{'256px': {1: (1.0, 2)}}";
        QTest::newRow("size") << "25*1024**3" << "26843545600";
        QTest::newRow("float") << "1e3" << "1000.0";
        QTest::newRow("word") << "fast" << "";
        QTest::newRow("open bracket") << "[1, 2" << "";
        QTest::newRow("set") << "{1, 2}" << "";
        QTest::newRow("nothing") << "  " << "";
        QTest::newRow("statement") << "a = 1" << "";
        QTest::newRow("two lines") << "1\n2" << "";
        QTest::newRow("base") << "_base_" << "";
    }
    void parsesLiteralsThatPeopleType()
    {
        QFETCH(QString, typed);
        QFETCH(QString, value);
        const auto parsed = parseLiteral(typed.toStdString());
        QCOMPARE(parsed.ok() ? QString::fromStdString(toPython(*parsed)) : QString(), value);
    }
};

QTEST_GUILESS_MAIN(ConfigPythonTest)
#include "config_python_test.moc"
