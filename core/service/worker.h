// The worker: one stage, trained in this process, from the command line to the exit code.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/exit_code.h"
#include "core/config/stage.h"

namespace stagewright::service {

struct WorkerOptions {
    std::filesystem::path config;                      // stage file; with runFolder alone: its config.yaml
    std::vector<config::Override> overrides;           // only with config
    std::filesystem::path runFolder;                   // made by the launcher; empty: {outputs}/{exp_name or the default name} is made here
    std::filesystem::path parentRun;                   // that this run resumes
    std::vector<std::string> commandLine;
};

// Trains and returns the exit code of CLI.md. Never throws: everything that goes wrong ends as State "failed" in the run directory with a
// sentence, on standard error where there is no run directory yet. Call once, on the main thread.
ExitCode runTraining(const WorkerOptions &options);

// The devices of this machine as one JSON object: {"devices":[{"device":"cpu","name":…,"total_bytes":…,"available":true,"reason":…}],"auto":"cpu","auto_reason":…}.
std::string probe();

} // namespace stagewright::service
