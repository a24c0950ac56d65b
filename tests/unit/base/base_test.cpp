// The base layer: units that people read and type, nearest names, files that are replaced whole, processes told apart.
#include <QTemporaryDir>
#include <QTest>

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <thread>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/base/openmp_waits.h"
#include "core/base/paths.h"
#include "core/base/priority.h"
#include "core/base/scratch_folder.h"
#include "core/base/text.h"
#include "core/base/units.h"

using namespace stagewright;

class BaseTest : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void formatsUnits();
    void parsesBytes_data();
    void parsesBytes();
    void findsNearestName_data();
    void findsNearestName();
    void tellsUtf8();
    void errorsAreOneSentenceWhateverTheyQuote_data();
    void errorsAreOneSentenceWhateverTheyQuote();
    void replacesFileWhole();
    void failedReplaceKeepsOldContent();
    void refusesFileLargerThanLimit();
    void tellsFolderFromFile();
    void scratchFoldersGoAwayWithWhatIsInThem();
    void givingWayNeverRaisesPriority();
    void waitsOfOpenMpAreShortUnlessTheUserChose();
    void knowsOwnProcessAndNoOther();
    void problemHasContractFields();
};

void BaseTest::formatsUnits()
{
    QCOMPARE(formatBytes(21.4 * kGiB), std::string("21.4 GiB"));
    QCOMPARE(formatBytes(98), std::string("98 B"));
    QCOMPARE(formatBytes(412.0 * 1024 * 1024), std::string("412 MiB"));
    QCOMPARE(formatCount(26843545600), std::string("26,843,545,600"));
    QCOMPARE(formatCount(-1234), std::string("-1,234"));
    QCOMPARE(formatCount(12), std::string("12"));
    QCOMPARE(formatDuration(0.41), std::string("0.41 s"));
    QCOMPARE(formatDuration(200), std::string("3 min 20 s"));
    QCOMPARE(formatDuration(118800), std::string("1 d 9 h"));
    QCOMPARE(formatNumber(5e-05), std::string("5e-05"));
}

void BaseTest::parsesBytes_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("bytes");
    QTest::newRow("binary") << "12 GiB" << qint64(12) * 1024 * 1024 * 1024;
    QTest::newRow("noSpace") << "512MiB" << qint64(512) * 1024 * 1024;
    QTest::newRow("decimal") << "1.5 GB" << qint64(1500000000);
    QTest::newRow("plain") << "4096" << qint64(4096);
    QTest::newRow("unknownUnit") << "4 parsecs" << qint64(-1);
    QTest::newRow("negative") << "-4" << qint64(-1);
    QTest::newRow("empty") << "" << qint64(-1);
    QTest::newRow("tooLarge") << "1e300 GiB" << qint64(-1);
}

void BaseTest::parsesBytes()
{
    QFETCH(QString, text);
    QFETCH(qint64, bytes);
    QCOMPARE(qint64(parseBytes(text.toStdString()).value_or(-1)), bytes);
}

void BaseTest::findsNearestName_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("nearest");
    QTest::newRow("singular") << "grad_ckpt_setting" << "grad_ckpt_settings";
    QTest::newRow("hyphen") << "grad-ckpt-settings" << "grad_ckpt_settings";
    QTest::newRow("swapped") << "kepp_n_latest" << "keep_n_latest";
    QTest::newRow("short") << "lrr" << "lr";
    QTest::newRow("nothingNear") << "telescope" << "";
}

void BaseTest::findsNearestName()
{
    QFETCH(QString, name);
    QFETCH(QString, nearest);
    const std::vector<std::string> known{"grad_ckpt_settings", "keep_n_latest", "lr", "ckpt_every", "seed"};
    QCOMPARE(QString::fromStdString(nearestOf(name.toStdString(), known).value_or("")), nearest);
}

void BaseTest::tellsUtf8()
{
    std::size_t at = 99;
    QVERIFY(isUtf8("caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x8e\xac"));
    QVERIFY(!isUtf8("caf\xe9", &at));
    QCOMPARE(at, std::size_t(3));
    QVERIFY(!isUtf8("\xc0\xaf"));
    QVERIFY(!isUtf8("\xed\xa0\x80"));
}

void BaseTest::errorsAreOneSentenceWhateverTheyQuote_data()
{
    QTest::addColumn<QByteArray>("quoted");
    QTest::addColumn<QByteArray>("shown");
    QTest::newRow("plain") << QByteArray("caf\xc3\xa9") << QByteArray("caf\xc3\xa9");
    QTest::newRow("two lines") << QByteArray("a\nb\tc\r") << QByteArray("a\\nb\\tc\\x0d");
    QTest::newRow("a NUL and an escape") << QByteArray("a\0\x1b[1m", 6) << QByteArray("a\\x00\\x1b[1m");
    QTest::newRow("not UTF-8") << QByteArray("a\xff\xe5\xad") << QByteArray("a\\xff\\xe5\\xad");
    QTest::newRow("long") << QByteArray(100'000, 'x') << QByteArray();
    QTest::newRow("long, of three bytes each") << QByteArray("\xe5\xad\xa6").repeated(50'000) << QByteArray();
    QTest::newRow("long, not UTF-8") << QByteArray(100'000, '\xff') << QByteArray();
}

void BaseTest::errorsAreOneSentenceWhateverTheyQuote()
{
    QFETCH(QByteArray, quoted);
    QFETCH(QByteArray, shown);
    const Error error = Error(ExitCode::Data, "data.x", "the key `" + quoted.toStdString() + "` is unknown; remove it").during("reading");
    const std::string &text = error.message();
    QVERIFY(isUtf8(text));
    QVERIFY(text.size() <= kLongestSentence);
    QVERIFY(text.starts_with("reading: the key `") && text.ends_with("` is unknown; remove it"));
    QVERIFY(std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }));
    if (!shown.isEmpty())
        QCOMPARE(text, "reading: the key `" + shown.toStdString() + "` is unknown; remove it");
}

void BaseTest::replacesFileWhole()
{
    QTemporaryDir dir;
    const std::filesystem::path file = std::filesystem::path(dir.path().toStdString()) / "a b\nc";
    QVERIFY(replaceFile(file, "first").ok());
    QVERIFY(replaceFile(file, "second").ok());
    QCOMPARE(readFile(file).value(), std::string("second"));
    QCOMPARE(std::distance(std::filesystem::directory_iterator(file.parent_path()), std::filesystem::directory_iterator()), 1);
}

// A disk that is full is imitated by a file-size limit: the write fails half-way, as on a full disk.
void BaseTest::failedReplaceKeepsOldContent()
{
    QTemporaryDir dir;
    const std::filesystem::path file = std::filesystem::path(dir.path().toStdString()) / "kept";
    QVERIFY(replaceFile(file, "old").ok());
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 1000;
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    const Status status = replaceFile(file, std::string(100000, 'x'));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    QVERIFY(!status.ok());
    QCOMPARE(int(status.error().exit), int(ExitCode::InputOutput));
    QVERIFY(status.error().message().find(file.string()) != std::string::npos);
    QCOMPARE(readFile(file).value(), std::string("old"));
    QCOMPARE(std::distance(std::filesystem::directory_iterator(file.parent_path()), std::filesystem::directory_iterator()), 1);
}

void BaseTest::refusesFileLargerThanLimit()
{
    QTemporaryDir dir;
    const std::filesystem::path file = std::filesystem::path(dir.path().toStdString()) / "big";
    QVERIFY(replaceFile(file, std::string(5000, 'x')).ok());
    QVERIFY(readFile(file, 5000).ok());
    QVERIFY(!readFile(file, 4999).ok());
}

void BaseTest::tellsFolderFromFile()
{
    QTemporaryDir dir;
    const auto read = readFile(dir.path().toStdString());
    QVERIFY(!read.ok());
    QVERIFY(read.error().message().find("is a folder") != std::string::npos);
    const auto missing = readFile(dir.path().toStdString() + "/none");
    QCOMPARE(missing.error().problem.code, std::string("env.missing-file"));
}

void BaseTest::scratchFoldersGoAwayWithWhatIsInThem()
{
    QTemporaryDir dir;
    const std::filesystem::path below = dir.path().toStdString() + "/not yet there";
    std::filesystem::path first;
    {
        auto one = ScratchFolder::make("probe", below);
        auto other = ScratchFolder::make("probe", below);
        QVERIFY(one.ok() && other.ok());
        QVERIFY(one->path() != other->path());
        first = one->path();
        QCOMPARE(first.parent_path().string(), below.string());
        QVERIFY(replaceFile(first / "kept.txt", "x").ok());
        const ScratchFolder moved = std::move(*one);
        QVERIFY(std::filesystem::exists(first / "kept.txt"));
    }
    QVERIFY(!std::filesystem::exists(first));
    QVERIFY(std::filesystem::is_empty(below));
    const std::filesystem::path file = below / "file";
    QVERIFY(replaceFile(file, "x").ok());
    QVERIFY(!ScratchFolder::make("probe", file).ok());
}

void BaseTest::givingWayNeverRaisesPriority()
{
    std::thread thread([] {
        giveWay(kSaverNiceness);
        const int after = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()));
        giveWay(kViewerNiceness);
        QVERIFY(after >= kSaverNiceness);
        QCOMPARE(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())), after);
    });
    thread.join();
}

void BaseTest::waitsOfOpenMpAreShortUnlessTheUserChose()
{
    const char *const names[] = {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"};
    std::map<std::string, std::optional<QByteArray>> before;
    for (const char *name : names) {
        before[name] = qEnvironmentVariableIsSet(name) ? std::optional(qgetenv(name)) : std::nullopt;
        qunsetenv(name);
    }
    const auto variable = shortOpenMpWaits();
    QVERIFY(variable && variable->first == names[0] && !variable->second.empty());
    for (const char *name : names) {
        qputenv(name, "1");
        QVERIFY2(!shortOpenMpWaits(), name);
        qunsetenv(name);
    }
    for (const auto &[name, value] : before) {
        if (value)
            qputenv(name.c_str(), *value);
    }
}

void BaseTest::knowsOwnProcessAndNoOther()
{
    const auto ticks = processStartTicks(::getpid());
    QVERIFY(ticks > 0);
    QVERIFY(isSameProcessAlive(::getpid(), ticks));
    QVERIFY(!isSameProcessAlive(::getpid(), ticks + 1));
    QVERIFY(!isSameProcessAlive(-1, ticks));
    QVERIFY(hostTotalBytes() >= hostAvailableBytes());
    QVERIFY(residentBytes() > 0);
    QCOMPARE(signalName(9), std::string("SIGKILL"));
}

void BaseTest::problemHasContractFields()
{
    Problem problem;
    problem.code = "config.unknown-key";
    problem.path = "model.grad_ckpt_setting";
    problem.message = "nothing reads it";
    problem.file = "stage1.py";
    problem.line = 12;
    problem.column = 5;
    problem.fix = Fix{"Rename", {{"a", "1", std::nullopt}, {"b", std::nullopt, "1"}}};
    const auto json = toJson(problem);
    QVERIFY(json["severity"] == "error");
    QVERIFY(json["line"] == 12);
    QVERIFY(json["fix"]["edits"][0]["to"].is_null());
    QVERIFY(json["fix"]["edits"][1]["to"] == "1");
    QCOMPARE(oneLine(problem), std::string("stage1.py:12:5: error: nothing reads it [config.unknown-key]"));
}

QTEST_GUILESS_MAIN(BaseTest)
#include "base_test.moc"
