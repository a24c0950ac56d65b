// The worker's end: answers any number of viewers from one thread, and owes none of them anything. A viewer that stalls costs its own socket buffer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/protocol/message.h"

namespace stagewright::protocol {

// publish() and notice() may be called from any thread and never wait for a viewer: records go into one ring that all viewers read, each at
// its own place. A viewer that falls out of the ring is told to catch up from the history file (Behind).
class ViewerServer
{
public:
    struct Options {
        std::filesystem::path socket;                     // its folder exists and is private
        Hello hello;                                      // what a viewer is told first; records is filled in
        std::size_t ringRecords = 8192;
        std::size_t ringBytes = 16 << 20;
        std::size_t maxViewers = 64;
        double handshakeSeconds = 5;
    };
    // Called on the server's thread; must not block. Answers Ping, Save and Stop; the id is filled in.
    using Handler = std::function<Reply(const Command &)>;

    // Error: the path is too long, or a living process listens there already. A socket left behind by a dead one is replaced. Mode 0600.
    static Result<std::unique_ptr<ViewerServer>> start(Options options, Handler handler);
    ~ViewerServer();                                      // sends what the sockets take at once, closes, removes the socket file
    ViewerServer(const ViewerServer &) = delete;
    ViewerServer &operator=(const ViewerServer &) = delete;

    void publish(std::int64_t number, std::shared_ptr<const std::string> line);   // numbers without gaps
    void notice(Notice notice);
    // Gives viewers up to `seconds` to take what is in the ring; returns early when all have.
    void drain(double seconds);
    const std::filesystem::path &socket() const;
    int viewerCount() const;

private:
    class Implementation;
    explicit ViewerServer(std::unique_ptr<Implementation> implementation);
    std::unique_ptr<Implementation> m_implementation;
};

// A socket path for a run in the user's runtime folder, short enough for the system (107 bytes).
Result<std::filesystem::path> socketPathFor(const std::string &runId);

} // namespace stagewright::protocol
