// The history file: written by its own thread, read while it grows.
#include <QtTest>

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <future>
#include <mutex>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/runlog/event_reader.h"
#include "core/runlog/event_writer.h"

using namespace stagewright;
using namespace stagewright::runlog;
namespace fs = std::filesystem;

namespace {

events::Record stepRecord(std::int64_t step)
{
    events::Step one;
    one.loss = double(step);
    return {1.0, step, one};
}

std::int64_t stepOf(const events::Record &record) { return record.step; }

// No file of this process may grow beyond `bytes`, as if the disk were full there; back to normal at the end.
class FullDisk
{
public:
    explicit FullDisk(std::int64_t bytes)
    {
        ::signal(SIGXFSZ, SIG_IGN);
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit limit{rlim_t(bytes), m_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~FullDisk() { end(); }
    void end() { ::setrlimit(RLIMIT_FSIZE, &m_before); }

private:
    rlimit m_before;
};

std::vector<events::Record> allOf(const fs::path &file, std::int64_t *lost = nullptr)
{
    EventReader reader(file);
    std::vector<events::Record> records;
    while (true) {
        auto batch = reader.read();
        if (!batch || !batch->bad.empty())
            return {};
        records.insert(records.end(), batch->records.begin(), batch->records.end());
        if (lost)
            *lost += batch->lost;
        if (batch->atEnd)
            return records;
    }
}

} // namespace

class TestHistory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void everythingAppendedIsReadInOrder();
    void theObserverHearsOfEachRecordAfterItIsInTheFile();
    void anOccupiedFileIsRefused();
    void aFloodNeitherBlocksNorLoses();
    void aFullDiskLosesNothingThatFitsInMemory();
    void beyondMemoryOnlyStepsAreLostAndCounted();
    void theReaderFollowsAGrowingFile();
    void tornAndDamagedLinesAreSkippedAndSaid();
    void emptyLinesAndUnknownEventsKeepTheirNumbers();
    void theReaderBeginsWhereItIsTold();
    void readsInBoundedPieces();
    void aMissingFileIsNotYetThere();

private:
    fs::path file() const { return fs::path(m_folder->path().toStdString()) / "events.jsonl"; }
    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestHistory::everythingAppendedIsReadInOrder()
{
    {
        auto writer = EventWriter::open(file());
        QVERIFY(writer.ok());
        for (int i = 0; i < 5000; ++i)
            (*writer)->append(stepRecord(i));
        QVERIFY((*writer)->flush(10).ok());
        QCOMPARE((*writer)->count(), std::int64_t(5000));
        QVERIFY((*writer)->close(10).ok());
    }
    const auto records = allOf(file());
    QCOMPARE(records.size(), std::size_t(5000));
    for (std::size_t i = 0; i < records.size(); ++i)
        QCOMPARE(stepOf(records[i]), std::int64_t(i));
}

void TestHistory::theObserverHearsOfEachRecordAfterItIsInTheFile()
{
    std::vector<std::int64_t> numbers;
    bool alwaysInFile = true;
    auto writer = EventWriter::open(file(), [&](const WrittenLine &line) {
        numbers.push_back(line.number);
        if (line.number % 50 == 0)
            alwaysInFile = alwaysInFile && readFile(file())->find(*line.line + "\n") != std::string::npos;
    });
    QVERIFY(writer.ok());
    for (int i = 0; i < 200; ++i)
        (*writer)->append(stepRecord(i));
    QVERIFY((*writer)->close(10).ok());
    QVERIFY(alwaysInFile);
    QCOMPARE(numbers.size(), std::size_t(200));
    QVERIFY(std::is_sorted(numbers.begin(), numbers.end()));
}

void TestHistory::anOccupiedFileIsRefused()
{
    std::ofstream(file()) << "x\n";
    const auto writer = EventWriter::open(file());
    QVERIFY(!writer.ok());
    QCOMPARE(writer.error().problem.code, std::string("run.folder-occupied"));
    QCOMPARE(writer.error().exit, ExitCode::InputOutput);
    QCOMPARE(*readFile(file()), std::string("x\n"));
}

void TestHistory::aFloodNeitherBlocksNorLoses()
{
    constexpr int count = 100'000;
    auto writer = EventWriter::open(file());
    QVERIFY(writer.ok());
    const double start = steadySeconds();
    double longest = 0;
    for (int i = 0; i < count; ++i) {
        const double before = steadySeconds();
        (*writer)->append(stepRecord(i));
        longest = std::max(longest, steadySeconds() - before);
    }
    const double appended = steadySeconds() - start;
    QVERIFY((*writer)->close(60).ok());
    qInfo("100,000 records: %.2f us each to append, the longest %.1f ms, all on the disk after %.2f s", appended / count * 1e6, longest * 1e3, steadySeconds() - start);
    QCOMPARE((*writer)->lost(), std::int64_t(0));
    const auto records = allOf(file());
    QCOMPARE(records.size(), std::size_t(count));
    QCOMPARE(stepOf(records.back()), std::int64_t(count - 1));
}

void TestHistory::aFullDiskLosesNothingThatFitsInMemory()
{
    std::mutex mutex;
    std::vector<std::optional<Error>> trouble;
    std::promise<void> full, recovered;
    std::atomic<int> observed{0};
    auto writer = EventWriter::open(file(), [&](const WrittenLine &) { ++observed; }, [&](const std::optional<Error> &error) {
        const std::lock_guard lock(mutex);
        trouble.push_back(error);
        (error ? full : recovered).set_value();
    });
    QVERIFY(writer.ok());
    FullDisk disk(10'000);
    for (int i = 0; i < 1000; ++i)
        (*writer)->append(stepRecord(i));
    QCOMPARE(full.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
    QTRY_COMPARE_WITH_TIMEOUT(observed.load(), 1000, 10'000);              // viewers go on
    QCOMPARE(fs::file_size(file()), std::uintmax_t(10'000));               // and the file ends in the middle of a line
    QVERIFY(!(*writer)->flush(0.05).ok());
    disk.end();
    QCOMPARE(recovered.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
    QVERIFY((*writer)->close(10).ok());
    QCOMPARE((*writer)->lost(), std::int64_t(0));
    const auto records = allOf(file());
    QCOMPARE(records.size(), std::size_t(1000));
    for (std::size_t i = 0; i < records.size(); ++i)
        QCOMPARE(stepOf(records[i]), std::int64_t(i));
    QCOMPARE(trouble.size(), std::size_t(2));
    QVERIFY(trouble[0]->message().find("events.jsonl") != std::string::npos);
}

void TestHistory::beyondMemoryOnlyStepsAreLostAndCounted()
{
    std::atomic<int> observed{0};
    EventWriter::Limits limits;
    limits.unwrittenBytes = 20'000;
    auto writer = EventWriter::open(file(), [&](const WrittenLine &) { ++observed; }, {}, limits);
    QVERIFY(writer.ok());
    FullDisk disk(100);
    for (int i = 0; i < 500; ++i) {
        (*writer)->append(stepRecord(i));
        if (i % 10 == 0)
            (*writer)->append({1, i, events::Note{"info", "kept", {}}});
    }
    QTRY_COMPARE_WITH_TIMEOUT(observed.load(), 550, 10'000);
    disk.end();
    QVERIFY((*writer)->close(10).ok());
    QVERIFY((*writer)->lost() > 300);
    std::int64_t lost = 0;
    const auto records = allOf(file(), &lost);
    QCOMPARE(lost, (*writer)->lost());
    std::int64_t kept = 0, said = 0, steps = 0;
    for (const events::Record &record : records) {
        if (const auto *note = std::get_if<events::Note>(&record.payload)) {
            kept += note->sentence == "kept";
            if (note->code == "run.history-lost")
                said += std::stoll(note->sentence);
        } else {
            ++steps;
        }
    }
    QCOMPARE(kept, std::int64_t(50));
    QCOMPARE(said, lost);
    QCOMPARE(steps + lost, std::int64_t(500));
    QVERIFY(steps > 10);                                                   // the oldest ones were kept
    QCOMPARE(stepOf(records[0]), std::int64_t(0));
}

void TestHistory::theReaderFollowsAGrowingFile()
{
    EventReader reader(file());
    QVERIFY(reader.read()->records.empty());
    std::ofstream out(file());
    const std::string line = events::toJsonLine(stepRecord(1)), next = events::toJsonLine(stepRecord(2));
    out << line << "\n" << next.substr(0, 20) << std::flush;
    auto batch = reader.read();
    QVERIFY(batch.ok());
    QCOMPARE(batch->records.size(), std::size_t(1));
    QVERIFY(batch->atEnd);
    QVERIFY(reader.hasTornTail());
    QCOMPARE(reader.nextRecord(), std::int64_t(1));
    QVERIFY(reader.read()->records.empty());
    out << next.substr(20) << "\n" << std::flush;
    batch = reader.read();
    QCOMPARE(batch->first, std::int64_t(1));
    QCOMPARE(batch->records.size(), std::size_t(1));
    QCOMPARE(stepOf(batch->records[0]), std::int64_t(2));
    QVERIFY(!reader.hasTornTail());
}

void TestHistory::tornAndDamagedLinesAreSkippedAndSaid()
{
    std::ofstream(file(), std::ios::binary) << events::toJsonLine(stepRecord(1)) << "\n{\"event\":\"step\",\"lo\n" << std::string(5, '\0') << "\n"
                                            << events::toJsonLine(stepRecord(2)) << "\n{\"event\":\"ste";
    EventReader reader(file());
    const auto batch = reader.read();
    QCOMPARE(batch->records.size(), std::size_t(2));
    QCOMPARE(batch->bad.size(), std::size_t(2));
    QCOMPARE(batch->bad[0].problem.line, 2);
    QVERIFY(batch->bad[0].message().find("line 2") != std::string::npos);
    QCOMPARE(batch->bad[1].problem.line, 3);
    QVERIFY(reader.hasTornTail());
}

void TestHistory::emptyLinesAndUnknownEventsKeepTheirNumbers()
{
    std::ofstream(file()) << "\n\n{\"event\":\"hologram\",\"time\":1}\n" << events::toJsonLine(stepRecord(3)) << "\n";
    EventReader reader(file());
    const auto batch = reader.read();
    QCOMPARE(batch->lost, std::int64_t(2));
    QCOMPARE(batch->skipped, std::int64_t(1));
    QCOMPARE(batch->records.size(), std::size_t(1));
    QCOMPARE(reader.nextRecord(), std::int64_t(4));
}

void TestHistory::theReaderBeginsWhereItIsTold()
{
    {
        std::ofstream out(file());
        for (int i = 0; i < 100; ++i)
            out << events::toJsonLine(stepRecord(i)) << "\n";
    }
    EventReader reader(file(), 90);
    auto batch = reader.read();
    QCOMPARE(batch->first, std::int64_t(90));
    QCOMPARE(batch->records.size(), std::size_t(10));
    QCOMPARE(stepOf(batch->records[0]), std::int64_t(90));
    reader.skipTo(105);
    std::ofstream out(file(), std::ios::app);
    for (int i = 100; i < 110; ++i)
        out << events::toJsonLine(stepRecord(i)) << "\n";
    out.flush();
    batch = reader.read();
    QCOMPARE(batch->records.size(), std::size_t(5));
    QCOMPARE(stepOf(batch->records[0]), std::int64_t(105));
}

void TestHistory::readsInBoundedPieces()
{
    {
        std::ofstream out(file());
        for (int i = 0; i < 1000; ++i)
            out << events::toJsonLine(stepRecord(i)) << "\n";
    }
    EventReader reader(file());
    std::int64_t seen = 0;
    for (int calls = 0; calls < 10; ++calls) {
        const auto batch = reader.read(100);
        QCOMPARE(batch->records.size(), std::size_t(100));
        QCOMPARE(batch->first, seen);
        seen += 100;
    }
    QVERIFY(reader.read(100)->atEnd);
    EventReader bytes(file());
    QVERIFY(bytes.read(100'000, 1000)->records.size() < 10);
}

void TestHistory::aMissingFileIsNotYetThere()
{
    EventReader reader(file());
    const auto batch = reader.read();
    QVERIFY(batch.ok());
    QVERIFY(batch->atEnd);
    EventReader folder(m_folder->path().toStdString());
    QVERIFY(!folder.read().ok());
}

QTEST_GUILESS_MAIN(TestHistory)
#include "test_history.moc"
