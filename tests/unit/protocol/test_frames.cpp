// Frames and messages: what is taken, what is refused.
#include <QtTest>

#include <chrono>
#include <random>

#include "core/protocol/message.h"

using namespace stagewright;
using namespace stagewright::protocol;

namespace {

// All frames that the reader yields before an error or the end of the bytes.
std::vector<Frame> framesOf(FrameReader &reader, std::optional<Error> *error = nullptr)
{
    std::vector<Frame> frames;
    while (true) {
        auto frame = reader.next();
        if (!frame && error)
            *error = frame.error();
        if (!frame || !*frame)
            return frames;
        frames.push_back(std::move(**frame));
    }
}

std::string body(const std::string &frame) { return frame.substr(kFrameHeaderBytes); }

std::string header(std::uint32_t length, char kind)
{
    std::string bytes;
    for (int shift = 0; shift < 32; shift += 8)
        bytes += char(length >> shift);
    return bytes + kind;
}

} // namespace

class TestFrames : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void framesSurviveAnyCutting();
    void aStrangersBytesAreNotTaken();
    void anotherVersionIsSeenBeforeAnythingElse();
    void aLengthOverTheLimitIsRefusedBeforeItIsRead();
    void anUnknownKindIsRefused();
    void anErrorIsFinal();
    void everyMessageSurvives();
    void commandsThatAreNoneAreSaid_data();
    void commandsThatAreNoneAreSaid();
    void otherBodiesThatAreNoneAreSaid();
    void theSentenceNamesTheOlderEnd();
    void randomBytesAreErrorsNeverMore();
};

void TestFrames::framesSurviveAnyCutting()
{
    const std::string bytes = preamble() + frameBytes(FrameKind::Command, "one") + frameBytes(FrameKind::Reply, "") + frameBytes(FrameKind::Record, std::string(3000, 'x'));
    for (std::size_t piece = 1; piece < 40; ++piece) {
        FrameReader reader(4096);
        std::vector<Frame> frames;
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            reader.feed(std::string_view(bytes).substr(at, piece));
            for (Frame &frame : framesOf(reader))
                frames.push_back(std::move(frame));
        }
        QCOMPARE(frames.size(), std::size_t(3));
        QCOMPARE(frames[0].body, std::string("one"));
        QCOMPARE(frames[1].kind, FrameKind::Reply);
        QCOMPARE(frames[2].body.size(), std::size_t(3000));
    }
}

void TestFrames::aStrangersBytesAreNotTaken()
{
    for (const char *bytes : {"GET / HTTP/1.1\r\n", "S", "STAGEWRONG", "\n"}) {
        FrameReader reader(100);
        reader.feed(bytes);
        const auto frame = reader.next();
        if (std::string_view(bytes) == "S") {
            QVERIFY(frame.ok());                               // may still become ours
            continue;
        }
        QVERIFY(!frame.ok());
        QCOMPARE(frame.error().problem.code, std::string("run.not-our-protocol"));
    }
}

void TestFrames::anotherVersionIsSeenBeforeAnythingElse()
{
    FrameReader reader(100);
    reader.feed(preamble(kWireVersion + 5));
    QVERIFY(reader.next().ok());
    QCOMPARE(*reader.peerVersion(), kWireVersion + 5);
}

void TestFrames::aLengthOverTheLimitIsRefusedBeforeItIsRead()
{
    FrameReader reader(kMaxCommandBytes);
    reader.feed(preamble() + header(kMaxCommandBytes + 1, char(FrameKind::Command)));
    const auto frame = reader.next();
    QVERIFY(!frame.ok());
    QCOMPARE(frame.error().problem.code, std::string("run.frame-too-large"));
    FrameReader exact(16);
    exact.feed(preamble() + frameBytes(FrameKind::Command, std::string(16, 'x')));
    QVERIFY(exact.next()->has_value());
}

void TestFrames::anUnknownKindIsRefused()
{
    for (const int kind : {0, 8, 255}) {
        FrameReader reader(100);
        reader.feed(preamble() + header(0, char(kind)));
        QVERIFY(!reader.next().ok());
    }
}

void TestFrames::anErrorIsFinal()
{
    FrameReader reader(10);
    reader.feed(preamble() + header(11, char(FrameKind::Command)));
    QVERIFY(!reader.next().ok());
    reader.feed(frameBytes(FrameKind::Command, "x"));
    QVERIFY(!reader.next().ok());
}

void TestFrames::everyMessageSurvives()
{
    const auto hello = decodeHello(body(encoded(Hello{"0.1.0", "id", "/a \"b\"", 7, 99})));
    QCOMPARE(hello->run, std::string("/a \"b\""));
    QCOMPARE(hello->records, std::int64_t(7));
    for (const CommandKind kind : {CommandKind::Subscribe, CommandKind::Ping, CommandKind::Save, CommandKind::Stop}) {
        for (const StopMode mode : {StopMode::SaveAndStop, StopMode::WithoutSaving, StopMode::Now}) {
            const auto command = decodeCommand(body(encoded(Command{3, kind, mode, 12})));
            QVERIFY(command.ok());
            QCOMPARE(command->kind, kind);
            QCOMPARE(command->id, std::int64_t(3));
            if (kind == CommandKind::Stop)
                QCOMPARE(command->mode, mode);
            if (kind == CommandKind::Subscribe)
                QCOMPARE(command->from, std::int64_t(12));
        }
    }
    Reply reply{4, Error(ExitCode::Checkpoint, "run.x", "because"), "training", 5, 6};
    const auto back = decodeReply(body(encoded(reply)));
    QCOMPARE(back->error->message(), std::string("because"));
    QCOMPARE(back->error->exit, ExitCode::Checkpoint);
    QCOMPARE(back->error->problem.code, std::string("run.x"));
    reply.error.reset();
    QVERIFY(decodeReply(body(encoded(reply)))->ok());
    QCOMPARE(decodeReply(body(encoded(reply)))->step, std::int64_t(5));
    const auto record = decodeRecord(body(encoded(std::int64_t(0x123456789A), "{\"event\":1}")));
    QCOMPARE(record->number, std::int64_t(0x123456789A));
    QCOMPARE(record->line, std::string("{\"event\":1}"));
    QCOMPARE(decodeBehind(body(encoded(Behind{77})))->first, std::int64_t(77));
    QCOMPARE(decodeNotice(body(encoded(Notice{"a", "b"})))->sentence, std::string("b"));
    const Error refusal = decodeRefusal(body(encodedRefusal(Error(ExitCode::Other, "run.y", "no"))));
    QCOMPARE(refusal.problem.code, std::string("run.y"));
    QCOMPARE(refusal.message(), std::string("no"));
}

void TestFrames::commandsThatAreNoneAreSaid_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("nothing") << QByteArray("");
    QTest::newRow("not JSON") << QByteArray("{");
    QTest::newRow("list") << QByteArray("[]");
    QTest::newRow("no id") << QByteArray(R"({"command":"ping"})");
    QTest::newRow("negative id") << QByteArray(R"({"id":-1,"command":"ping"})");
    QTest::newRow("id is text") << QByteArray(R"({"id":"1","command":"ping"})");
    QTest::newRow("no command") << QByteArray(R"({"id":1})");
    QTest::newRow("unknown command") << QByteArray(R"({"id":1,"command":"format"})");
    QTest::newRow("stop without mode") << QByteArray(R"({"id":1,"command":"stop"})");
    QTest::newRow("unknown mode") << QByteArray(R"({"id":1,"command":"stop","mode":"gently"})");
    QTest::newRow("negative from") << QByteArray(R"({"id":1,"command":"subscribe","from":-2})");
    QTest::newRow("huge from") << QByteArray(R"({"id":1,"command":"subscribe","from":99999999999999999999})");
}

void TestFrames::commandsThatAreNoneAreSaid()
{
    QFETCH(QByteArray, text);
    const auto command = decodeCommand(text.toStdString());
    QVERIFY(!command.ok());
    QCOMPARE(command.error().problem.code, std::string("run.bad-message"));
}

void TestFrames::otherBodiesThatAreNoneAreSaid()
{
    QVERIFY(!decodeRecord("1234567").ok());
    QVERIFY(!decodeRecord(std::string(8, '\xff')).ok());
    QVERIFY(!decodeBehind(R"({"first":-1})").ok());
    QVERIFY(!decodeHello(R"({"pid":"x"})").ok());
    QVERIFY(!decodeReply("{}").ok());
    QVERIFY(!decodeNotice("7").ok());
    QVERIFY(!decodeRefusal("").message().empty());
}

void TestFrames::theSentenceNamesTheOlderEnd()
{
    QVERIFY(otherVersion(kWireVersion + 1).message().find("this program is older") != std::string::npos);
    QVERIFY(otherVersion(kWireVersion - 1, "0.0.9").message().find("the other program is older") != std::string::npos);
    QVERIFY(otherVersion(kWireVersion - 1, "0.0.9").message().find("0.0.9") != std::string::npos);
}

void TestFrames::randomBytesAreErrorsNeverMore()
{
    std::mt19937 random(11);
    const std::string good = preamble() + encoded(Hello{"0.1.0", "id", "/run", 1, 2}) + encoded(Command{1, CommandKind::Stop, StopMode::Now, 0})
        + encoded(Reply{1, std::nullopt, "training", 1, 2}) + encoded(std::int64_t(5), "{}") + encoded(Behind{1}) + encoded(Notice{"a", "b"});
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    int tried = 0, refused = 0;
    while (std::chrono::steady_clock::now() < until) {
        std::string bytes = good;
        for (unsigned change = 0; change <= random() % 3; ++change)
            bytes[random() % bytes.size()] = char(random());
        if (random() % 4 == 0)
            bytes.resize(random() % bytes.size());
        FrameReader reader(kMaxCommandBytes);
        bool wrong = false;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::size_t piece = 1 + random() % 64;
            reader.feed(std::string_view(bytes).substr(at, piece));
            at += piece;
            std::optional<Error> error;
            for (const Frame &frame : framesOf(reader, &error)) {
                switch (frame.kind) {
                case FrameKind::Hello: wrong |= !decodeHello(frame.body).ok(); break;
                case FrameKind::Refusal: wrong |= decodeRefusal(frame.body).message().empty(); break;
                case FrameKind::Command: wrong |= !decodeCommand(frame.body).ok(); break;
                case FrameKind::Reply: wrong |= !decodeReply(frame.body).ok(); break;
                case FrameKind::Record: wrong |= !decodeRecord(frame.body).ok(); break;
                case FrameKind::Behind: wrong |= !decodeBehind(frame.body).ok(); break;
                case FrameKind::Notice: wrong |= !decodeNotice(frame.body).ok(); break;
                }
            }
            wrong |= error.has_value();
        }
        ++tried;
        refused += wrong;
    }
    QVERIFY(tried > 100);
    QVERIFY(refused > tried / 10);
}

QTEST_GUILESS_MAIN(TestFrames)
#include "test_frames.moc"
