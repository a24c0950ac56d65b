// Records and their JSON lines.
#include <QtTest>

#include <chrono>
#include <cmath>
#include <random>

#include <nlohmann/json.hpp>

#include "core/events/fields.h"
#include "core/events/json_reader.h"
#include "core/events/json_writer.h"
#include "core/events/record.h"

using namespace stagewright;
using namespace stagewright::events;

namespace {

// Fills every field of any record with a value of its own, so that a field that is not written or not read shows.
class Filler
{
public:
    void operator()(const char *, auto &field) { fill(field); }

private:
    void fill(bool &v) { v = true; }
    void fill(int &v) { v = ++m_count; }
    void fill(std::int64_t &v) { v = (std::int64_t(1) << 53) + ++m_count; }
    void fill(double &v) { v = ++m_count + 1.0 / 3; }
    void fill(std::string &v) { v = "text \"" + std::to_string(++m_count) + "\"\n\\ é 視頻"; }
    void fill(Severity &v) { v = Severity::Hint; }
    template <class T>
    void fill(std::optional<T> &v) { fill(v.emplace()); }
    template <class T>
    void fill(std::vector<T> &v)
    {
        v.resize(3);
        for (T &one : v)
            fill(one);
    }
    template <class T, std::size_t N>
    void fill(std::array<T, N> &v)
    {
        for (T &one : v)
            fill(one);
    }
    template <Nested T>
    void fill(T &v) { fields(v, *this); }

    int m_count = 0;
};

template <std::size_t At = 0>
void everyKind(std::vector<Record> &records)
{
    if constexpr (At < std::variant_size_v<Payload>) {
        Record record;
        record.time = 1733130805.123456;
        record.step = 12;
        record.payload.emplace<At>();
        Filler filler;
        std::visit([&](auto &payload) { fields(payload, filler); }, record.payload);
        records.push_back(std::move(record));
        everyKind<At + 1>(records);
    }
}

std::vector<Record> everyKind()
{
    std::vector<Record> records;
    everyKind<>(records);
    return records;
}

Record typicalStep()
{
    Step step;
    step.loss = 0.123456789;
    step.lr = 5e-5;
    step.gradNorm = 1.25;
    step.bucket = {"256px", 17, 192, 336, 2};
    step.seconds = 0.4123;
    step.peakBytes = 123456789012;
    step.peakByKind.fill(12345678901);
    step.phaseSeconds.fill(0.01234567);
    step.rows = {17, 4711};
    return {1733130805.25, 12, step};
}

} // namespace

class TestEvents : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyFieldOfEveryKindSurvives_data();
    void everyFieldOfEveryKindSurvives();
    void everyLineIsOneJsonObjectWithTheContractsNames();
    void aStepHasTheNamesOfTheCommandLinesContract();
    void whatIsNotFiniteIsNullAndReadsAsNaN();
    void zerosByNameAreLeftOut();
    void bytesThatAreNotUtf8BecomeReplacementCharacters();
    void unknownFieldsAndNamesAreIgnored();
    void anUnknownEventHasItsOwnCode();
    void saysWhatIsWrong_data();
    void saysWhatIsWrong();
    void damagedLinesAreErrorsNeverMore();
    void aStepIsWrittenInMicroseconds();
};

void TestEvents::everyFieldOfEveryKindSurvives_data()
{
    QTest::addColumn<int>("kind");
    const auto records = everyKind();
    for (std::size_t at = 0; at < records.size(); ++at)
        QTest::newRow(eventName(records[at].payload)) << int(at);
}

void TestEvents::everyFieldOfEveryKindSurvives()
{
    QFETCH(int, kind);
    const Record record = everyKind()[std::size_t(kind)];
    const std::string line = toJsonLine(record);
    QVERIFY(line.find('\n') == std::string::npos);
    const auto back = parseRecord(line);
    QVERIFY2(back.ok(), back.ok() ? "" : back.error().message().c_str());
    QCOMPARE(back->time, record.time);
    QCOMPARE(back->step, record.step);
    QCOMPARE(back->payload.index(), record.payload.index());
    QCOMPARE(toJsonLine(*back), line);
}

void TestEvents::everyLineIsOneJsonObjectWithTheContractsNames()
{
    for (const Record &record : everyKind()) {
        const auto json = nlohmann::json::parse(toJsonLine(record));
        QCOMPARE(json.at("event").get<std::string>(), std::string(eventName(record.payload)));
        QCOMPARE(json.at("step").get<int>(), 12);
        QCOMPARE(json.at("time").get<double>(), record.time);
    }
    Record without = typicalStep();
    without.step = -1;
    QVERIFY(!nlohmann::json::parse(toJsonLine(without)).contains("step"));
    QCOMPARE(parseRecord(toJsonLine(without))->step, -1);
}

void TestEvents::aStepHasTheNamesOfTheCommandLinesContract()
{
    const auto json = nlohmann::json::parse(toJsonLine(typicalStep()));
    for (const char *name : {"loss", "lr", "grad_norm", "bucket", "seconds", "data_wait_seconds", "peak_bytes"})
        QVERIFY2(json.contains(name), name);
    QCOMPARE(json["bucket"].dump(), std::string(R"({"batch_size":2,"frames":17,"height":192,"resolution":"256px","width":336})"));
    QCOMPARE(json["lr"].get<double>(), 5e-5);
}

void TestEvents::whatIsNotFiniteIsNullAndReadsAsNaN()
{
    for (const double odd : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
        Record record = typicalStep();
        std::get<Step>(record.payload).loss = odd;
        const std::string line = toJsonLine(record);
        QVERIFY(nlohmann::json::parse(line)["loss"].is_null());
        QVERIFY(std::isnan(std::get<Step>(parseRecord(line)->payload).loss));
    }
}

void TestEvents::zerosByNameAreLeftOut()
{
    MemoryTrace trace;
    trace.at = {0.1, 0.2};
    trace.phase = {3, 4};
    trace.bytes.resize(2);
    trace.bytes[1][int(MemoryKind::Gradient)] = 7;
    const std::string line = toJsonLine({1, 2, trace});
    QCOMPARE(nlohmann::json::parse(line)["bytes"].dump(), std::string(R"({"gradient":[0,7]})"));
    const auto back = parseRecord(line);
    QVERIFY(std::get<MemoryTrace>(back->payload).bytes == trace.bytes);

    MemoryTrace empty;
    empty.at = {0.1, 0.2, 0.3};
    empty.phase = {0, 1, 2};
    empty.bytes.resize(3);
    QCOMPARE(std::get<MemoryTrace>(parseRecord(toJsonLine({1, 2, empty}))->payload).bytes.size(), std::size_t(3));
}

void TestEvents::bytesThatAreNotUtf8BecomeReplacementCharacters()
{
    for (const std::string &bytes : {std::string("\xff"), std::string("a\xc3"), std::string("\xed\xa0\x80"), std::string("\xf5\x80\x80\x80"), std::string("\xc0\xaf"), std::string("\xe0\x80\x80"), std::string("\0\x1f\x7f", 3)}) {
        const std::string line = toJsonLine({1, -1, Note{"info", "before " + bytes + " after", {}}});
        const auto json = nlohmann::json::parse(line, nullptr, false);
        QVERIFY2(!json.is_discarded(), line.c_str());
        const std::string text = json["sentence"];
        QVERIFY(text.rfind("before ", 0) == 0 && text.size() >= 13 && text.substr(text.size() - 6) == " after");
    }
    const std::string good = "é 視頻 𝄞";
    QCOMPARE(std::get<Note>(parseRecord(toJsonLine({1, -1, Note{"info", good, {}}}))->payload).sentence, good);
}

void TestEvents::unknownFieldsAndNamesAreIgnored()
{
    const auto record = parseRecord(R"({"event":"step","time":1,"loss":2,"of_the_future":[{"a":1}],"peak_by_kind":{"parameter":5,"quantum":6}})");
    QVERIFY(record.ok());
    const Step &step = std::get<Step>(record->payload);
    QCOMPARE(step.loss, 2.0);
    QCOMPARE(step.peakByKind[0], std::int64_t(5));
    QCOMPARE(step.microSteps, std::int64_t(1));
}

void TestEvents::anUnknownEventHasItsOwnCode()
{
    const auto record = parseRecord(R"({"event":"hologram","time":1})");
    QVERIFY(!record.ok());
    QCOMPARE(record.error().problem.code, std::string("run.unknown-event"));
    QVERIFY(record.error().message().find("hologram") != std::string::npos);
}

void TestEvents::saysWhatIsWrong_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QByteArray>("part");
    QTest::newRow("empty") << QByteArray("") << QByteArray("not JSON");
    QTest::newRow("torn") << QByteArray(R"({"event":"step","loss":1.)") << QByteArray("not JSON");
    QTest::newRow("list") << QByteArray("[1]") << QByteArray("not a JSON object");
    QTest::newRow("no event") << QByteArray(R"({"time":1})") << QByteArray("no \"event\"");
    QTest::newRow("event is a number") << QByteArray(R"({"event":7})") << QByteArray("no \"event\"");
    QTest::newRow("text for number") << QByteArray(R"({"event":"step","loss":"x"})") << QByteArray("\"loss\" is not a number");
    QTest::newRow("fraction for integer") << QByteArray(R"({"event":"step","peak_bytes":1.5})") << QByteArray("\"peak_bytes\" is not a whole number");
    QTest::newRow("too large") << QByteArray(R"({"event":"step","peak_bytes":18446744073709551615})") << QByteArray("\"peak_bytes\" is not a whole number");
    QTest::newRow("exit too large") << QByteArray(R"({"event":"summary","exit":4294967296})") << QByteArray("\"exit\" is not a whole number");
    QTest::newRow("inside") << QByteArray(R"({"event":"step","bucket":{"frames":"many"}})") << QByteArray("\"frames\" is not a whole number");
    QTest::newRow("severity") << QByteArray(R"({"event":"problem","severity":"meh"})") << QByteArray("\"severity\" is not error, warning or hint");
    QTest::newRow("columns") << QByteArray(R"({"event":"memory","at":[1],"phase":[0],"bytes":{"parameter":[1,2]}})") << QByteArray("longer than \"at\"");
}

void TestEvents::saysWhatIsWrong()
{
    QFETCH(QByteArray, line);
    QFETCH(QByteArray, part);
    const auto record = parseRecord(line.toStdString());
    QVERIFY(!record.ok());
    QCOMPARE(record.error().problem.code, std::string("run.bad-record"));
    QVERIFY2(record.error().message().find(part.toStdString()) != std::string::npos, record.error().message().c_str());
}

void TestEvents::damagedLinesAreErrorsNeverMore()
{
    std::mt19937 random(7);
    const auto records = everyKind();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    int tried = 0, refused = 0;
    while (std::chrono::steady_clock::now() < until) {
        std::string line = toJsonLine(records[random() % records.size()]);
        for (unsigned change = 0; change <= random() % 4; ++change) {
            const std::size_t at = random() % line.size();
            switch (random() % 4) {
            case 0: line[at] = char(random()); break;
            case 1: line.erase(at, 1 + random() % 8); break;
            case 2: line.insert(at, 1 + random() % 3, "{}[]\",:0-9eE\\"[random() % 13]); break;
            default: line.resize(at); break;
            }
            if (line.empty())
                line = "x";
        }
        const auto parsed = parseRecord(line);
        ++tried;
        if (parsed.ok())
            QVERIFY(parseRecord(toJsonLine(*parsed)).ok());
        else
            ++refused;
    }
    QVERIFY(tried > 100);
    QVERIFY(refused > tried / 4);
    // Deep nesting must not exhaust the stack.
    QVERIFY(!parseRecord(std::string(1'000'000, '[')).ok());
    QVERIFY(!parseRecord(R"({"event":"note","x":)" + std::string(200'000, '[') + std::string(200'000, ']') + "}").ok());
}

void TestEvents::aStepIsWrittenInMicroseconds()
{
    const Record record = typicalStep();
    constexpr int count = 20'000;
    std::size_t bytes = 0;
    double best = HUGE_VAL;
    for (int round = 0; round < 3; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < count; ++i)
            bytes += toJsonLine(record).size();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count);
    }
    const std::string line = toJsonLine(record);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i)
        bytes += parseRecord(line).ok();
    const double parse = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
    qInfo("one step: %zu bytes, written in %.2f us, parsed in %.2f us", line.size(), best * 1e6, parse * 1e6);
    QVERIFY(bytes > 0);
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    QVERIFY2(best < 10e-6, "a step's line takes longer than 10 microseconds");
#endif
}

QTEST_GUILESS_MAIN(TestEvents)
#include "test_events.moc"
