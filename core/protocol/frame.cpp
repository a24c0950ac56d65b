#include "core/protocol/frame.h"

#include <cassert>

namespace stagewright::protocol {

namespace {

void appendU32(std::string &to, std::uint32_t value)
{
    for (int shift = 0; shift < 32; shift += 8)
        to += static_cast<char>(value >> shift & 0xFF);
}

std::uint32_t readU32(std::string_view from)
{
    std::uint32_t value = 0;
    for (int at = 3; at >= 0; --at)
        value = value << 8 | static_cast<unsigned char>(from[static_cast<std::size_t>(at)]);
    return value;
}

bool isKnown(std::uint8_t kind)
{
    return kind >= static_cast<std::uint8_t>(FrameKind::Hello) && kind <= static_cast<std::uint8_t>(FrameKind::Notice);
}

} // namespace

std::string preamble(std::uint32_t version)
{
    std::string bytes(kMagic);
    appendU32(bytes, version);
    return bytes;
}

std::string frameBytes(FrameKind kind, std::string_view body)
{
    assert(body.size() <= kMaxRecordBytes);
    std::string bytes;
    bytes.reserve(kFrameHeaderBytes + body.size());
    appendU32(bytes, static_cast<std::uint32_t>(body.size()));
    bytes += static_cast<char>(kind);
    bytes += body;
    return bytes;
}

void FrameReader::feed(std::string_view bytes)
{
    if (m_error)
        return;
    if (m_at > 0 && (m_at == m_buffer.size() || m_at >= (64 << 10))) {
        m_buffer.erase(0, m_at);
        m_at = 0;
    }
    m_buffer += bytes;
}

Error FrameReader::fail(std::string code, std::string sentence)
{
    m_error = Error(ExitCode::Other, std::move(code), std::move(sentence));
    m_buffer = {};
    return *m_error;
}

Result<std::optional<Frame>> FrameReader::next()
{
    if (m_error)
        return *m_error;
    std::string_view rest = std::string_view(m_buffer).substr(m_at);
    if (!m_peerVersion) {
        if (rest.substr(0, kMagic.size()) != kMagic.substr(0, rest.size()))
            return fail("run.not-our-protocol", "the other end of the socket is not Stagewright; another program listens on this path");
        if (rest.size() < kPreambleBytes)
            return std::optional<Frame>();
        m_peerVersion = readU32(rest.substr(kMagic.size()));
        m_at += kPreambleBytes;
        rest.remove_prefix(kPreambleBytes);
    }
    if (rest.size() < kFrameHeaderBytes)
        return std::optional<Frame>();
    const std::uint32_t length = readU32(rest);
    const auto kind = static_cast<std::uint8_t>(rest[4]);
    if (length > m_maxBody) {
        return fail("run.frame-too-large", "a message of " + std::to_string(length) + " bytes was announced, more than the " + std::to_string(m_maxBody)
                        + " that are allowed; the connection is broken");
    }
    if (!isKnown(kind))
        return fail("run.bad-message", "a message of the unknown kind " + std::to_string(kind) + " arrived; the connection is broken");
    if (rest.size() < kFrameHeaderBytes + length)
        return std::optional<Frame>();
    m_at += kFrameHeaderBytes + length;
    return std::optional<Frame>(Frame{static_cast<FrameKind>(kind), std::string(rest.substr(kFrameHeaderBytes, length))});
}

Error otherVersion(std::uint32_t theirs, const std::string &theirProgram)
{
    const std::string program = theirProgram.empty() ? "" : " (Stagewright " + theirProgram + ")";
    const bool theyAreOlder = theirs < kWireVersion;
    return Error(ExitCode::Other, "run.other-version",
                 "the other end speaks version " + std::to_string(theirs) + " of the protocol" + program + ", this program version "
                     + std::to_string(kWireVersion) + "; " + (theyAreOlder ? "the other program is older" : "this program is older")
                     + ": use the window, command line and worker of one installation (the run's files can be watched all the same)");
}

} // namespace stagewright::protocol
