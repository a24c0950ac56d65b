#include "core/protocol/viewer_connection.h"

#include <unistd.h>

#include <algorithm>

#include "core/base/version.h"
#include "core/protocol/socket.h"

namespace stagewright::protocol {

namespace {

constexpr std::size_t kChunkBytes = 64 << 10;
constexpr std::size_t kPerCallBytes = 256 << 10;

template <class T>
Result<Incoming> incoming(Result<T> message)
{
    if (!message)
        return message.error();
    return Incoming(std::move(*message));
}

Result<Incoming> decoded(const Frame &frame)
{
    switch (frame.kind) {
    case FrameKind::Hello: return incoming(decodeHello(frame.body));
    case FrameKind::Refusal: return decodeRefusal(frame.body);
    case FrameKind::Reply: return incoming(decodeReply(frame.body));
    case FrameKind::Record: return incoming(decodeRecord(frame.body));
    case FrameKind::Behind: return incoming(decodeBehind(frame.body));
    case FrameKind::Notice: return incoming(decodeNotice(frame.body));
    case FrameKind::Command: break;
    }
    return Error(ExitCode::Other, "run.bad-message", "the worker sent a command; the connection is broken");
}

} // namespace

ViewerConnection::ViewerConnection(int fd) : m_fd(fd) {}

ViewerConnection::~ViewerConnection()
{
    if (m_fd >= 0)
        ::close(m_fd);
}

ViewerConnection::ViewerConnection(ViewerConnection &&other) noexcept : ViewerConnection(-1)
{
    *this = std::move(other);
}

ViewerConnection &ViewerConnection::operator=(ViewerConnection &&other) noexcept
{
    std::swap(m_fd, other.m_fd);
    std::swap(m_outgoing, other.m_outgoing);
    std::swap(m_reader, other.m_reader);
    std::swap(m_error, other.m_error);
    return *this;
}

Result<ViewerConnection> ViewerConnection::open(const std::filesystem::path &socket)
{
    auto connected = connectTo(socket);
    if (!connected)
        return connected.error();
    ViewerConnection connection(connected->release());
    Hello hello;
    hello.program = programVersion();
    hello.pid = ::getpid();
    connection.m_outgoing = preamble() + encoded(hello);
    // A worker that refuses us may have closed before it was greeted; why lies in the socket, and receive() delivers it.
    if (!connection.flush())
        connection.m_outgoing.clear();
    return connection;
}

Status ViewerConnection::send(const Command &command)
{
    m_outgoing += encoded(command);
    return flush();
}

Status ViewerConnection::flush()
{
    while (!m_outgoing.empty()) {
        const long sent = sendSome(m_fd, m_outgoing.data(), m_outgoing.size());
        if (sent == 0)
            return Done{};
        if (sent < 0)
            return Error(ExitCode::Other, "run.connection-closed", "the worker closed the connection");
        m_outgoing.erase(0, static_cast<std::size_t>(sent));
    }
    return Done{};
}

Result<std::vector<Incoming>> ViewerConnection::receive()
{
    std::vector<Incoming> messages;
    std::string chunk(kChunkBytes, '\0');
    for (std::size_t taken = 0; taken < kPerCallBytes && !m_error;) {
        const long got = receiveSome(m_fd, chunk.data(), chunk.size());
        if (got == 0)
            break;
        if (got > 0)
            m_reader.feed({chunk.data(), static_cast<std::size_t>(got)});
        taken += static_cast<std::size_t>(std::max(got, 0L));
        while (!m_error) {
            auto frame = m_reader.next();
            if (!frame) {
                m_error = frame.error();
                break;
            }
            // A refusal comes in the one form that no version changes; anything else of another version is not looked into.
            const bool otherVersionSpeaks = m_reader.peerVersion() && *m_reader.peerVersion() != kWireVersion;
            if (otherVersionSpeaks) {
                const auto hello = *frame && (*frame)->kind == FrameKind::Hello ? decodeHello((*frame)->body) : Result<Hello>(Error());
                m_error = otherVersion(*m_reader.peerVersion(), hello.ok() ? hello->program : std::string());
                break;
            }
            if (!*frame)
                break;
            auto message = decoded(**frame);
            if (message)
                messages.push_back(std::move(*message));
            else
                m_error = message.error();
        }
        if (got < 0 && !m_error)
            m_error = Error(ExitCode::Other, "run.connection-closed", "the worker closed the connection");
    }
    if (messages.empty() && m_error)
        return *m_error;
    return messages;
}

} // namespace stagewright::protocol
