// Files based on each other: merging, origins, and what people get wrong with it.
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>

#include "core/base/files.h"
#include "core/config/document.h"
#include "tests/support/growth.h"

using namespace stagewright;
using namespace stagewright::config;
using namespace stagewright::tests;

namespace {

struct Folder {
    QTemporaryDir temporary;
    std::filesystem::path path(const std::string &name) const { return std::filesystem::path(temporary.path().toStdString()) / name; }
    void write(const std::string &name, const std::string &text) const
    {
        std::filesystem::create_directories(path(name).parent_path());
        QVERIFY(replaceFile(path(name), text).ok());
    }
    Result<LoadedConfig> load(const std::string &name) const { return loadDocument(path(name)); }
};

std::string shown(const Result<LoadedConfig> &loaded, const std::string &path)
{
    const Value *value = loaded.ok() ? lookUp(loaded->values, path) : nullptr;
    return value ? toPython(*value) : "nothing";
}

const Problem *problemOf(const Result<LoadedConfig> &loaded, const std::string &code)
{
    for (const Problem &problem : loaded->problems) {
        if (problem.code == code)
            return &problem;
    }
    return nullptr;
}

} // namespace

class ConfigChainTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void mergesBucketTablesUnlessDeleted()
    {
        Folder folder;
        folder.write("base.py", "bucket_config = {\"1024px\": {1: (0.5, 7)}, \"256px\": {1: (1.0, 9)}}\n");
        folder.write("merged.py", "_base_ = \"base.py\"\nbucket_config = {\"256px\": {5: (1.0, 4)}}\n");
        folder.write("replaced.py", "_base_ = [\"base.py\"]\nbucket_config = {\"_delete_\": True, \"256px\": {1: (1.0, 4)}}\n");
        folder.write("deep.py", "_base_ = [\"base.py\"]\nbucket_config = {\"256px\": {\"_delete_\": True, 5: (1.0, 4)}}\n");
        const auto merged = folder.load("merged.py");
        QCOMPARE(shown(merged, "bucket_config"), std::string("{'1024px': {1: (0.5, 7)}, '256px': {1: (1.0, 9), 5: (1.0, 4)}}"));
        QCOMPARE(lookUp(merged->values, "bucket_config.1024px.1")->origin.kind, OriginKind::Base);
        QVERIFY(lookUp(merged->values, "bucket_config.1024px.1")->origin.fileName().ends_with("base.py"));
        QCOMPARE(lookUp(merged->values, "bucket_config.256px.5")->origin.kind, OriginKind::File);
        QCOMPARE(shown(folder.load("replaced.py"), "bucket_config"), std::string("{'256px': {1: (1.0, 4)}}"));
        QCOMPARE(shown(folder.load("deep.py"), "bucket_config"), std::string("{'1024px': {1: (0.5, 7)}, '256px': {5: (1.0, 4)}}"));
    }

    void neverTakesDeleteForAResolution()
    {
        Folder folder;
        folder.write("alone.py", "bucket_config = {\"_delete_\": True, \"256px\": {\"_delete_\": True, 1: (1.0, 4)}}\nother = dict(_delete_=True, k=1)\n");
        const auto loaded = folder.load("alone.py");
        QCOMPARE(shown(loaded, "bucket_config"), std::string("{'256px': {1: (1.0, 4)}}"));
        QCOMPARE(shown(loaded, "other"), std::string("{'_delete_': True, 'k': 1}"));            // as the original
        QVERIFY(problemOf(loaded, "config.stray-delete"));
        QCOMPARE(loaded->problems.size(), std::size_t(3));
    }

    void namesBothSidesOfATypeClash_data()
    {
        QTest::addColumn<QString>("base");
        QTest::addColumn<QString>("type");
        QTest::newRow("number") << "grad_clip = 1.0\n" << "float";
        QTest::newRow("None") << "grad_clip = None\n" << "None";
        QTest::newRow("list") << "grad_clip = [1]\n" << "list";
    }
    void namesBothSidesOfATypeClash()
    {
        QFETCH(QString, base);
        QFETCH(QString, type);
        Folder folder;
        folder.write("base.py", base.toStdString());
        folder.write("child.py", "_base_ = [\"base.py\"]\n\ngrad_clip = dict(max_norm=1.0)\n");
        const auto loaded = folder.load("child.py");
        QVERIFY(!loaded.ok());
        const std::string message = loaded.error().message();
        for (const std::string &part : {std::string("child.py:3"), std::string("base.py:1"), std::string("grad_clip"), std::string("dict"), type.toStdString(), std::string("_delete_=True")})
            QVERIFY2(message.find(part) != std::string::npos, message.c_str());
        QCOMPARE(loaded.error().problem.path, std::string("grad_clip"));
        folder.write("child.py", "_base_ = [\"base.py\"]\n\ngrad_clip = dict(_delete_=True, max_norm=1.0)\n");
        QCOMPARE(shown(folder.load("child.py"), "grad_clip"), std::string("{'max_norm': 1.0}"));
    }

    void warnsWhenADictIsReplacedByAnotherType()
    {
        Folder folder;
        folder.write("base.py", "optim = dict(lr=1)\nplugin_config = dict(a=1)\n");
        folder.write("child.py", "_base_ = [\"base.py\"]\noptim = 3\nplugin_config = None\n");
        const auto loaded = folder.load("child.py");
        QVERIFY(loaded.ok());
        QCOMPARE(loaded->problems.size(), std::size_t(1));                 // None over a dict switches it off and is usual
        QCOMPARE(loaded->problems[0].code, std::string("config.type-change"));
        QCOMPARE(loaded->problems[0].path, std::string("optim"));
        QVERIFY(loaded->problems[0].message.find("base.py:1") != std::string::npos);
    }

    void warnsWhenOnlyTheHelperIsSetAnew()
    {
        Folder folder;
        folder.write("base.py", "lr=1e-5; optim=dict(lr=lr)\nscaled = lr * 10\nboth = dict(x=scaled)\n");
        folder.write("child.py", "_base_=[\"base.py\"]; lr=5e-5\n");
        const auto loaded = folder.load("child.py");
        QVERIFY(loaded.ok());
        QCOMPARE(loaded->staleHelpers.size(), std::size_t(1));
        QCOMPARE(loaded->staleHelpers[0].name, std::string("lr"));
        QCOMPARE(loaded->staleHelpers[0].kept, (std::vector<std::string>{"optim.lr", "scaled", "both.x"}));
        const Problem *problem = problemOf(loaded, "config.stale-helper");
        QVERIFY(problem && problem->severity == Severity::Warning && problem->line == 1 && problem->path == "lr");
        QVERIFY(problem->file.ends_with("child.py") && problem->message.find("base.py:1") != std::string::npos);
    }

    void offersTheFixWhereTheValueWasTheHelperAlone()
    {
        Folder folder;
        folder.write("base.py", "lr = 1e-5\noptim = dict(lr=lr)\n");
        folder.write("child.py", "_base_ = [\"base.py\"]\nlr = 5e-5\n");
        const auto loaded = folder.load("child.py");
        const Problem *problem = problemOf(loaded, "config.stale-helper");
        QVERIFY(problem && problem->fix);
        QCOMPARE(problem->fix->edits.size(), std::size_t(1));
        QCOMPARE(problem->fix->edits[0].path, std::string("optim.lr"));
        QCOMPARE(*problem->fix->edits[0].to, std::string("5e-05"));
        TextDocument document("_base_ = [\"base.py\"]\nlr = 5e-5\n", Format::Python);
        QVERIFY(document.setValue(problem->fix->edits[0].path, *problem->fix->edits[0].to).ok());
        folder.write("child.py", document.text());
        const auto fixed = folder.load("child.py");
        QVERIFY(fixed->staleHelpers.empty());
        QCOMPARE(shown(fixed, "optim.lr"), std::string("5e-05"));
    }

    void doesNotWarnWhereNothingIsStale_data()
    {
        QTest::addColumn<QString>("child");
        QTest::newRow("built anew") << "lr = 5e-5\noptim = dict(lr=lr)\n";
        QTest::newRow("the same value") << "lr = 1e-5\n";
        QTest::newRow("both replaced") << "lr = 5e-5\noptim = dict(_delete_=True, lr=3)\n";
        QTest::newRow("asks for the base's") << "lr = _base_.lr * 10\noptim = dict(lr=lr)\n";
        QTest::newRow("nothing touched") << "epochs = 3\n";
    }
    void doesNotWarnWhereNothingIsStale()
    {
        QFETCH(QString, child);
        Folder folder;
        folder.write("base.py", "lr = 1e-5\noptim = dict(lr=lr)\n");
        folder.write("child.py", "_base_ = [\"base.py\"]\n" + child.toStdString());
        const auto loaded = folder.load("child.py");
        QVERIFY(loaded.ok());
        QVERIFY2(loaded->staleHelpers.empty() && loaded->problems.empty(), loaded->problems.empty() ? "" : loaded->problems[0].message.c_str());
    }

    void readsBaseVariables()
    {
        Folder folder;
        folder.write("base.py", "lr = 1e-5\nmodel = dict(depth=2, axes=[1, 2])\n");
        folder.write("child.py", "_base_ = 'base.py'\na = _base_.lr * 2\nb = {{_base_.model.depth}}\nc = _base_.model.axes + [3]\nd = {{ _base_.model }}\n_base_.model.depth = 7\n");
        const auto loaded = folder.load("child.py");
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        QCOMPARE(shown(loaded, "a"), std::string("2e-05"));
        QCOMPARE(shown(loaded, "b"), std::string("2"));
        QCOMPARE(shown(loaded, "c"), std::string("[1, 2, 3]"));
        QCOMPARE(shown(loaded, "d"), std::string("{'depth': 2, 'axes': [1, 2]}"));
        QCOMPARE(shown(loaded, "model.depth"), std::string("7"));
        QVERIFY(loaded->helperNames.contains("lr") && loaded->helperNames.contains("model"));
    }

    void yamlAndPythonCanBeBasedOnEachOther()
    {
        Folder folder;
        folder.write("base.yaml", "lr: 1e-5\nbucket_config:\n  256px:\n    1: !tuple [1.0, 4]\n");
        folder.write("middle.py", "_base_ = ['base.yaml']\nbucket_config = {'256px': {5: (0.5, 2)}}\n");
        folder.write("leaf.yml", "_base_: middle.py\nx: {{_base_.lr}}\ny: '{{ _base_.bucket_config }}'\nz: \"{{fileBasename}}\"\n");
        const auto loaded = folder.load("leaf.yml");
        QVERIFY2(loaded.ok(), loaded.ok() ? "" : loaded.error().message().c_str());
        QCOMPARE(shown(loaded, "bucket_config"), std::string("{'256px': {1: (1.0, 4), 5: (0.5, 2)}}"));
        QCOMPARE(shown(loaded, "x"), std::string("1e-05"));
        QCOMPARE(shown(loaded, "y"), std::string("{'256px': {1: (1.0, 4), 5: (0.5, 2)}}"));
        QCOMPARE(shown(loaded, "z"), std::string("'leaf.yml'"));
        QCOMPARE(loaded->baseChain.size(), std::size_t(3));
        QCOMPARE(loaded->baseChain[0].filename().string(), std::string("leaf.yml"));
        QCOMPARE(loaded->baseChain[2].filename().string(), std::string("base.yaml"));
    }

    void refusesCircles()
    {
        Folder folder;
        folder.write("a.py", "_base_ = ['sub/b.py']\n");
        folder.write("sub/b.py", "\n_base_ = ['../a.py']\n");
        folder.write("self.yaml", "_base_: ./self.yaml\n");
        const auto loaded = folder.load("a.py");
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().problem.code, std::string("config.base-cycle"));
        QCOMPARE(loaded.error().problem.line, 2);
        QVERIFY(loaded.error().message().find("a.py → b.py → a.py") != std::string::npos);
        QCOMPARE(folder.load("self.yaml").error().problem.code, std::string("config.base-cycle"));
    }

    void refusesTheSameKeyInTwoBases()
    {
        Folder folder;
        folder.write("a.py", "x = 1\n");
        folder.write("b.py", "y = 1\nx = 2\n");
        folder.write("c.py", "_base_ = ['a.py',\n          'b.py']\n");
        const auto loaded = folder.load("c.py");
        QVERIFY(!loaded.ok());
        const std::string message = loaded.error().message();
        QVERIFY2(message.find("`x`") != std::string::npos && message.find("a.py:1") != std::string::npos && message.find("b.py:2") != std::string::npos, message.c_str());
    }

    void boundsTheNumberOfFiles()
    {
        Folder folder;
        folder.write("f0.py", "");
        for (int i = 1; i <= 20; ++i)                  // two bases each: a million readings without a bound
            folder.write("f" + std::to_string(i) + ".py", "_base_ = ['f" + std::to_string(i - 1) + ".py', 'f" + std::to_string(i - 1) + ".py']\n");
        const auto loaded = folder.load("f20.py");
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().problem.code, std::string("config.too-large"));
    }

    void namesTheFileThatIsMissing()
    {
        Folder folder;
        folder.write("child.yaml", "lr: 1\n_base_: [nowhere/base.py]\n");
        const auto loaded = folder.load("child.yaml");
        QVERIFY(!loaded.ok());
        QCOMPARE(loaded.error().problem.code, std::string("config.base-missing"));
        QCOMPARE(loaded.error().problem.line, 2);
        QVERIFY(loaded.error().message().find("nowhere/base.py") != std::string::npos);
        QCOMPARE(folder.load("not-there.py").error().exit, ExitCode::Usage);       // a mistake in what was typed
        folder.write("notes.txt", "lr = 1\n");
        QCOMPARE(folder.load("notes.txt").error().problem.code, std::string("config.unknown-format"));
    }

    void errorsOfABaseNameTheBase()
    {
        Folder folder;
        folder.write("base.py", "a = 1\nimport math\n");
        folder.write("child.py", "_base_ = ['base.py']\n");
        const auto loaded = folder.load("child.py");
        QVERIFY(!loaded.ok());
        QVERIFY(loaded.error().problem.file.ends_with("base.py"));
        QCOMPARE(loaded.error().problem.line, 2);
    }

    void opensASixDeepChain()
    {
        Folder folder;
        std::string table = "bucket_config = {\n";
        for (const char *resolution : {"256px", "512px", "768px"}) {
            table += std::string("    \"") + resolution + "\": {\n";
            for (int frames = 1; frames <= 129; frames += 4)
                table += "        " + std::to_string(frames) + ": (1.0, 2),\n";
            table += "    },\n";
        }
        table += "}\nlr = 1e-5\noptim = dict(lr=lr)\npin = [(260 + 20) * 1024 * 1024] * 24\n";
        folder.write("f0.py", table);
        for (int i = 1; i < 6; ++i)
            folder.write("f" + std::to_string(i) + ".py", "_base_ = ['f" + std::to_string(i - 1) + ".py']\n" + table);
        const auto loaded = folder.load("f5.py");
        QVERIFY(loaded.ok());
        QCOMPARE(loaded->baseChain.size(), std::size_t(6));
    }

    void readsALargeTableInLinearTime()
    {
        const auto tableOf = [](int rows) {
            std::string text = "bucket_config = {\"256px\": {\n";
            for (int i = 1; i <= rows; ++i)
                text += "    " + std::to_string(i) + ": (1.0, 2),\n";
            return text + "}}\n";
        };
        QVERIFY(loadDocumentText(tableOf(10000), {}).ok());
        const double grows = growth(1000, 8000, [&](int rows) { (void)loadDocumentText(tableOf(rows), {}); });
        QVERIFY2(grows < 24, std::to_string(grows).c_str());           // 8 where it is linear, 64 where it is quadratic
    }
};

QTEST_GUILESS_MAIN(ConfigChainTest)
#include "config_chain_test.moc"
