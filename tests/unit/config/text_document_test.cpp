// Edits of a config's text: one value, one line; everything else byte for byte as it was.
#include <QTest>

#include <filesystem>

#include "core/base/files.h"
#include "core/base/text.h"
#include "core/config/document.h"
#include "core/config/text_document.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::config;

namespace {

const char *kPython =
    "# Dataset settings\n"
    "_base_ = [\"image.py\"]\n"
    "\n"
    "dataset = dict(\n"
    "    type=\"video_text\",\n"
    "    fps_max=24,  # the desired fps\n"
    ")\n"
    "bucket_config = {  # per resolution\n"
    "    \"256px\": {\n"
    "        1: (1.0, 45),\n"
    "        33: (\n"
    "            1.0,\n"
    "            14,\n"
    "        ),  # 7.02 s iter\n"
    "        129: (1.0, 3)\n"
    "    },\n"
    "    \"768px\": {1: (0.5, 13), 5: (0.5, 6)},\n"
    "}\n"
    "lr = 1e-5\n"
    "optim = dict(lr=lr, betas=(0.9, 0.95))  # inline\n"
    "size = 25 * 1024**3\n"
    "unknown_key = 'kept'\n"
    "a = b = 3\n"
    "x, y = 1, 2\n"
    "model = dict(opt=dict(deep={'k': 1}))\n"
    "# the end\n";

const char *kYaml =
    "# Dataset settings\n"
    "_base_: image.yaml\n"
    "\n"
    "dataset:\n"
    "  type: video_text\n"
    "  fps_max: 24  # the desired fps\n"
    "bucket_config:  # per resolution\n"
    "  256px:\n"
    "    1: !tuple [1.0, 45]\n"
    "    129: !tuple [1.0, 3]  # long\n"
    "  \"768px\": {1: !tuple [0.5, 13], 5: !tuple [0.5, 6]}\n"
    "lr: 1.0e-05\n"
    "optim: {lr: 1.0e-05, betas: !tuple [0.9, 0.95]}  # inline\n"
    "size: 26843545600  # = 25 * 1024**3\n"
    "note: 'it''s #1'\n"
    "long: |\n"
    "  a # b\n"
    "  c: d\n"
    "list:\n"
    "  - 1\n"
    "  - two\n"
    "nothing:\n"
    "work: '{{ fileDirname }}/x'\n"
    "ref: {{_base_.lr}}\n"
    "model:\n"
    "  opt:\n"
    "    deep: {k: 1}\n"
    "# the end\n";

// The lines that differ, as "-old" and "+new"; edits that keep the number of lines pair up.
QString difference(const std::string &before, const std::string &after)
{
    auto a = split(before, '\n'), b = split(after, '\n');
    while (!a.empty() && !b.empty() && a.front() == b.front()) {
        a.erase(a.begin());
        b.erase(b.begin());
    }
    while (!a.empty() && !b.empty() && a.back() == b.back()) {
        a.pop_back();
        b.pop_back();
    }
    std::string out;
    for (const std::string &line : a)
        out += "-" + line + "\n";
    for (const std::string &line : b)
        out += "+" + line + "\n";
    return QString::fromStdString(out);
}

std::string valueIn(const TextDocument &document, const std::string &path)
{
    // Without its base, which is not there.
    TextDocument alone = document;
    if (!alone.removeKey("_base_").ok() || (alone.format() == Format::Yaml && !alone.removeKey("ref").ok()))
        return "not removed";
    const auto loaded = loadDocumentText(alone.text(), {}, document.format());
    if (!loaded)
        return loaded.error().message();
    const Value *value = lookUp(loaded->values, path);
    return value ? toPython(*value) : "nothing";
}

} // namespace

class TextDocumentTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void setsAValue_data()
    {
        QTest::addColumn<bool>("yaml");
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("expression");
        QTest::addColumn<QString>("changes");
        const auto python = [](const char *path, const char *expression, const char *changes) {
            QTest::newRow((std::string("py ") + path + " = " + expression).c_str()) << false << QString::fromUtf8(path) << QString::fromUtf8(expression) << QString::fromUtf8(changes);
        };
        const auto yaml = [](const char *path, const char *expression, const char *changes) {
            QTest::newRow((std::string("yaml ") + path + " = " + expression).c_str()) << true << QString::fromUtf8(path) << QString::fromUtf8(expression) << QString::fromUtf8(changes);
        };
        python("lr", "5e-5", "-lr = 1e-5\n+lr = 5e-5\n");
        python("size", "20 * 1024**3", "-size = 25 * 1024**3\n+size = 20 * 1024**3\n");
        python("dataset.fps_max", "16", "-    fps_max=24,  # the desired fps\n+    fps_max=16,  # the desired fps\n");
        python("optim.lr", "3e-5", "-optim = dict(lr=lr, betas=(0.9, 0.95))  # inline\n+optim = dict(lr=3e-5, betas=(0.9, 0.95))  # inline\n");
        python("optim.betas", "0.9, 0.99", "-optim = dict(lr=lr, betas=(0.9, 0.95))  # inline\n+optim = dict(lr=lr, betas=(0.9, 0.99))  # inline\n");
        python("bucket_config.256px.1", "(1.0, 40)", "-        1: (1.0, 45),\n+        1: (1.0, 40),\n");
        python("bucket_config.256px.33", "(1.0, 12)", "-            14,\n+            12,\n");
        python("bucket_config.256px.129", "(0.5, 3)", "-        129: (1.0, 3)\n+        129: (0.5, 3)\n");
        python("bucket_config.768px.5", "(1.0, 1)", "-    \"768px\": {1: (0.5, 13), 5: (0.5, 6)},\n+    \"768px\": {1: (0.5, 13), 5: (1.0, 1)},\n");
        python("a", "4", "-a = b = 3\n+a = b = 4\n");
        python("y", "5", "-x, y = 1, 2\n+x, y = 1, 5\n");
        // a whole table: only what differs
        python("bucket_config.256px", "{1: (1.0, 45), 33: (1.0, 14), 65: (1.0, 7), 129: (1.0, 2)}",
            "-        129: (1.0, 3)\n+        65: (1.0, 7),\n+        129: (1.0, 2)\n");
        // what is missing is added where it belongs
        python("dataset.vmaf", "True", "+    vmaf=True,\n");
        python("bucket_config.256px.65", "(1.0, 7)", "+        65: (1.0, 7),\n");
        python("bucket_config.256px.200", "(1.0, 1)", "-        129: (1.0, 3)\n+        129: (1.0, 3),\n+        200: (1.0, 1),\n");
        python("bucket_config.768px.3", "(1.0, 1)", "-    \"768px\": {1: (0.5, 13), 5: (0.5, 6)},\n+    \"768px\": {1: (0.5, 13), 3: (1.0, 1), 5: (0.5, 6)},\n");
        python("bucket_config.512px.1", "(1.0, 9)", "+    \"512px\": {1: (1.0, 9)},\n");
        python("optim.eps", "1e-15", "-optim = dict(lr=lr, betas=(0.9, 0.95))  # inline\n+optim = dict(lr=lr, betas=(0.9, 0.95), eps=1e-15)  # inline\n");
        python("model.opt.deep.b", "[1]", "-model = dict(opt=dict(deep={'k': 1}))\n+model = dict(opt=dict(deep={'k': 1, 'b': [1]}))\n");
        python("model.depth", "19", "-model = dict(opt=dict(deep={'k': 1}))\n+model = dict(opt=dict(deep={'k': 1}), depth=19)\n");
        python("epochs", "3", "+epochs = 3\n");
        python("plugin_config.sp_size", "4", "+plugin_config = dict(sp_size=4)\n");
        python("condition.x-y.1", "2", "+condition = {\"x-y\": {1: 2}}\n");
        yaml("lr", "5e-5", "-lr: 1.0e-05\n+lr: 5e-5\n");
        yaml("size", "20 * 1024**3", "-size: 26843545600  # = 25 * 1024**3\n+size: 21474836480  # = 20 * 1024**3\n");
        yaml("size", "7", "-size: 26843545600  # = 25 * 1024**3\n+size: 7\n");
        yaml("dataset.fps_max", "16", "-  fps_max: 24  # the desired fps\n+  fps_max: 16  # the desired fps\n");
        yaml("optim.lr", "3e-5", "-optim: {lr: 1.0e-05, betas: !tuple [0.9, 0.95]}  # inline\n+optim: {lr: 3e-5, betas: !tuple [0.9, 0.95]}  # inline\n");
        yaml("bucket_config.256px.129", "(0.5, 3)", "-    129: !tuple [1.0, 3]  # long\n+    129: !tuple [0.5, 3]  # long\n");
        yaml("bucket_config.768px.5", "(1.0, 1)", "-  \"768px\": {1: !tuple [0.5, 13], 5: !tuple [0.5, 6]}\n+  \"768px\": {1: !tuple [0.5, 13], 5: !tuple [1.0, 1]}\n");
        yaml("note", "'yes'", "-note: 'it''s #1'\n+note: \"yes\"\n");
        yaml("long", "'short'", "-long: |\n-  a # b\n-  c: d\n+long: short\n");
        yaml("list", "[1, 'three']", "-  - two\n+  - three\n");
        yaml("nothing", "4", "-nothing:\n+nothing: 4\n");
        yaml("nothing.x", "4", "+  x: 4\n");
        yaml("work", "'/tmp'", "-work: '{{ fileDirname }}/x'\n+work: /tmp\n");
        yaml("bucket_config.256px", "{1: (1.0, 45), 65: (1.0, 7), 129: (1.0, 2)}",
            "-    129: !tuple [1.0, 3]  # long\n+    65: !tuple [1.0, 7]\n+    129: !tuple [1.0, 2]  # long\n");
        yaml("dataset.vmaf", "True", "+  vmaf: true\n");
        yaml("bucket_config.256px.65", "(1.0, 7)", "+    65: !tuple [1.0, 7]\n");
        yaml("bucket_config.512px", "{1: (1.0, 9)}", "+  \"512px\":\n+    1: !tuple [1.0, 9]\n");
        yaml("optim.eps", "1e-15", "-optim: {lr: 1.0e-05, betas: !tuple [0.9, 0.95]}  # inline\n+optim: {lr: 1.0e-05, betas: !tuple [0.9, 0.95], eps: 1e-15}  # inline\n");
        yaml("model.opt.deep.b", "[1]", "-    deep: {k: 1}\n+    deep: {k: 1, b: [1]}\n");
        yaml("model.depth", "19", "+  depth: 19\n");
        yaml("epochs", "3", "+epochs: 3\n");
        yaml("plugin_config.sp_size", "2 * 2", "+plugin_config:\n+  sp_size: 4\n");
    }
    void setsAValue()
    {
        QFETCH(bool, yaml);
        QFETCH(QString, path);
        QFETCH(QString, expression);
        QFETCH(QString, changes);
        const std::string text = yaml ? kYaml : kPython;
        for (const bool windows : {false, true}) {
            std::string before = text;
            if (windows) {
                QString all = QString::fromStdString(text);
                before = all.replace(QStringLiteral("\n"), QStringLiteral("\r\n")).toStdString();
            }
            TextDocument document(before, yaml ? Format::Yaml : Format::Python);
            const auto status = document.setValue(path.toStdString(), expression.toStdString());
            QVERIFY2(status.ok(), status.ok() ? "" : status.error().message().c_str());
            QString seen = difference(before, document.text());
            QCOMPARE(seen.contains(QLatin1Char('\r')), windows && !seen.isEmpty());
            QCOMPARE(seen.remove(QLatin1Char('\r')), changes);
            const auto wanted = parseLiteral(expression.toStdString());
            QVERIFY(wanted.ok());
            QCOMPARE(valueIn(document, path.toStdString()), toPython(*wanted));
        }
    }

    void changesNothingElse_data()
    {
        QTest::addColumn<bool>("yaml");
        QTest::newRow("python") << false;
        QTest::newRow("yaml") << true;
    }
    void changesNothingElse()
    {
        QFETCH(bool, yaml);
        const std::string text = yaml ? kYaml : kPython;
        TextDocument document(text, yaml ? Format::Yaml : Format::Python);
        QCOMPARE(document.text(), text);
        QVERIFY(document.setValue("lr", yaml ? "1.0e-05" : "1e-5").ok());
        QCOMPARE(document.text(), text);
        QVERIFY(document.setValue("lr", "2").ok());
        QVERIFY(document.setValue("lr", yaml ? "1.0e-05" : "1e-5").ok());
        QCOMPARE(document.text(), text);
    }

    void removesAKey_data()
    {
        QTest::addColumn<bool>("yaml");
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("changes");
        const auto row = [](bool yaml, const char *path, const char *changes) {
            QTest::newRow((std::string(yaml ? "yaml " : "py ") + path).c_str()) << yaml << QString::fromUtf8(path) << QString::fromUtf8(changes);
        };
        row(false, "size", "-size = 25 * 1024**3\n");
        row(false, "dataset.fps_max", "-    fps_max=24,  # the desired fps\n");
        row(false, "dataset", "-dataset = dict(\n-    type=\"video_text\",\n-    fps_max=24,  # the desired fps\n-)\n");
        row(false, "bucket_config.256px.33", "-        33: (\n-            1.0,\n-            14,\n-        ),  # 7.02 s iter\n");
        row(false, "bucket_config.256px.129", "-        129: (1.0, 3)\n");
        row(false, "bucket_config.768px.1", "-    \"768px\": {1: (0.5, 13), 5: (0.5, 6)},\n+    \"768px\": {5: (0.5, 6)},\n");
        row(false, "bucket_config.768px.5", "-    \"768px\": {1: (0.5, 13), 5: (0.5, 6)},\n+    \"768px\": {1: (0.5, 13)},\n");
        row(false, "optim.betas", "-optim = dict(lr=lr, betas=(0.9, 0.95))  # inline\n+optim = dict(lr=lr)  # inline\n");
        row(false, "model.opt.deep.k", "-model = dict(opt=dict(deep={'k': 1}))\n+model = dict(opt=dict(deep={}))\n");
        row(false, "a", "-a = b = 3\n+b = 3\n");
        row(true, "size", "-size: 26843545600  # = 25 * 1024**3\n");
        row(true, "dataset.fps_max", "-  fps_max: 24  # the desired fps\n");
        row(true, "dataset", "-dataset:\n-  type: video_text\n-  fps_max: 24  # the desired fps\n");
        row(true, "long", "-long: |\n-  a # b\n-  c: d\n");
        row(true, "list", "-list:\n-  - 1\n-  - two\n");
        row(true, "nothing", "-nothing:\n");
        row(true, "bucket_config.768px.1", "-  \"768px\": {1: !tuple [0.5, 13], 5: !tuple [0.5, 6]}\n+  \"768px\": {5: !tuple [0.5, 6]}\n");
        row(true, "optim.betas", "-optim: {lr: 1.0e-05, betas: !tuple [0.9, 0.95]}  # inline\n+optim: {lr: 1.0e-05}  # inline\n");
        row(true, "model.opt", "-model:\n-  opt:\n-    deep: {k: 1}\n+model: {}\n");
    }
    void removesAKey()
    {
        QFETCH(bool, yaml);
        QFETCH(QString, path);
        QFETCH(QString, changes);
        const std::string text = yaml ? kYaml : kPython;
        TextDocument document(text, yaml ? Format::Yaml : Format::Python);
        const auto status = document.removeKey(path.toStdString());
        QVERIFY2(status.ok(), status.ok() ? "" : status.error().message().c_str());
        QCOMPARE(difference(text, document.text()), changes);
        QCOMPARE(valueIn(document, path.toStdString()), std::string("nothing"));
    }

    void renamesAKey_data()
    {
        QTest::addColumn<bool>("yaml");
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("changes");
        const auto row = [](bool yaml, const char *path, const char *name, const char *changes) {
            QTest::newRow((std::string(yaml ? "yaml " : "py ") + path).c_str()) << yaml << QString::fromUtf8(path) << QString::fromUtf8(name) << QString::fromUtf8(changes);
        };
        row(false, "dataset.fps_max", "fps", "-    fps_max=24,  # the desired fps\n+    fps=24,  # the desired fps\n");
        row(false, "lr", "rate", "-lr = 1e-5\n-optim = dict(lr=lr, betas=(0.9, 0.95))  # inline\n+rate = 1e-5\n+optim = dict(lr=rate, betas=(0.9, 0.95))  # inline\n");
        row(false, "bucket_config.256px.1", "5", "-        1: (1.0, 45),\n+        5: (1.0, 45),\n");
        row(false, "bucket_config.768px", "512px", "-    \"768px\": {1: (0.5, 13), 5: (0.5, 6)},\n+    \"512px\": {1: (0.5, 13), 5: (0.5, 6)},\n");
        row(false, "model.opt.deep.k", "z", "-model = dict(opt=dict(deep={'k': 1}))\n+model = dict(opt=dict(deep={'z': 1}))\n");
        row(true, "dataset.fps_max", "fps", "-  fps_max: 24  # the desired fps\n+  fps: 24  # the desired fps\n");
        row(true, "bucket_config.768px", "512px", "-  \"768px\": {1: !tuple [0.5, 13], 5: !tuple [0.5, 6]}\n+  \"512px\": {1: !tuple [0.5, 13], 5: !tuple [0.5, 6]}\n");
        row(true, "bucket_config.256px.1", "5", "-    1: !tuple [1.0, 45]\n+    5: !tuple [1.0, 45]\n");
    }
    void renamesAKey()
    {
        QFETCH(bool, yaml);
        QFETCH(QString, path);
        QFETCH(QString, name);
        QFETCH(QString, changes);
        const std::string text = yaml ? kYaml : kPython;
        TextDocument document(text, yaml ? Format::Yaml : Format::Python);
        const auto status = document.renameKey(path.toStdString(), name.toStdString());
        QVERIFY2(status.ok(), status.ok() ? "" : status.error().message().c_str());
        QCOMPARE(difference(text, document.text()), changes);
    }

    void refusesEditsThatCannotBe_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("edit");
        QTest::addColumn<QString>("says");
        QTest::newRow("into a number") << "lr = 1\n" << "set lr.x 2" << "no entries";
        QTest::newRow("into an expression") << "m = _base_.model\n" << "set m.x 2" << "no entries";
        QTest::newRow("computed in steps") << "x = 1\nx += 2\n" << "set x 5" << "several steps";
        QTest::newRow("no value") << "x = 1\n" << "set x [1," << "[1,";
        QTest::newRow("no name") << "x = 1\n" << "set x-y 1" << "x-y";
        QTest::newRow("empty part") << "x = 1\n" << "set x..y 1" << "path";
        QTest::newRow("not there") << "x = dict(a=1)\n" << "remove x.b" << "not written";
        QTest::newRow("still used") << "x = 1\ny = x\n" << "remove x" << "line 2";
        QTest::newRow("name taken") << "x = dict(a=1, b=2)\n" << "rename x.a b" << "already";
        QTest::newRow("keyword") << "x = dict(a=1)\n" << "rename x.a class" << "class";
        QTest::newRow("broken text") << "x = (\n" << "set x 1" << "never closed";
    }
    void refusesEditsThatCannotBe()
    {
        QFETCH(QString, text);
        QFETCH(QString, edit);
        QFETCH(QString, says);
        TextDocument document(text.toStdString(), Format::Python);
        const QStringList words = edit.split(QLatin1Char(' '));
        const std::string path = words[1].toStdString(), more = words.value(2).toStdString();
        const Status status = words[0] == QStringLiteral("set") ? document.setValue(path, more) : words[0] == QStringLiteral("remove") ? document.removeKey(path) : document.renameKey(path, more);
        QVERIFY(!status.ok());
        QVERIFY2(status.error().message().find(says.toStdString()) != std::string::npos, status.error().message().c_str());
        QCOMPARE(document.text(), text.toStdString());
    }

    void startsAnEmptyFile()
    {
        TextDocument python("", Format::Python), yaml("", Format::Yaml);
        QVERIFY(python.setValue("model.depth", "3").ok() && yaml.setValue("model.depth", "3").ok());
        QVERIFY(python.setValue("bucket_config.256px.1", "(1.0, 2)").ok() && yaml.setValue("bucket_config.256px.1", "(1.0, 2)").ok());
        QCOMPARE(python.text(), std::string("model = dict(depth=3)\nbucket_config = {\"256px\": {1: (1.0, 2)}}\n"));
        QCOMPARE(yaml.text(), std::string("model:\n  depth: 3\nbucket_config:\n  \"256px\":\n    1: !tuple [1.0, 2]\n"));
    }

    void knowsLines()
    {
        const TextDocument python(kPython, Format::Python), yaml(kYaml, Format::Yaml);
        QCOMPARE(python.lineOf("dataset.fps_max").value_or(0), 6);
        QCOMPARE(python.lineOf("bucket_config.256px.129").value_or(0), 15);
        QCOMPARE(python.lineOf("y").value_or(0), 24);
        QVERIFY(!python.lineOf("dataset.vmaf"));
        QVERIFY(!python.lineOf("bucket_config.1024px"));
        QCOMPARE(yaml.lineOf("bucket_config.768px.5").value_or(0), 11);
        QCOMPARE(yaml.lineOf("nothing").value_or(0), 22);
        QVERIFY(!yaml.lineOf("nothing.x"));
    }

    void editsSurviveOnRealFiles()
    {
        // Every scalar of every golden file that can be read: set it to another value, and nothing else changes.
        int edits = 0;
        for (const auto &entry : std::filesystem::recursive_directory_iterator(support::goldenFolder("config") / "files")) {
            const auto text = readFile(entry.path());
            const auto loaded = loadDocument(entry.path());
            if (!text || !loaded)
                continue;
            for (const auto &[key, value] : loaded->values) {
                const std::string path = value.isDict() && !value.dict().empty() ? key.text() + "." + value.dict().begin()->first.text() : key.text();
                TextDocument document(*text, formatOf(entry.path()));
                if (!document.lineOf(path))
                    continue;
                QVERIFY(document.setValue(path, "'changed'").ok());
                const auto again = loadDocumentText(document.text(), entry.path());
                if (!again)
                    continue;                        // another value of the file needs the old one
                QCOMPARE(toPython(*lookUp(again->values, path)), std::string("'changed'"));
                ++edits;
            }
        }
        QVERIFY(edits > 10);
    }
};

QTEST_GUILESS_MAIN(TextDocumentTest)
#include "text_document_test.moc"
