#include "core/protocol/viewer.h"

#include <algorithm>

namespace stagewright::protocol {

namespace {

constexpr std::size_t kFillBytes = 128 << 10;              // of records that are taken out of the ring ahead of the socket
constexpr std::size_t kMaxOutgoingBytes = (1 << 20) + kMaxRecordBytes;      // a viewer that commands but never reads is dropped here
constexpr int kFillsPerTurn = 16;                          // then the others have their turn

} // namespace

Viewer::Viewer(Descriptor connection, const Hello &hello, double now)
    : m_connection(std::move(connection)), m_since(now)
{
    m_outgoing = preamble() + encoded(hello);
}

void Viewer::append(const std::string &frames)
{
    m_outgoing += frames;
    if (m_outgoing.size() - m_sent > kMaxOutgoingBytes)
        m_gone = true;
}

void Viewer::notice(const Notice &notice)
{
    if (m_greeted && m_outgoing.size() - m_sent < kFillBytes)
        append(encoded(notice));
}

void Viewer::refuse(const Error &why)
{
    append(encodedRefusal(why));
    sendOutgoing();
    m_gone = true;
}

void Viewer::answer(const Frame &frame, const RecordRing &ring, const Handler &handler)
{
    if (m_reader.peerVersion() != kWireVersion)
        return refuse(otherVersion(*m_reader.peerVersion()));
    if (!m_greeted) {
        if (frame.kind != FrameKind::Hello)
            return refuse(Error(ExitCode::Other, "run.bad-message", "the first message was not a greeting"));
        if (auto hello = decodeHello(frame.body); !hello)
            return refuse(hello.error());
        m_greeted = true;
        return;
    }
    if (frame.kind != FrameKind::Command)
        return refuse(Error(ExitCode::Other, "run.bad-message", "only commands are taken here"));
    auto command = decodeCommand(frame.body);
    if (!command)
        return refuse(command.error());
    Reply reply;
    if (command->kind == CommandKind::Subscribe) {
        // The ring is asked by the next pump, which also finds out when the viewer is behind.
        m_subscribed = true;
        m_next = std::min(command->from, ring.end());
        reply = handler(Command{command->id, CommandKind::Ping, {}, 0});
    } else {
        reply = handler(*command);
    }
    reply.id = command->id;
    reply.records = ring.end();
    append(encoded(reply));
}

void Viewer::readCommands(const RecordRing &ring, const Handler &handler)
{
    char bytes[16 << 10];
    const long got = receiveSome(descriptor(), bytes, sizeof bytes);
    if (got <= 0) {
        m_gone = got < 0;
        return;
    }
    m_reader.feed({bytes, static_cast<std::size_t>(got)});
    while (!m_gone) {
        auto frame = m_reader.next();
        if (!frame)
            return refuse(frame.error());
        if (m_reader.peerVersion() && m_reader.peerVersion() != kWireVersion)
            return refuse(otherVersion(*m_reader.peerVersion()));
        if (!*frame)
            return;
        answer(**frame, ring, handler);
    }
}

void Viewer::fillFrom(const RecordRing &ring)
{
    while (m_subscribed && m_outgoing.size() - m_sent < kFillBytes) {
        const RecordRing::Slice slice = ring.take(m_next, 64);
        if (slice.behind) {
            m_subscribed = false;
            append(encoded(Behind{slice.first}));
            return;
        }
        if (slice.lines.empty())
            return;
        for (const auto &line : slice.lines) {
            if (line->size() + 8 > kMaxRecordBytes) {      // only the file can hold it
                m_subscribed = false;
                append(encoded(Behind{m_next + 1}));
                return;
            }
            append(encoded(m_next++, *line));
        }
    }
}

bool Viewer::sendOutgoing()
{
    while (wantsToWrite()) {
        const long sent = sendSome(descriptor(), m_outgoing.data() + m_sent, m_outgoing.size() - m_sent);
        if (sent <= 0) {
            m_gone = m_gone || sent < 0;
            return false;
        }
        m_sent += static_cast<std::size_t>(sent);
    }
    m_outgoing.clear();
    m_sent = 0;
    return true;
}

void Viewer::pump(const RecordRing &ring)
{
    for (int turn = 0; turn < kFillsPerTurn && !m_gone; ++turn) {
        if (!sendOutgoing())
            return;
        fillFrom(ring);
        if (!wantsToWrite())
            return;
    }
}

} // namespace stagewright::protocol
