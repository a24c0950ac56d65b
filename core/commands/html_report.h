// One self-contained HTML page about a run: figures, plots, checkpoints, what went wrong, the config. No script, no network.
#pragma once

#include <string>
#include <vector>

#include "core/events/record.h"

namespace stagewright::commands {

struct ReportInput {
    std::string runName;
    std::string stateSentence;                     // "finished", "died: …"
    std::vector<events::Record> records;           // the run's history, in order
    std::string configText;                        // config.yaml as text
};

std::string htmlReport(const ReportInput &input);

} // namespace stagewright::commands
