// The loop of a run: batches to updates to records and saves, until the end, a request or a failure.
#pragma once

#include "core/base/result.h"
#include "core/events/record.h"
#include "core/train/reporter.h"
#include "core/train/settings.h"
#include "core/train/setup.h"
#include "core/train/trainer.h"

namespace stagewright::train {

// As Trainer::run().
Result<events::Summary> runLoop(const TrainerParts &parts, const Settings &settings, RunParts &run, Reporter &reporter);

} // namespace stagewright::train
