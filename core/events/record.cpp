// Records to JSON lines.
#include "core/events/record.h"

#include "core/events/fields.h"
#include "core/events/json_writer.h"

namespace stagewright::events {

const char *eventName(const Payload &payload)
{
    return kEventNames[payload.index()];
}

std::string toJsonLine(const Record &record)
{
    std::string line;
    line.reserve(1024);
    JsonOut json(line);
    json.open('{');
    FieldWriter write(json);
    json.name("event");
    json.text(eventName(record.payload));
    write("time", record.time);
    if (record.step >= 0)
        write("step", record.step);
    std::visit([&](const auto &payload) { fields(payload, write); }, record.payload);
    json.close('}');
    return line;
}

} // namespace stagewright::events
