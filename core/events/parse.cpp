// JSON lines to records.
#include "core/events/fields.h"
#include "core/events/json_reader.h"

namespace stagewright::events {

namespace {

using nlohmann::json;

Error badRecord(const std::string &why)
{
    return Error(ExitCode::InputOutput, "run.bad-record", "not a record of a run: " + why);
}

template <std::size_t At = 0>
bool emplaceNamed(const std::string &name, Payload &payload)
{
    if constexpr (At == std::variant_size_v<Payload>) {
        return false;
    } else if (name == kEventNames[At]) {
        payload.emplace<At>();
        return true;
    } else {
        return emplaceNamed<At + 1>(name, payload);
    }
}

// Rows of a trace have one length; a column that was all zero was not written.
const char *inconsistency(MemoryTrace &trace)
{
    if (trace.bytes.size() > trace.at.size() || trace.phase.size() > trace.at.size())
        return "\"bytes\" or \"phase\" is longer than \"at\"";
    trace.bytes.resize(trace.at.size());
    trace.phase.resize(trace.at.size());
    return nullptr;
}
template <class T>
const char *inconsistency(T &) { return nullptr; }

} // namespace

namespace {

// Records are flat objects with lists and small objects inside; what nests deeper is no record, and is refused before it costs memory.
bool isNestedDeeply(std::string_view line)
{
    constexpr int kDeepest = 32;
    int depth = 0;
    bool inString = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (inString) {
            if (c == '\\')
                ++i;
            else if (c == '"')
                inString = false;
        } else if (c == '"') {
            inString = true;
        } else if (c == '[' || c == '{') {
            if (++depth > kDeepest)
                return true;
        } else if (c == ']' || c == '}') {
            --depth;
        }
    }
    return false;
}

} // namespace

Result<Record> parseRecord(std::string_view line)
{
    if (isNestedDeeply(line))
        return badRecord("values are nested too deeply for a record");
    const json object = json::parse(line.begin(), line.end(), nullptr, false);
    if (object.is_discarded())
        return badRecord("the line is not JSON");
    if (!object.is_object())
        return badRecord("the line is not a JSON object");
    const auto event = object.find("event");
    if (event == object.end() || !event->is_string())
        return badRecord("there is no \"event\"");

    Record record;
    if (const auto &name = event->get_ref<const std::string &>(); !emplaceNamed(name, record.payload)) {
        return Error(ExitCode::Other, "run.unknown-event",
                     "the event \"" + name.substr(0, 64) + "\" is not known here; a newer version of Stagewright wrote it");
    }
    FieldReader read(object);
    read("time", record.time);
    read("step", record.step);
    const char *odd = nullptr;
    std::visit([&](auto &payload) {
        fields(payload, read);
        odd = inconsistency(payload);
    }, record.payload);
    if (!read.wrong().empty())
        return badRecord(std::string("in a ") + eventName(record.payload) + " event " + read.wrong());
    if (odd)
        return badRecord(std::string("in a ") + eventName(record.payload) + " event " + odd);
    return record;
}

} // namespace stagewright::events
