// The worker: one stage, trained in this process, from the command line to the exit code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/exit_code.h"
#include "core/base/result.h"
#include "core/config/overrides.h"
#include "core/config/stage.h"
#include "core/events/record.h"
#include "core/runhost/run_host.h"

namespace stagewright::service {

struct WorkerOptions {
    std::filesystem::path config;                      // stage file; empty: the run folder's config.yaml
    std::vector<config::Override> overrides;           // only with config
    std::filesystem::path runFolder;                   // made by the launcher; empty: {outputs}/{exp_name or the default name} is made here
    std::optional<std::uint32_t> wire;                 // version of the protocol that the launcher speaks; nothing: there is no launcher
    std::int64_t stopAfterSteps = 0;                   // stop with a save after this many updates; 0: when asked
    std::vector<std::string> commandLine;              // for run.json
};

// Trains the stage as the run; what is returned becomes the run's summary, an error its failure. May throw: that becomes a failure too.
using TrainFunction = std::function<Result<events::Summary>(const config::Stage &stage, runhost::RunHost &host)>;

// Trains and returns the exit code of CLI.md. Never throws: everything that goes wrong ends as State "failed" in the run directory with a
// sentence, or on standard error where there is no run directory yet. SIGTERM, SIGINT and "stop" end it after the update; "at once" within
// a few seconds, whatever the training thread is doing. Call once, on the main thread.
ExitCode runTraining(const WorkerOptions &options);
ExitCode runTraining(const WorkerOptions &options, const TrainFunction &train);

// The real thing: device, checkpoint, data, trainer.
Result<events::Summary> trainStage(const config::Stage &stage, runhost::RunHost &host);

// The devices of this machine as one JSON object: {"devices":[{"device":"cpu","name":…,"total_bytes":…,"available":true,"reason":""}],"auto":"cpu","auto_reason":…}.
std::string probe();

} // namespace stagewright::service
