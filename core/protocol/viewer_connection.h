// A viewer's end of the connection, without any waiting: made for an event loop.
#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <variant>

#include "core/base/result.h"
#include "core/protocol/message.h"

namespace stagewright::protocol {

using Incoming = std::variant<Hello, Reply, Record, Behind, Notice>;

// One thread. Every function returns at once.
class ViewerConnection
{
public:
    static Result<ViewerConnection> open(const std::filesystem::path &socket);
    ~ViewerConnection();
    ViewerConnection(ViewerConnection &&other) noexcept;
    ViewerConnection &operator=(ViewerConnection &&other) noexcept;

    int descriptor() const { return m_fd; }               // readable when receive() has work
    bool wantsToWrite() const { return !m_outgoing.empty(); }
    Status send(const Command &command);                  // queued, then as much written as the socket takes
    Status flush();
    // What has arrived, up to max messages. Error: refused, another version, broken frame, connection closed (code run.connection-closed).
    Result<std::deque<Incoming>> receive(std::size_t max = 4096);

private:
    explicit ViewerConnection(int fd);
    int m_fd = -1;
    std::string m_outgoing;
    FrameReader m_reader{kMaxRecordBytes};
    bool m_greeted = false;
    bool m_closed = false;
};

} // namespace stagewright::protocol
