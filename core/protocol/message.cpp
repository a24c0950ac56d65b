#include "core/protocol/message.h"

#include "core/events/json_reader.h"
#include "core/events/json_writer.h"

namespace stagewright::protocol {

namespace {

constexpr std::array<const char *, 4> kCommandNames{"subscribe", "ping", "save", "stop"};
constexpr std::array<const char *, 3> kStopModeNames{"save", "no_save", "now"};

Error badMessage(const std::string &what, const std::string &wrong)
{
    return Error(ExitCode::Other, "run.bad-message", "a " + what + " from the other end cannot be understood: " + wrong);
}

template <class T>
Status read(const char *what, std::string_view body, T &value)
{
    if (const auto wrong = events::fromJsonObject(body, value))
        return badMessage(what, *wrong);
    return Done{};
}

template <class E, std::size_t N>
bool named(const std::string &name, const std::array<const char *, N> &names, E &value)
{
    for (std::size_t at = 0; at < N; ++at) {
        if (name == names[at]) {
            value = static_cast<E>(at);
            return true;
        }
    }
    return false;
}

} // namespace

// The forms on the wire, where they differ from the structs that the program uses.
struct WireCommand {
    std::int64_t id = -1;
    std::string command;
    std::optional<std::string> mode;
    std::optional<std::int64_t> from;
};

struct WireReply {
    std::int64_t id = -1;
    bool ok = false;
    std::optional<std::string> code, message;
    std::optional<int> exit;
    std::string state;
    std::int64_t step = -1, records = 0;
};

struct WireRefusal {
    std::string code, message;
};

void fields(events::Is<Hello> auto &h, auto &visit)
{
    visit("program", h.program);
    visit("run_id", h.runId);
    visit("run", h.run);
    visit("records", h.records);
    visit("pid", h.pid);
}

void fields(events::Is<WireCommand> auto &c, auto &visit)
{
    visit("id", c.id);
    visit("command", c.command);
    visit("mode", c.mode);
    visit("from", c.from);
}

void fields(events::Is<WireReply> auto &r, auto &visit)
{
    visit("id", r.id);
    visit("ok", r.ok);
    visit("code", r.code);
    visit("message", r.message);
    visit("exit", r.exit);
    visit("state", r.state);
    visit("step", r.step);
    visit("records", r.records);
}

void fields(events::Is<WireRefusal> auto &r, auto &visit)
{
    visit("code", r.code);
    visit("message", r.message);
}

void fields(events::Is<Behind> auto &b, auto &visit) { visit("first", b.first); }

void fields(events::Is<Notice> auto &n, auto &visit)
{
    visit("code", n.code);
    visit("sentence", n.sentence);
}

const char *stopModeName(StopMode mode)
{
    return kStopModeNames[static_cast<std::size_t>(mode)];
}

std::string encoded(const Hello &hello) { return frameBytes(FrameKind::Hello, events::toJsonObject(hello)); }

std::string encodedRefusal(const Error &error)
{
    return frameBytes(FrameKind::Refusal, events::toJsonObject(WireRefusal{error.problem.code, error.message()}));
}

std::string encoded(const Command &command)
{
    WireCommand wire{command.id, kCommandNames[static_cast<std::size_t>(command.kind)], std::nullopt, std::nullopt};
    if (command.kind == CommandKind::Stop)
        wire.mode = stopModeName(command.mode);
    if (command.kind == CommandKind::Subscribe)
        wire.from = command.from;
    return frameBytes(FrameKind::Command, events::toJsonObject(wire));
}

std::string encoded(const Reply &reply)
{
    WireReply wire{reply.id, reply.ok(), std::nullopt, std::nullopt, std::nullopt, reply.state, reply.step, reply.records};
    if (reply.error) {
        wire.code = reply.error->problem.code;
        wire.message = reply.error->message();
        wire.exit = static_cast<int>(reply.error->exit);
    }
    return frameBytes(FrameKind::Reply, events::toJsonObject(wire));
}

std::string encoded(std::int64_t number, std::string_view recordLine)
{
    std::string body;
    body.reserve(8 + recordLine.size());
    for (int shift = 0; shift < 64; shift += 8)
        body += static_cast<char>(static_cast<std::uint64_t>(number) >> shift & 0xFF);
    body += recordLine;
    return frameBytes(FrameKind::Record, body);
}

std::string encoded(const Behind &behind) { return frameBytes(FrameKind::Behind, events::toJsonObject(behind)); }
std::string encoded(const Notice &notice) { return frameBytes(FrameKind::Notice, events::toJsonObject(notice)); }

Result<Hello> decodeHello(std::string_view body)
{
    Hello hello;
    if (auto status = read("greeting", body, hello); !status)
        return status.error();
    return hello;
}

Error decodeRefusal(std::string_view body)
{
    WireRefusal wire;
    if (auto status = read("refusal", body, wire); !status)
        return status.error();
    return Error(ExitCode::Other, wire.code.empty() ? "run.refused" : wire.code, wire.message.empty() ? "the worker refused the connection" : wire.message);
}

Result<Command> decodeCommand(std::string_view body)
{
    WireCommand wire;
    if (auto status = read("command", body, wire); !status)
        return status.error();
    Command command;
    if (wire.id < 0)
        return badMessage("command", "\"id\" is missing or negative");
    command.id = wire.id;
    if (!named(wire.command, kCommandNames, command.kind))
        return badMessage("command", "\"" + wire.command.substr(0, 64) + "\" is none");
    if (wire.mode && !named(*wire.mode, kStopModeNames, command.mode))
        return badMessage("command", "\"" + wire.mode->substr(0, 64) + "\" is no way to stop");
    if (command.kind == CommandKind::Stop && !wire.mode)
        return badMessage("command", "\"mode\" is missing");
    if (wire.from && *wire.from < 0)
        return badMessage("command", "\"from\" is negative");
    command.from = wire.from.value_or(0);
    return command;
}

Result<Reply> decodeReply(std::string_view body)
{
    WireReply wire;
    if (auto status = read("reply", body, wire); !status)
        return status.error();
    if (wire.id < 0)
        return badMessage("reply", "\"id\" is missing or negative");
    Reply reply;
    reply.id = wire.id;
    reply.state = wire.state;
    reply.step = wire.step;
    reply.records = wire.records;
    if (!wire.ok) {
        const int exit = wire.exit.value_or(1);
        reply.error = Error(exit >= 1 && exit <= 8 ? static_cast<ExitCode>(exit) : ExitCode::Other, wire.code.value_or("run.command-failed"),
                            wire.message.value_or("the worker did not take the command and did not say why"));
    }
    return reply;
}

Result<Record> decodeRecord(std::string_view body)
{
    if (body.size() < 8)
        return badMessage("record", "it is shorter than its number");
    std::uint64_t number = 0;
    for (int at = 7; at >= 0; --at)
        number = number << 8 | static_cast<unsigned char>(body[static_cast<std::size_t>(at)]);
    if (number > (std::uint64_t(1) << 62))
        return badMessage("record", "its number is out of range");
    return Record{static_cast<std::int64_t>(number), std::string(body.substr(8))};
}

Result<Behind> decodeBehind(std::string_view body)
{
    Behind behind;
    if (auto status = read("notice", body, behind); !status)
        return status.error();
    if (behind.first < 0)
        return badMessage("notice", "\"first\" is negative");
    return behind;
}

Result<Notice> decodeNotice(std::string_view body)
{
    Notice notice;
    if (auto status = read("notice", body, notice); !status)
        return status.error();
    return notice;
}

} // namespace stagewright::protocol
