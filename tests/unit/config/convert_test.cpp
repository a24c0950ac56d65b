// Between .py and .yaml: values, types, comments and order stay; expressions survive as comments and come back.
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

#include "core/base/files.h"
#include "core/config/convert.h"
#include "core/config/document.h"
#include "tests/support/golden.h"

using namespace stagewright;
using namespace stagewright::config;

namespace {

struct Folder {
    QTemporaryDir temporary;
    std::filesystem::path path(const std::string &name) const { return std::filesystem::path(temporary.path().toStdString()) / name; }
    void write(const std::string &name, const std::string &text) const
    {
        std::filesystem::create_directories(path(name).parent_path());
        QVERIFY(replaceFile(path(name), text).ok());
    }
    Result<Conversion> convert(const std::string &in, const std::string &out, Bases bases = Bases::KeepIfConverted) const
    {
        auto result = config::convert(path(in), path(out), bases);
        if (result) {
            for (const ConvertedFile &file : result->files) {
                std::filesystem::create_directories(file.path.parent_path());
                if (!replaceFile(file.path, file.text))
                    qFatal("cannot write");
            }
        }
        return result;
    }
};

const char *kPython =
    "# Dataset settings\n"
    "dataset = dict(\n"
    "    type=\"video_text\",\n"
    "    fps_max=24,  # the desired fps\n"
    ")\n"
    "\n"
    "# buckets\n"
    "bucket_config = {  # per resolution\n"
    "    \"256px\": {\n"
    "        1: (1.0, 45),\n"
    "        # longer ones\n"
    "        33: (\n"
    "            1.0,\n"
    "            14,\n"
    "        ),  # 7.02 s iter\n"
    "        # none longer\n"
    "    },\n"
    "}  # end of buckets\n"
    "lr = 1e-5\n"
    "optim = dict(lr=lr, betas=(0.9, 0.95))  # inline\n"
    "size = 25 * 1024**3  # elements\n"
    "pin = [(260 + 20) * 1024] * 2\n"
    "name = 'yes'\n"
    "empty = dict()\n"
    "# For debugging\n"
    "# record_time = True\n";

const char *kYaml =
    "# Dataset settings\n"
    "dataset:\n"
    "  type: video_text\n"
    "  fps_max: 24  # the desired fps\n"
    "# buckets\n"
    "bucket_config:  # per resolution\n"
    "  \"256px\":\n"
    "    1: !tuple [1.0, 45]\n"
    "    # longer ones\n"
    "    33: !tuple [1.0, 14]  # 7.02 s iter\n"
    "    # none longer\n"
    "  # end of buckets\n"
    "lr: 1.0e-05\n"
    "optim:  # inline\n"
    "  lr: 1.0e-05  # = lr\n"
    "  betas: !tuple [0.9, 0.95]\n"
    "size: 26843545600  # = 25 * 1024**3  # elements\n"
    "pin: [286720, 286720]  # = [(260 + 20) * 1024] * 2\n"
    "name: \"yes\"\n"
    "empty: {}\n"
    "# For debugging\n"
    "# record_time = True\n";

} // namespace

class ConvertTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void keepsCommentsOrderAndExpressions()
    {
        Folder folder;
        folder.write("stage.py", kPython);
        const auto yaml = folder.convert("stage.py", "stage.yaml");
        QVERIFY2(yaml.ok(), yaml.ok() ? "" : yaml.error().message().c_str());
        QCOMPARE(QString::fromStdString(yaml->files[0].text), QString::fromUtf8(kYaml));
        const auto back = folder.convert("stage.yaml", "back.py");
        QVERIFY2(back.ok(), back.ok() ? "" : back.error().message().c_str());
        const std::string &text = back->files[0].text;
        for (const char *part : {"size = 25 * 1024**3  # elements\n", "    lr=lr,\n", "pin = [(260 + 20) * 1024] * 2\n", "# record_time = True\n", "    fps_max=24,  # the desired fps\n", "name = \"yes\"\n"})
            QVERIFY2(text.find(part) != std::string::npos, (std::string(part) + "\n" + text).c_str());
        // A second round changes nothing any more.
        const auto again = folder.convert("back.py", "again.yaml");
        QCOMPARE(QString::fromStdString(again->files[0].text), QString::fromUtf8(kYaml));
    }

    void anExpressionThatNoLongerHoldsIsNotTakenBack()
    {
        Folder folder;
        folder.write("stage.yaml", "lr: 2.0e-05\noptim: {x: 1}\nsize: 5  # = 25 * 1024**3\nrate: 1.0e-05  # = lr\nafter: 3  # = later\nlater: 3\n");
        const auto converted = folder.convert("stage.yaml", "stage.py");
        QVERIFY(converted.ok());
        QVERIFY2(converted->files[0].text.find("size = 5  # = 25 * 1024**3\n") != std::string::npos, converted->files[0].text.c_str());
        QVERIFY(converted->files[0].text.find("rate = 1e-05  # = lr\n") != std::string::npos);
        QVERIFY(converted->files[0].text.find("after = 3  # = later\n") != std::string::npos);
    }

    void keepsTheBaseWhereItIsConverted()
    {
        Folder folder;
        folder.write("sub/base.py", "lr = 1e-5  # base's\nmodel = dict(depth=2)\n");
        folder.write("leaf.py", "# leaf\n_base_ = [\"sub/base.py\"]  # below\nlr = _base_.lr * 10\nd = {{_base_.model.depth}}\nmodel = dict(_delete_=True, depth=3)\n");
        const auto flat = folder.convert("leaf.py", "leaf.yaml");
        QVERIFY2(flat.ok(), flat.ok() ? "" : flat.error().message().c_str());
        QCOMPARE(flat->notes.size(), std::size_t(1));
        QVERIFY(flat->notes[0].find("sub/base.py") != std::string::npos);
        QVERIFY2(flat->files[0].text.find("_base_:") == std::string::npos && flat->files[0].text.find("depth: 3") != std::string::npos, flat->files[0].text.c_str());
        QVERIFY(flat->files[0].text.find("# leaf\n") != std::string::npos);
        QVERIFY(flat->files[0].text.find("# below\n") != std::string::npos);

        const auto both = folder.convert("leaf.py", "leaf.yaml", Bases::ConvertToo);
        QVERIFY2(both.ok(), both.ok() ? "" : both.error().message().c_str());
        QCOMPARE(both->files.size(), std::size_t(2));
        QCOMPARE(QString::fromStdString(both->files[0].text),
            QStringLiteral("# leaf\n_base_: [sub/base.yaml]  # below\nlr: 0.0001  # = _base_.lr * 10\nd: {{_base_.model.depth}}\nmodel:\n  _delete_: true\n  depth: 3\n"));
        QCOMPARE(both->files[1].path, folder.path("sub/base.yaml"));
        QVERIFY(loadDocument(folder.path("leaf.yaml"))->values == loadDocument(folder.path("leaf.py"))->values);

        const auto kept = folder.convert("leaf.py", "leaf.yaml");                   // now the base's counterpart is there
        QVERIFY(kept.ok() && kept->notes.empty());
        QCOMPARE(kept->files[0].text, both->files[0].text);
        const auto back = folder.convert("leaf.yaml", "back.py");
        QVERIFY2(back.ok(), back.ok() ? "" : back.error().message().c_str());
        QVERIFY2(back->files[0].text.find("_base_ = ['sub/base.py']  # below\n") != std::string::npos, back->files[0].text.c_str());
        QVERIFY(loadDocument(folder.path("back.py"))->values == loadDocument(folder.path("leaf.py"))->values);
    }

    void goldenFilesSurviveBothWays()
    {
        int files = 0;
        const auto root = support::goldenFolder("config") / "files";
        for (const auto &entry : std::filesystem::recursive_directory_iterator(root)) {
            if (entry.path().extension() != ".py")
                continue;
            const auto loaded = loadDocument(entry.path());
            if (!loaded)
                continue;
            ++files;
            Folder folder;
            for (const Bases bases : {Bases::Flatten, Bases::ConvertToo}) {
                std::filesystem::copy(root, folder.path("files"), std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
                const auto relative = std::filesystem::relative(entry.path(), root);
                const std::string in = ("files" / relative).string();
                const std::string middle = std::filesystem::path(in).replace_extension(".yaml").string();
                const auto yaml = folder.convert(in, middle, bases);
                QVERIFY2(yaml.ok(), yaml.ok() ? "" : yaml.error().message().c_str());
                const auto asYaml = loadDocument(folder.path(middle));
                QVERIFY2(asYaml.ok(), asYaml.ok() ? "" : (asYaml.error().message() + "\n" + yaml->files[0].text).c_str());
                const auto same = [&](Dict a, Dict b) {
                    for (const char *ownName : {"here", "ext"}) {               // {{ fileExtname }} and the like differ by right
                        a.remove(ownName);
                        b.remove(ownName);
                    }
                    return toPython(Value::dict(a)) == toPython(Value::dict(b));
                };
                QVERIFY2(same(asYaml->values, loaded->values), (toPython(Value::dict(asYaml->values)) + "\n" + toPython(Value::dict(loaded->values))).c_str());
                const auto back = folder.convert(middle, std::filesystem::path(in).replace_extension(".back.py").string(), Bases::Flatten);
                QVERIFY2(back.ok(), back.ok() ? "" : back.error().message().c_str());
                const auto again = loadDocument(back->files[0].path);
                QVERIFY2(again.ok(), again.ok() ? "" : again.error().message().c_str());
                QVERIFY(same(again->values, loaded->values));
            }
        }
        QVERIFY(files > 3);
    }

    void refusesWhatCannotBeWritten()
    {
        Folder folder;
        folder.write("stage.yaml", "ok: 1\nnum-workers: 2\n");
        const auto converted = folder.convert("stage.yaml", "stage.py");
        QVERIFY(!converted.ok());
        QVERIFY(converted.error().message().find("num-workers") != std::string::npos);
        QCOMPARE(converted.error().problem.line, 2);
        QVERIFY(!folder.convert("stage.yaml", "stage.txt").ok());
        QVERIFY(!folder.convert("missing.yaml", "stage.py").ok());
    }

    void writesAPythonFileFromValues()
    {
        const auto value = parseLiteral("{'lr': 1e-5, 'b': {'256px': {1: (1.0, 2)}}, 'm': {'depth': 3, 'class': 1}, 's': 'it', 'e': {}}");
        const auto text = toPythonFile(value->dict());
        QVERIFY(text.ok());
        QCOMPARE(QString::fromStdString(*text), QStringLiteral("lr = 1e-5\nb = {\n    \"256px\": {\n        1: (1.0, 2),\n    },\n}\nm = {\n    \"depth\": 3,\n    \"class\": 1,\n}\ns = \"it\"\ne = {}\n"));
        const auto again = loadDocumentText(*text, {});
        QVERIFY(again->values == value->dict());
    }
};

QTEST_GUILESS_MAIN(ConvertTest)
#include "convert_test.moc"
