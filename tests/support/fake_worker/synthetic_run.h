// A training run that nobody trains: plausible records at a given speed, and every way in which a run can end.
#pragma once

#include "core/events/record.h"
#include "core/train/sink.h"
#include "tests/support/fake_worker/behaviour.h"

namespace stagewright::fake {

struct Outcome {
    events::Summary summary;
    std::string sentence;
};

Outcome runSynthetic(const Behaviour &behaviour, train::Sink &sink);

} // namespace stagewright::fake
