// The framing of a connection: a preamble with the wire version, then frames of a kind and a bounded length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stagewright::protocol {

// Must be equal at both ends: window, command line and worker are shipped together.
inline constexpr std::uint32_t kWireVersion = 1;
inline constexpr std::string_view kMagic = "STAGEWRT";
inline constexpr std::size_t kPreambleBytes = 12;                      // magic, then the version as u32 little-endian
inline constexpr std::size_t kFrameHeaderBytes = 5;                    // u32 little-endian length of the body, then the kind
inline constexpr std::size_t kMaxCommandBytes = 64 << 10;              // body of a frame from viewer to worker
inline constexpr std::size_t kMaxRecordBytes = 16 << 20;               // body of a frame from worker to viewer

enum class FrameKind : std::uint8_t { Hello = 1, Refusal = 2, Command = 3, Reply = 4, Record = 5, Behind = 6, Notice = 7 };

struct Frame {
    FrameKind kind;
    std::string body;
};

std::string preamble(std::uint32_t version = kWireVersion);
std::string frameBytes(FrameKind kind, std::string_view body);         // body within kMaxRecordBytes (asserted: it is ours)

// Takes bytes as they come and yields whole frames. An error is final: nothing can be read after it. No thread of its own.
class FrameReader
{
public:
    explicit FrameReader(std::size_t maxBody) : m_maxBody(maxBody) {}
    void feed(std::string_view bytes);
    // The other end's wire version once the preamble is complete (also when it is another than ours).
    std::optional<std::uint32_t> peerVersion() const { return m_peerVersion; }
    // The next whole frame; nothing: more bytes are needed. Error: not our protocol, another version, a length over the limit, an unknown kind.
    Result<std::optional<Frame>> next();

private:
    Error fail(std::string code, std::string sentence);

    std::size_t m_maxBody;
    std::string m_buffer;
    std::size_t m_at = 0;
    std::optional<std::uint32_t> m_peerVersion;
    std::optional<Error> m_error;
};

// The sentence for an end that speaks another version; says which of the two is older and what to do.
Error otherVersion(std::uint32_t theirs, const std::string &theirProgram = {});

} // namespace stagewright::protocol
