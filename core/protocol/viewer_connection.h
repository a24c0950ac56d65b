// A viewer's end of the connection, without any waiting: made for an event loop.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

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
    // What has arrived, some 256 KiB of it at most (descriptor() stays readable then). Messages before an error are delivered first, the error by the next
    // call. Errors: refused, another version, broken frame, connection closed (code run.connection-closed).
    Result<std::vector<Incoming>> receive();

private:
    explicit ViewerConnection(int fd);
    int m_fd = -1;
    std::string m_outgoing;
    FrameReader m_reader{kMaxRecordBytes};
    std::optional<Error> m_error;
};

} // namespace stagewright::protocol
