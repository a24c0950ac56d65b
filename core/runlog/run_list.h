// The runs in an outputs folder. 1,000 of them are listed in under 200 ms: two small files each are read, never a history that has a lease's word.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/runlog/run_state.h"

namespace stagewright::runlog {

struct RunListing {
    std::filesystem::path folder;
    std::string name;
    std::string id;
    RunState state = RunState::Unknown;
    std::string phase;                     // of a running one: as in events::State
    std::int64_t step = -1;
    int pid = 0;                           // of a running one, else 0
    double started = 0;                    // seconds since 1970
    std::optional<int> exit;
    std::string sentence;
    std::string stageFile, parent;
};

// Newest first. A folder that is itself a run is listed alone. Error: the folder is missing or cannot be read.
Result<std::vector<RunListing>> listRuns(const std::filesystem::path &outputs);
RunListing listingOf(const std::filesystem::path &runFolder);

} // namespace stagewright::runlog
