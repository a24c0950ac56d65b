// What a resume would do, said before anything is loaded: for each part what the checkpoint has, what the config says, what will happen.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/config/stage.h"

namespace stagewright::ckptfile {

struct ResumeItem {
    std::string what;                        // "weights", "master weights", "EMA", "optimizer", "learning rate", "scheduler", "data position", "random streams", …
    std::string inCheckpoint, inConfig;      // "—" where there is nothing to say
    std::string outcome;                     // a sentence
    Severity severity = Severity::Hint;      // Hint: fine; Warning: changes or ignores something; Error: makes the resume impossible
};

struct ResumePlan {
    std::filesystem::path checkpoint;
    std::vector<ResumeItem> items;
    bool possible = false;
    bool dataPositionUsable = false;         // dataset, buckets, batch and world size are as they were
    Problems problems;
};

struct ResumeSurroundings {
    std::optional<std::string> datasetFingerprint;   // of the data that the resumed run would read; unknown: compared by path only
    int worldSize = 1;
    bool weightsOnly = false;
    bool ignoreDataPosition = false;         // --start-step 0 --start-epoch 0
};

// checkpoint: a folder or a glob (the newest whole one). stage: null takes the checkpoint's own config. Errors: nothing whole there, unreadable.
Result<ResumePlan> resumePlan(const std::string &checkpoint, const config::Stage *stage, const ResumeSurroundings &surroundings = {});
nlohmann::json toJson(const ResumePlan &plan);       // {"items": […], "possible": …} of the command line

} // namespace stagewright::ckptfile
