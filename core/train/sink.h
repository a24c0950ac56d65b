// What the trainer needs of the world around it: somewhere to report records, and somebody who may ask it to save or stop.
// The trainer owns this interface; core/service implements it. Both functions are called on the training thread only and must not block.
#pragma once

#include "core/events/record.h"

namespace stagewright::train {

enum class StopRequest { None, SaveAndStop, StopWithoutSaving, Now };

struct Requests {
    StopRequest stop = StopRequest::None;
    bool save = false;                   // a save was asked for since the last call
};

class Sink
{
public:
    virtual ~Sink() = default;
    virtual void report(events::Record record) = 0;
    virtual Requests poll() = 0;         // asked at every update boundary, and (for Now) between micro-steps
};

} // namespace stagewright::train
