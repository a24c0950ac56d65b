// From the worker's options to a run: its folder, its stage, its host.
#pragma once

#include <memory>

#include "core/service/worker.h"

namespace stagewright::service {

struct RunSetup {
    std::unique_ptr<runhost::RunHost> host;
    Result<config::Stage> stage;                       // an error of it belongs into the run, which exists already
};

// Error: there is no run directory in which a failure could be told.
Result<RunSetup> setUpRun(const WorkerOptions &options);

// One process trains; the launcher's variables for several (RANK, WORLD_SIZE) are refused with a sentence until they mean something.
Status checkWorldSize();

} // namespace stagewright::service
