// What is said in frames: plain values with one encoding and one decoding each (JSON bodies; README.md is the wire's specification).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/protocol/frame.h"

namespace stagewright::protocol {

// First frame of both ends.
struct Hello {
    std::string program;                 // version of the program
    std::string runId, run;              // worker only: identity and folder
    std::int64_t records = 0;            // worker only: records so far
    int pid = 0;
};

enum class CommandKind { Subscribe, Ping, Save, Stop };
enum class StopMode { SaveAndStop, WithoutSaving, Now };           // stop, stop --no-save, stop --now
const char *stopModeName(StopMode mode);                            // "save", "no_save", "now"

struct Command {
    std::int64_t id = 0;                 // chosen by the viewer; its reply carries it
    CommandKind kind = CommandKind::Ping;
    StopMode mode = StopMode::SaveAndStop;      // of Stop
    std::int64_t from = 0;               // of Subscribe: number of the first record wanted
};

// Exactly one for each command. Ok means taken, not done: how it ends is told by records.
struct Reply {
    std::int64_t id = 0;
    std::optional<Error> error;
    std::string state;                   // of the run, as in events::State
    std::int64_t step = -1;
    std::int64_t records = 0;            // so far
    bool ok() const { return !error; }
};

struct Record {                          // body: number as u64 little-endian, then the JSON line
    std::int64_t number = 0;
    std::string line;
};

// The worker no longer has what the viewer asked for or was being sent; the subscription is over. Read the history file up to `first`, then subscribe again.
struct Behind {
    std::int64_t first = 0;              // oldest record that a subscription can begin with
};

struct Notice {                          // something about the run that cannot be a record, for example that the history cannot be written
    std::string code, sentence;
};

std::string encoded(const Hello &hello);                            // whole frames
std::string encodedRefusal(const Error &error);
std::string encoded(const Command &command);
std::string encoded(const Reply &reply);
std::string encoded(std::int64_t number, std::string_view recordLine);
std::string encoded(const Behind &behind);
std::string encoded(const Notice &notice);

// Each takes the body of a frame of its kind. Fields that are missing, of the wrong type or out of range are errors with code run.bad-message.
Result<Hello> decodeHello(std::string_view body);
Error decodeRefusal(std::string_view body);
Result<Command> decodeCommand(std::string_view body);
Result<Reply> decodeReply(std::string_view body);
Result<Record> decodeRecord(std::string_view body);
Result<Behind> decodeBehind(std::string_view body);
Result<Notice> decodeNotice(std::string_view body);

} // namespace stagewright::protocol
