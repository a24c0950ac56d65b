// One viewer as the server sees it: what it has said, where it is in the ring, and what is on its way to it.
#pragma once

#include <functional>
#include <string>

#include "core/protocol/message.h"
#include "core/protocol/record_ring.h"
#include "core/protocol/socket.h"

namespace stagewright::protocol {

// The server's thread only. Nothing here waits.
class Viewer
{
public:
    using Handler = std::function<Reply(const Command &)>;
    Viewer(Descriptor connection, const Hello &hello, double now);

    int descriptor() const { return m_connection.get(); }
    bool isGone() const { return m_gone; }
    bool isGreeted() const { return m_greeted; }
    double since() const { return m_since; }
    bool wantsToWrite() const { return m_sent < m_outgoing.size(); }
    bool hasAll(const RecordRing &ring) const { return !wantsToWrite() && (!m_subscribed || m_next >= ring.end()); }

    void readCommands(const RecordRing &ring, const Handler &handler);
    void notice(const Notice &notice);
    // Sends what the socket takes: replies first in the order of commands, records from the ring behind them.
    void pump(const RecordRing &ring);
    void refuse(const Error &why);                         // says why and ends

private:
    void answer(const Frame &frame, const RecordRing &ring, const Handler &handler);
    void append(const std::string &frames);
    void fillFrom(const RecordRing &ring);
    bool sendOutgoing();

    Descriptor m_connection;
    FrameReader m_reader{kMaxCommandBytes};
    double m_since;
    bool m_greeted = false, m_gone = false, m_subscribed = false;
    std::int64_t m_next = 0;
    std::string m_outgoing;
    std::size_t m_sent = 0;
};

} // namespace stagewright::protocol
