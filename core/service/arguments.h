// The worker's command line: stagewright-worker train [CONFIG] [--config FILE] [--run-folder FOLDER] [--wire N] [--KEY VALUE …] | plan [--wire N] | cache [--wire N] | probe | --version | --help
#pragma once

#include <string>
#include <vector>

#include "core/service/worker.h"

namespace stagewright::service {

enum class Task { Train, Plan, Cache, Probe, Version, Help };

struct Arguments {
    Task task = Task::Help;
    WorkerOptions options;
};

// arguments: without the program. Overrides may stand anywhere after "train", as for stagewright-cli.
Result<Arguments> parseArguments(const std::vector<std::string> &arguments);
std::string helpText();

// Everything that main() does.
int runWorker(const std::vector<std::string> &arguments);

} // namespace stagewright::service
