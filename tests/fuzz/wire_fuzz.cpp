// Feeds changed bytes to what reads a run from outside: the frames of the socket in pieces of any size, its messages, and the records of a history.
#include "core/events/record.h"
#include "core/protocol/frame.h"
#include "core/protocol/message.h"
#include "tests/fuzz/harness.h"

using namespace stagewright;
using namespace stagewright::protocol;

namespace {

template <class T>
void mustBeAnswer(const Result<T> &decoded)
{
    if (!decoded)
        fuzz::mustBeSentence(decoded.error());
}

void decode(const Frame &frame)
{
    switch (frame.kind) {
    case FrameKind::Hello: return mustBeAnswer(decodeHello(frame.body));
    case FrameKind::Refusal: return fuzz::mustBeSentence(decodeRefusal(frame.body));
    case FrameKind::Command: return mustBeAnswer(decodeCommand(frame.body));
    case FrameKind::Reply: return mustBeAnswer(decodeReply(frame.body));
    case FrameKind::Record: return mustBeAnswer(decodeRecord(frame.body));
    case FrameKind::Behind: return mustBeAnswer(decodeBehind(frame.body));
    case FrameKind::Notice: return mustBeAnswer(decodeNotice(frame.body));
    }
    fuzz::fail("a frame of an unknown kind was let through");
}

// The same frames must come whatever the pieces in which the bytes arrive.
std::vector<std::string> framesOf(const std::string &bytes, const std::function<std::size_t()> &pieceSize)
{
    std::vector<std::string> bodies;
    FrameReader reader(kMaxCommandBytes);
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t size = std::min(pieceSize(), bytes.size() - at);
        reader.feed(std::string_view(bytes).substr(at, size));
        at += size;
        for (;;) {
            const auto frame = reader.next();
            if (!frame) {
                fuzz::mustBeSentence(frame.error());
                if (reader.next())
                    fuzz::fail("a broken connection went on");
                return bodies;
            }
            if (!*frame)
                break;
            decode(**frame);
            bodies.push_back((*frame)->body);
        }
    }
    return bodies;
}

void readStream(const std::string &bytes, fuzz::Random &random)
{
    const auto whole = framesOf(bytes, [&] { return bytes.size(); });
    if (framesOf(bytes, [&] { return std::size_t(1 + random() % 9); }) != whole)
        fuzz::fail("other frames come when the bytes arrive in other pieces");
}

} // namespace

int main(int argc, char **argv)
{
    Hello hello{"0.1.0", "0123456789abcdef", "/runs/a b", 12, 4711};
    Command stop;
    stop.id = 3;
    stop.kind = CommandKind::Stop;
    Reply reply;
    reply.id = 3;
    reply.state = "training";
    reply.error = Error(ExitCode::Other, "run.no", "no");
    const std::string step = R"({"event":"step","time":1.5,"step":3,"loss":0.5,"lr":1e-05,"grad_norm":null,"bucket":{"resolution":"256px","frames":17,"height":192,"width":336,"batch_size":2},"seconds":0.1,"peak_by_kind":{"weights":7},"rows":[1,2]})";
    const std::string memory = R"({"event":"memory","time":2,"step":3,"at":[0,0.1],"phase":[0,4],"bytes":{"weights":[1,2],"activations":[3,4]},"host":{},"resident_bytes":9})";
    const std::string checkpoint = R"({"event":"checkpoint","time":2,"path":"/r/epoch0-global_step4","phase":"write","file":"model/a","bytes":1,"total_bytes":2})";
    const std::string problem = R"({"event":"problem","time":2,"severity":"error","code":"data.x","message":"m","fix":{"title":"t","edits":[{"path":"a","from":1,"to":2}]}})";
    const std::string start = preamble();
    const std::vector<std::string> streams = {start + encoded(hello) + encoded(stop), start + encoded(hello) + encoded(reply) + encoded(7, step) + encoded(Behind{5}) + encoded(Notice{"run.x", "s"}),
                                              start + encodedRefusal(Error(ExitCode::Other, "run.no", "no")), preamble(kWireVersion + 1)};
    const std::vector<std::string> words = {"{", "}", "[", "]", ":", ",", "\"", "null", "true", "1e999", "-1", "9223372036854775808", "\"event\":", "\"step\":", "\\ud800", "\xff", std::string(1, '\0'), std::string("\xff\xff\xff\xff\x05", 5), std::string("\x10\0\0\0\x03", 5),
                                            "[[[[[[[[[[[[", "STAGEWRT", "\n"};
    return fuzz::run(argc, argv, {{"wire", streams, words, readStream}, {"jsonl", {step, memory, checkpoint, problem}, words, [](const std::string &line, fuzz::Random &) { mustBeAnswer(events::parseRecord(line)); }}});
}
