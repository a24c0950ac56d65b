// Names, folders and small files of runs.
#include <QtTest>

#include <fstream>
#include <set>
#include <thread>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/runlog/config_files.h"
#include "core/runlog/run_directory.h"
#include "core/runlog/run_list.h"

#include <nlohmann/json.hpp>

using namespace stagewright;
using namespace stagewright::runlog;
namespace fs = std::filesystem;

class TestRunDirectory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void theDefaultNameIsTheOriginals_data();
    void theDefaultNameIsTheOriginals();
    void aTakenNameGetsASuffix();
    void launchesAtOnceGetFoldersOfTheirOwn();
    void namesThatAreNoNamesAreRefused();
    void aFolderThatCannotBeMadeIsSaid();
    void theIdentitySurvives();
    void anIdentityThatIsNoneIsSaid();
    void theConfigIsKeptInThreeForms();
    void listsAThousandRunsQuickly();
    void listsARunThatIsGivenItself();
    void strangersInTheOutputsFolderAreNoRuns();

private:
    fs::path folder() const { return m_folder->path().toStdString(); }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestRunDirectory::theDefaultNameIsTheOriginals_data()
{
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QByteArray>("ending");
    QTest::newRow("original") << QByteArray("configs/diffusion/train/stage1.py") << QByteArray("-diffusion_train_stage1");
    QTest::newRow("yaml") << QByteArray("configs/demo.yaml") << QByteArray("-demo");
    QTest::newRow("elsewhere") << QByteArray("my/own.py") << QByteArray("-my_own");
    QTest::newRow("dot") << QByteArray("./own.py") << QByteArray("-own");
    QTest::newRow("absolute") << QByteArray("/somewhere/else/own.yaml") << QByteArray("-own");
    QTest::newRow("absolute configs") << QByteArray("/opt/share/configs/diffusion/a.py") << QByteArray("-diffusion_a");
}

void TestRunDirectory::theDefaultNameIsTheOriginals()
{
    QFETCH(QByteArray, file);
    QFETCH(QByteArray, ending);
    std::tm local{};
    local.tm_year = 125;
    local.tm_mday = 1;
    local.tm_hour = 12;
    local.tm_isdst = -1;
    const double when = double(std::mktime(&local));
    QCOMPARE(QByteArray::fromStdString(defaultRunName(file.toStdString(), when)), "250101_120000" + ending);
    QVERIFY(defaultRunName(std::string(400, 'x') + ".py", when).size() <= 200);
}

void TestRunDirectory::aTakenNameGetsASuffix()
{
    QCOMPARE(createRunFolder(folder() / "out", "a b'c&d").value(), folder() / "out" / "a b'c&d");
    QCOMPARE(createRunFolder(folder() / "out", "a b'c&d").value(), folder() / "out" / "a b'c&d-2");
    QCOMPARE(createRunFolder(folder() / "out", "a b'c&d").value(), folder() / "out" / "a b'c&d-3");
}

void TestRunDirectory::launchesAtOnceGetFoldersOfTheirOwn()
{
    std::mutex mutex;
    std::set<fs::path> made;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 10; ++k) {
                const auto path = createRunFolder(folder(), "run");
                const std::lock_guard lock(mutex);
                if (path)
                    made.insert(*path);
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    QCOMPARE(made.size(), std::size_t(80));
}

void TestRunDirectory::namesThatAreNoNamesAreRefused()
{
    for (const std::string &name : {std::string(), std::string("."), std::string(".."), std::string("a/b"), std::string("/abs"), std::string("a\0b", 3), std::string(300, 'n')}) {
        const auto made = createRunFolder(folder(), name);
        QVERIFY(!made.ok());
        QCOMPARE(made.error().exit, ExitCode::Usage);
        QCOMPARE(made.error().problem.code, std::string("run.bad-name"));
    }
}

void TestRunDirectory::aFolderThatCannotBeMadeIsSaid()
{
    std::ofstream(folder() / "file") << "x";
    const auto made = createRunFolder(folder() / "file", "run");
    QVERIFY(!made.ok());
    QCOMPARE(made.error().exit, ExitCode::InputOutput);
    QVERIFY(made.error().message().find("file") != std::string::npos);
}

void TestRunDirectory::theIdentitySurvives()
{
    RunIdentity identity;
    identity.id = newRunId();
    identity.name = "n\"ame 視頻";
    identity.commandLine = {"train", "--config", "a b.yaml"};
    identity.started = 1733130805.25;
    identity.parent = "/x/y";
    QVERIFY(!isRunFolder(folder()));
    QVERIFY(writeIdentity(folder(), identity).ok());
    QVERIFY(isRunFolder(folder()));
    const auto back = readIdentity(folder());
    QVERIFY(back.ok());
    QCOMPARE(back->id, identity.id);
    QCOMPARE(back->name, identity.name);
    QCOMPARE(back->commandLine, identity.commandLine);
    QCOMPARE(back->started, identity.started);
    QCOMPARE(back->parent, identity.parent);
    QVERIFY(newRunId() != newRunId());
    QCOMPARE(newRunId().size(), std::size_t(16));
}

void TestRunDirectory::anIdentityThatIsNoneIsSaid()
{
    for (const char *text : {"", "[]", "{\"id\":7}", "{\"command_line\":\"x\"}", "\xff\xfe"}) {
        std::ofstream(identityPath(folder())) << text;
        const auto read = readIdentity(folder());
        QVERIFY(!read.ok());
        QVERIFY(read.error().message().find("run.json") != std::string::npos);
    }
}

void TestRunDirectory::theConfigIsKeptInThreeForms()
{
    std::ofstream(folder() / "s.py") << "outputs = 'out'\nzeta = 1\nbucket_config = {'256px': {1: (1.0, 2)}}\nlr = 1e-5\n";
    auto stage = config::loadStage(folder() / "s.py");
    QVERIFY2(stage.ok(), stage.ok() ? "" : stage.error().message().c_str());
    const ConfigFiles files = configFilesOf(*stage);
    QVERIFY(writeConfigFiles(folder(), files).ok());
    const std::string text = *readFile(folder() / "config.txt");
    const auto json = nlohmann::ordered_json::parse(text);
    QCOMPARE(json["bucket_config"]["256px"]["1"].dump(), std::string("[1.0,2]"));
    QCOMPARE(json.begin().key(), std::string("outputs"));          // the file's order, not the alphabet's
    QVERIFY(text.find("\n    \"outputs\": \"out\"") != std::string::npos);
    const auto back = config::stageFromYaml(*readFile(configPath(folder())));
    QVERIFY(back.ok());
    QVERIFY(back->values() == stage->values());
    QVERIFY(nlohmann::json::parse(*readFile(originsPath(folder()))).contains("lr"));
    QCOMPARE(configHash(files.yaml).size(), std::size_t(16));
}

void TestRunDirectory::listsAThousandRunsQuickly()
{
    constexpr int count = 1000;
    for (int i = 0; i < count; ++i) {
        const auto path = createRunFolder(folder(), "run" + std::to_string(i)).value();
        std::ofstream(identityPath(path)) << R"({"id":"00000000000000aa","name":"x","started":)" << 1000 + i << "}";
        Lease lease;
        lease.process = thisProcess();
        lease.step = i;
        if (i % 3 == 1)
            lease.exit = 0;
        if (i % 3 == 2)
            lease.process.startTicks += 1;                          // a pid that was given to another process since
        QVERIFY(writeLease(path, lease).ok());
        if (i % 3 == 2)
            std::ofstream(historyPath(path)) << R"({"event":"step","time":1,"step":5,"loss":1})" << "\n" << std::string(20'000, ' ') << "\n";
    }
    double took = 1e9;                                              // the best of three: the machine may be busy
    auto runs = listRuns(folder());
    for (int round = 0; round < 3; ++round) {
        const double start = steadySeconds();
        runs = listRuns(folder());
        took = std::min(took, steadySeconds() - start);
    }
    QVERIFY(runs.ok());
    QCOMPARE(runs->size(), std::size_t(count));
    QCOMPARE(runs->front().step, std::int64_t(count - 1));          // newest first
    QCOMPARE((*runs)[0].state, RunState::Running);
    QCOMPARE((*runs)[1].state, RunState::Died);
    QCOMPARE((*runs)[2].state, RunState::Finished);
    qInfo("1,000 runs listed in %.0f ms", took * 1000);
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    QVERIFY2(took < 0.2, "listing takes longer than 200 ms");
#endif
}

void TestRunDirectory::listsARunThatIsGivenItself()
{
    const auto path = createRunFolder(folder(), "one").value();
    QVERIFY(writeIdentity(path, {}).ok());
    const auto runs = listRuns(path);
    QVERIFY(runs.ok());
    QCOMPARE(runs->size(), std::size_t(1));
    QCOMPARE(runs->front().folder, path);
    QVERIFY(!listRuns(folder() / "missing").ok());
}

void TestRunDirectory::strangersInTheOutputsFolderAreNoRuns()
{
    fs::create_directories(folder() / "holiday pictures");
    std::ofstream(folder() / "notes.txt") << "x";
    fs::create_directory_symlink(folder() / "nowhere", folder() / "dangling");
    const auto runs = listRuns(folder());
    QVERIFY(runs.ok());
    QVERIFY(runs->empty());
}

QTEST_GUILESS_MAIN(TestRunDirectory)
#include "test_run_directory.moc"
