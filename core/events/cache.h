// What is asked of the worker that builds a cache of encodings, and what it tells: one JSON object a line, on its standard input and output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/events/fields.h"

namespace stagewright::events {

struct CacheRequest {
    std::string config;                  // the stage as YAML
    std::int64_t epochs = 0;             // whose assignments are wanted; 0: all that the stage trains (core/cache/wanted.h)
    bool check = false;                  // also read every entry that is there, and make the damaged ones again
};

struct CacheRefusal {
    std::int64_t row = 0;
    std::string path, reason;
};

// How far it is; the last one is finished. wanted = present + encoded + refused once it is, where it was not stopped.
struct CacheProgress {
    std::int64_t wanted = 0;
    std::int64_t present = 0;            // there before
    std::int64_t encoded = 0;            // made now
    std::int64_t damaged = 0;            // of those made now: that were there, and damaged
    std::int64_t refused = 0;            // cannot be made
    std::int64_t bytes = 0;              // written now
    double seconds = 0;                  // since it began
    bool finished = false;
    std::vector<CacheRefusal> refusals;  // with the last one: the first hundred
    std::vector<std::string> notes;      // with the last one: sentences about what was made again
    std::optional<Problem> problem;      // why it could not go on
    std::int64_t exit = 0;               // CLI.md's code, with the problem
};

void fields(Is<CacheRequest> auto &r, auto &visit)
{
    visit("config", r.config);
    visit("epochs", r.epochs);
    visit("check", r.check);
}

void fields(Is<CacheRefusal> auto &r, auto &visit)
{
    visit("row", r.row);
    visit("path", r.path);
    visit("reason", r.reason);
}

void fields(Is<CacheProgress> auto &p, auto &visit)
{
    visit("wanted", p.wanted);
    visit("present", p.present);
    visit("encoded", p.encoded);
    visit("damaged", p.damaged);
    visit("refused", p.refused);
    visit("bytes", p.bytes);
    visit("seconds", p.seconds);
    visit("finished", p.finished);
    visit("refusals", p.refusals);
    visit("notes", p.notes);
    visit("problem", p.problem);
    visit("exit", p.exit);
}

} // namespace stagewright::events
