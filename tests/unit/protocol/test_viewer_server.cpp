// The worker's end of the socket, against viewers of every manner.
#include <QtTest>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "core/base/host.h"
#include "core/protocol/socket.h"
#include "core/protocol/viewer_connection.h"
#include "core/protocol/viewer_server.h"

using namespace stagewright;
using namespace stagewright::protocol;
namespace fs = std::filesystem;

namespace {

constexpr double kDeadline = 20;

// A viewer that takes what comes, in the manner of an event loop.
class Viewer
{
public:
    explicit Viewer(const fs::path &socket) : m_connection(ViewerConnection::open(socket)) {}
    bool isOpen() const { return m_connection.ok(); }
    void subscribe(std::int64_t from) { send({0, CommandKind::Subscribe, {}, from}); }
    void send(const Command &command) { (void)m_connection->send(command); }

    // Takes messages until the condition holds; false after the deadline or an error.
    bool until(const std::function<bool()> &condition)
    {
        const double end = steadySeconds() + kDeadline;
        while (!condition()) {
            pollfd waiting{m_connection->descriptor(), POLLIN, 0};
            if (steadySeconds() > end || ::poll(&waiting, 1, 100) < 0)
                return false;
            auto messages = m_connection->receive();
            if (!messages) {
                error = messages.error();
                return condition();
            }
            for (Incoming &message : *messages)
                take(std::move(message));
        }
        return true;
    }
    bool untilRecords(std::size_t count) { return until([&] { return records.size() >= count; }); }

    std::optional<Hello> hello;
    std::vector<Record> records;
    std::vector<Reply> replies;
    std::vector<Notice> notices;
    std::optional<Behind> behind;
    std::optional<Error> error;

private:
    void take(Incoming message)
    {
        if (auto *record = std::get_if<Record>(&message))
            records.push_back(std::move(*record));
        else if (auto *reply = std::get_if<Reply>(&message))
            replies.push_back(std::move(*reply));
        else if (auto *one = std::get_if<Hello>(&message))
            hello = std::move(*one);
        else if (auto *notice = std::get_if<Notice>(&message))
            notices.push_back(std::move(*notice));
        else
            behind = std::get<Behind>(message);
    }
    Result<ViewerConnection> m_connection;
};

std::shared_ptr<const std::string> line(std::int64_t number) { return std::make_shared<const std::string>("{\"n\":" + std::to_string(number) + "}"); }

// Bytes as they are, for peers that don't keep to the protocol.
class RawPeer
{
public:
    explicit RawPeer(const fs::path &socket) : m_socket(connectTo(socket)) {}
    void say(const std::string &bytes) { (void)sendSome(m_socket->get(), bytes.data(), bytes.size()); }
    // Everything until the other end closes.
    std::string hearToTheEnd()
    {
        std::string all;
        char buffer[4096];
        for (const double end = steadySeconds() + kDeadline; steadySeconds() < end;) {
            pollfd waiting{m_socket->get(), POLLIN, 0};
            ::poll(&waiting, 1, 100);
            const long got = receiveSome(m_socket->get(), buffer, sizeof buffer);
            if (got < 0) {
                closed = true;
                return all;
            }
            all.append(buffer, std::size_t(got));
        }
        return all;
    }
    bool closed = false;

private:
    Result<Descriptor> m_socket;
};

} // namespace

class TestViewerServer : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup() { m_server.reset(); m_folder.reset(); }

    void greetsAndSendsRecordsFromWhereItIsAsked();
    void theSocketIsTheUsersOwn();
    void commandsGetOneReplyEach();
    void aHundredThousandRecordsReachAViewerInOrder();
    void tenViewersGetTheSame();
    void aStalledViewerCostsNobodyAnything();
    void aStalledViewerIsToldToCatchUp();
    void aKilledViewerIsForgotten();
    void whoAsksForTheForgottenIsSentToTheFile();
    void anotherVersionIsRefusedWithASentence();
    void strangersAreRefused_data();
    void strangersAreRefused();
    void aSilentPeerDoesNotKeepItsPlace();
    void tooManyViewersAreRefusedPolitely();
    void aTakenSocketIsRefusedAndAnAbandonedOneReplaced();
    void pathsThatAreTooLongAreSaid();
    void drainWaitsForViewersButNotForEver();
    void noticesReachEverybody();
    void aRecordThatIsTooLargeIsLeftToTheFile();
    void theConnectionSaysWhenAnotherVersionAnswers();

private:
    void start(const std::function<void(ViewerServer::Options &)> &change = {});
    fs::path socket() const { return fs::path(m_folder->path().toStdString()) / "s.sock"; }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ViewerServer> m_server;
    std::atomic<int> m_saves{0};
};

void TestViewerServer::init()
{
    m_folder = std::make_unique<QTemporaryDir>();
    m_saves = 0;
}

void TestViewerServer::start(const std::function<void(ViewerServer::Options &)> &change)
{
    ViewerServer::Options options;
    options.socket = socket();
    options.hello = {"0.1.0", "run-id", "/the/run", 0, 1};
    if (change)
        change(options);
    auto server = ViewerServer::start(options, [this](const Command &command) {
        Reply reply;
        reply.state = "training";
        if (command.kind == CommandKind::Save)
            ++m_saves;
        if (command.kind == CommandKind::Stop)
            reply.error = Error(ExitCode::Other, "run.x", "not now");
        return reply;
    });
    QVERIFY2(server.ok(), server.ok() ? "" : server.error().message().c_str());
    m_server = std::move(*server);
}

void TestViewerServer::greetsAndSendsRecordsFromWhereItIsAsked()
{
    start();
    for (int i = 0; i < 10; ++i)
        m_server->publish(i, line(i));
    Viewer viewer(socket());
    QVERIFY(viewer.until([&] { return viewer.hello.has_value(); }));
    QCOMPARE(viewer.hello->runId, std::string("run-id"));
    QCOMPARE(viewer.hello->records, std::int64_t(10));
    viewer.subscribe(7);
    QVERIFY(viewer.untilRecords(3));
    m_server->publish(10, line(10));
    QVERIFY(viewer.untilRecords(4));
    for (int i = 0; i < 4; ++i) {
        QCOMPARE(viewer.records[std::size_t(i)].number, std::int64_t(7 + i));
        QCOMPARE(viewer.records[std::size_t(i)].line, *line(7 + i));
    }
}

void TestViewerServer::theSocketIsTheUsersOwn()
{
    start();
    struct stat info {};
    QCOMPARE(::lstat(socket().c_str(), &info), 0);
    QVERIFY(S_ISSOCK(info.st_mode));
    QCOMPARE(info.st_mode & 0777, mode_t(0600));
    m_server.reset();
    QVERIFY(!fs::exists(socket()));
    const auto path = socketPathFor("0123456789abcdef");
    QVERIFY(path.ok());
    QVERIFY(path->native().size() < sizeof(sockaddr_un::sun_path));
}

void TestViewerServer::commandsGetOneReplyEach()
{
    start();
    Viewer viewer(socket());
    viewer.send({1, CommandKind::Ping, {}, 0});
    viewer.send({2, CommandKind::Save, {}, 0});
    viewer.send({3, CommandKind::Stop, StopMode::Now, 0});
    viewer.send({4, CommandKind::Subscribe, {}, 0});
    QVERIFY(viewer.until([&] { return viewer.replies.size() >= 4; }));
    for (std::size_t i = 0; i < 4; ++i)
        QCOMPARE(viewer.replies[i].id, std::int64_t(i + 1));
    QVERIFY(viewer.replies[0].ok() && viewer.replies[1].ok() && viewer.replies[3].ok());
    QCOMPARE(viewer.replies[2].error->message(), std::string("not now"));
    QCOMPARE(m_saves.load(), 1);
}

void TestViewerServer::aHundredThousandRecordsReachAViewerInOrder()
{
    constexpr std::int64_t count = 100'000;
    start([](ViewerServer::Options &options) { options.ringRecords = std::size_t(count); options.ringBytes = 256 << 20; });
    Viewer viewer(socket());
    viewer.subscribe(0);
    const double began = steadySeconds();
    std::thread publisher([&] {
        for (std::int64_t i = 0; i < count; ++i)
            m_server->publish(i, line(i));
    });
    const bool all = viewer.untilRecords(std::size_t(count));
    publisher.join();
    QVERIFY(all);
    qInfo("100,000 records through the socket in %.2f s", steadySeconds() - began);
    for (std::int64_t i = 0; i < count; ++i)
        QCOMPARE(viewer.records[std::size_t(i)].number, i);
}

void TestViewerServer::tenViewersGetTheSame()
{
    start();
    std::vector<std::unique_ptr<Viewer>> viewers;
    for (int i = 0; i < 10; ++i) {
        viewers.push_back(std::make_unique<Viewer>(socket()));
        viewers.back()->subscribe(0);
    }
    for (std::int64_t i = 0; i < 1000; ++i)
        m_server->publish(i, line(i));
    for (auto &viewer : viewers) {
        QVERIFY(viewer->untilRecords(1000));
        QCOMPARE(viewer->records.back().number, std::int64_t(999));
    }
    QCOMPARE(m_server->viewerCount(), 10);
}

void TestViewerServer::aStalledViewerCostsNobodyAnything()
{
    start();
    Viewer stalled(socket());
    stalled.subscribe(0);                                          // and never reads
    QVERIFY(stalled.until([&] { return !stalled.replies.empty(); }));
    Viewer reading(socket());
    reading.subscribe(0);
    QVERIFY(reading.until([&] { return !reading.replies.empty(); }));
    const auto large = std::make_shared<const std::string>(10'000, 'x');
    double longest = 0;
    for (std::int64_t i = 0; i < 5000; ++i) {
        const double before = steadySeconds();
        m_server->publish(i, large);
        longest = std::max(longest, steadySeconds() - before);
        if (i % 500 == 499)
            QVERIFY(reading.untilRecords(std::size_t(i + 1)));     // the other one gets everything
    }
    QVERIFY2(longest < 1, "publishing waited for a viewer");
}

void TestViewerServer::aStalledViewerIsToldToCatchUp()
{
    start([](ViewerServer::Options &options) { options.ringRecords = 100; });
    Viewer viewer(socket());
    viewer.subscribe(0);
    QVERIFY(viewer.until([&] { return !viewer.replies.empty(); }));
    const auto large = std::make_shared<const std::string>(50'000, 'x');
    for (std::int64_t i = 0; i < 2000; ++i)
        m_server->publish(i, large);
    QVERIFY(viewer.until([&] { return viewer.behind.has_value(); }));
    // The oldest record that was still kept at the moment when it fell behind; the ring has gone on since.
    QVERIFY(viewer.behind->first > std::int64_t(viewer.records.size()));
    QVERIFY(viewer.records.size() < 1000);
    // What it got is without a gap; it goes on from where the server says.
    for (std::size_t i = 0; i < viewer.records.size(); ++i)
        QCOMPARE(viewer.records[i].number, std::int64_t(i));
    // Everything is published by now, so that the ring holds the last hundred for good.
    viewer.records.clear();
    viewer.behind.reset();
    viewer.subscribe(0);
    QVERIFY(viewer.until([&] { return viewer.behind.has_value(); }));
    QCOMPARE(viewer.behind->first, std::int64_t(1900));
    viewer.subscribe(viewer.behind->first);
    QVERIFY(viewer.until([&] { return !viewer.records.empty() && viewer.records.back().number == 1999; }));
    QCOMPARE(viewer.records.front().number, std::int64_t(1900));
}

void TestViewerServer::aKilledViewerIsForgotten()
{
    start();
    {
        Viewer viewer(socket());
        viewer.subscribe(0);
        QVERIFY(viewer.until([&] { return !viewer.replies.empty(); }));
        QCOMPARE(m_server->viewerCount(), 1);
        for (std::int64_t i = 0; i < 1000; ++i)
            m_server->publish(i, std::make_shared<const std::string>(10'000, 'x'));
    }
    QTRY_COMPARE_WITH_TIMEOUT(m_server->viewerCount(), 0, 10'000);
    m_server->publish(1000, line(1000));
    Viewer next(socket());
    next.subscribe(1000);
    QVERIFY(next.untilRecords(1));
}

void TestViewerServer::whoAsksForTheForgottenIsSentToTheFile()
{
    start([](ViewerServer::Options &options) { options.ringRecords = 10; });
    for (std::int64_t i = 0; i < 100; ++i)
        m_server->publish(i, line(i));
    Viewer viewer(socket());
    viewer.subscribe(5);
    QVERIFY(viewer.until([&] { return viewer.behind.has_value(); }));
    QCOMPARE(viewer.behind->first, std::int64_t(90));
    QVERIFY(viewer.records.empty());
    Viewer ahead(socket());                                        // of the future: waits for what comes next
    ahead.subscribe(5000);
    QVERIFY(ahead.until([&] { return !ahead.replies.empty(); }));
    m_server->publish(100, line(100));
    QVERIFY(ahead.untilRecords(1));
    QCOMPARE(ahead.records[0].number, std::int64_t(100));
}

void TestViewerServer::anotherVersionIsRefusedWithASentence()
{
    start();
    RawPeer peer(socket());
    peer.say(preamble(kWireVersion + 1) + encoded(Hello{"9.9", {}, {}, 0, 0}));
    const std::string heard = peer.hearToTheEnd();
    QVERIFY(peer.closed);
    FrameReader reader(kMaxRecordBytes);
    reader.feed(heard);
    std::optional<Error> refusal;
    while (true) {
        const auto frame = reader.next();
        QVERIFY(frame.ok());
        if (!*frame)
            break;
        if ((*frame)->kind == FrameKind::Refusal)
            refusal = decodeRefusal((*frame)->body);
    }
    QVERIFY(refusal.has_value());
    QCOMPARE(refusal->problem.code, std::string("run.other-version"));
    QVERIFY(refusal->message().find("older") != std::string::npos);
}

void TestViewerServer::strangersAreRefused_data()
{
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char *name, const std::string &bytes) { QTest::newRow(name) << QByteArray::fromStdString(bytes); };
    row("http", "GET / HTTP/1.1\r\n\r\n");
    row("garbage", std::string(5000, '\xa5'));
    row("no greeting", preamble() + encoded(Command{1, CommandKind::Ping, {}, 0}));
    row("too large", preamble() + encoded(Hello{"x", {}, {}, 0, 0}) + std::string("\xff\xff\xff\x7f\x03", 5));
    row("bad command", preamble() + encoded(Hello{"x", {}, {}, 0, 0}) + frameBytes(FrameKind::Command, "{\"id\":1,\"command\":\"format\"}"));
    row("a record from a viewer", preamble() + encoded(Hello{"x", {}, {}, 0, 0}) + encoded(std::int64_t(1), "{}"));
}

void TestViewerServer::strangersAreRefused()
{
    QFETCH(QByteArray, bytes);
    start();
    Viewer good(socket());
    QVERIFY(good.until([&] { return good.hello.has_value(); }));
    RawPeer peer(socket());
    peer.say(bytes.toStdString());
    (void)peer.hearToTheEnd();
    QVERIFY(peer.closed);
    good.subscribe(0);                                             // the others don't notice
    m_server->publish(0, line(0));
    QVERIFY(good.untilRecords(1));
}

void TestViewerServer::aSilentPeerDoesNotKeepItsPlace()
{
    start([](ViewerServer::Options &options) { options.handshakeSeconds = 0.3; });
    RawPeer peer(socket());
    (void)peer.hearToTheEnd();
    QVERIFY(peer.closed);
    QTRY_COMPARE_WITH_TIMEOUT(m_server->viewerCount(), 0, 10'000);
}

void TestViewerServer::tooManyViewersAreRefusedPolitely()
{
    start([](ViewerServer::Options &options) { options.maxViewers = 2; });
    Viewer one(socket()), two(socket());
    QVERIFY(one.until([&] { return one.hello.has_value(); }));
    QVERIFY(two.until([&] { return two.hello.has_value(); }));
    Viewer three(socket());
    (void)three.until([&] { return three.error.has_value(); });
    QVERIFY(three.error.has_value());
    QCOMPARE(three.error->problem.code, std::string("run.too-many-viewers"));
}

void TestViewerServer::aTakenSocketIsRefusedAndAnAbandonedOneReplaced()
{
    start();
    ViewerServer::Options options;
    options.socket = socket();
    const auto second = ViewerServer::start(options, [](const Command &) { return Reply(); });
    QVERIFY(!second.ok());
    QCOMPARE(second.error().problem.code, std::string("run.socket-taken"));
    m_server.reset();

    {   // A worker that was killed leaves its socket's file.
        const int abandoned = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, socket().c_str());
        QCOMPARE(::bind(abandoned, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
        ::close(abandoned);
    }
    QVERIFY(fs::exists(socket()));
    start();
    QVERIFY(Viewer(socket()).isOpen());
    m_server.reset();

    std::ofstream(socket()) << "a file";
    const auto third = ViewerServer::start(options, [](const Command &) { return Reply(); });
    QVERIFY(!third.ok());
    QVERIFY(fs::is_regular_file(socket()));                        // what is not ours is left alone
}

void TestViewerServer::pathsThatAreTooLongAreSaid()
{
    ViewerServer::Options options;
    options.socket = "/tmp/" + std::string(200, 'x');
    const auto server = ViewerServer::start(options, [](const Command &) { return Reply(); });
    QVERIFY(!server.ok());
    QCOMPARE(server.error().problem.code, std::string("run.socket-path-too-long"));
}

void TestViewerServer::drainWaitsForViewersButNotForEver()
{
    start();
    Viewer viewer(socket());
    viewer.subscribe(0);
    QVERIFY(viewer.until([&] { return !viewer.replies.empty(); }));
    for (std::int64_t i = 0; i < 100; ++i)
        m_server->publish(i, line(i));
    const double before = steadySeconds();
    m_server->drain(10);
    QVERIFY(steadySeconds() - before < 5);
    const auto large = std::make_shared<const std::string>(100'000, 'x');
    for (std::int64_t i = 100; i < 200; ++i)
        m_server->publish(i, large);                               // more than the socket takes, and nobody reads
    const double stalled = steadySeconds();
    m_server->drain(0.2);
    QVERIFY(steadySeconds() - stalled < 5);
    m_server.reset();
    (void)viewer.until([&] { return viewer.error.has_value(); });
    QVERIFY(viewer.error.has_value());
    QCOMPARE(viewer.error->problem.code, std::string("run.connection-closed"));
    QVERIFY(viewer.records.size() >= 100);
}

void TestViewerServer::noticesReachEverybody()
{
    start();
    Viewer one(socket()), two(socket());
    one.send({1, CommandKind::Ping, {}, 0});
    two.send({1, CommandKind::Ping, {}, 0});
    QVERIFY(one.until([&] { return !one.replies.empty(); }) && two.until([&] { return !two.replies.empty(); }));
    m_server->notice({"env.disk-full", "the disk is full"});
    QVERIFY(one.until([&] { return !one.notices.empty(); }) && two.until([&] { return !two.notices.empty(); }));
    QCOMPARE(one.notices[0].sentence, std::string("the disk is full"));
}

void TestViewerServer::aRecordThatIsTooLargeIsLeftToTheFile()
{
    start([](ViewerServer::Options &options) { options.ringBytes = 64 << 20; });
    Viewer viewer(socket());
    viewer.subscribe(0);
    m_server->publish(0, line(0));
    m_server->publish(1, std::make_shared<const std::string>(kMaxRecordBytes, 'x'));
    QVERIFY(viewer.until([&] { return viewer.behind.has_value(); }));
    QCOMPARE(viewer.records.size(), std::size_t(1));
    QCOMPARE(viewer.behind->first, std::int64_t(2));
}

void TestViewerServer::theConnectionSaysWhenAnotherVersionAnswers()
{
    auto listener = listenAt(socket());
    QVERIFY(listener.ok());
    Viewer viewer(socket());
    Descriptor accepted(::accept(listener->get(), nullptr, nullptr));
    const std::string answer = preamble(kWireVersion + 3) + encoded(Hello{"9.9.9", {}, {}, 0, 0});
    QCOMPARE(sendSome(accepted.get(), answer.data(), answer.size()), long(answer.size()));
    (void)viewer.until([&] { return viewer.error.has_value(); });
    QVERIFY(viewer.error.has_value());
    QCOMPARE(viewer.error->problem.code, std::string("run.other-version"));
    QVERIFY2(viewer.error->message().find("9.9.9") != std::string::npos, viewer.error->message().c_str());
    QVERIFY(viewer.error->message().find("this program is older") != std::string::npos);
    const auto nobody = ViewerConnection::open(m_folder->path().toStdString() + "/nobody.sock");
    QVERIFY(!nobody.ok());
    QCOMPARE(nobody.error().problem.code, std::string("run.no-socket"));
}

QTEST_GUILESS_MAIN(TestViewerServer)
#include "test_viewer_server.moc"
