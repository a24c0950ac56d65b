// Proves that a checkpoint can be stopped and resumed without a difference, by doing it for a few updates in a throw-away folder (README.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/base/result.h"
#include "core/ckptfile/resume_plan.h"
#include "core/config/stage.h"

namespace stagewright::rehearsal {

struct Request {
    std::string checkpoint;                  // folder or glob: the newest whole one
    config::Stage stage;                     // what goes on from it; its outputs are not touched
    std::int64_t steps = 1;                  // updates between two stops; three times as many are made in a row and in pieces
    std::filesystem::path scratch;           // where the throw-away folder is made; empty: the system's folder for temporary files
    std::filesystem::path worker;            // empty: as client::launch()
    std::function<bool(const std::string &sentence)> progress;   // what is being done, several times a second; false cancels
};

struct Rehearsal {
    std::filesystem::path checkpoint;
    std::vector<ckptfile::ResumeItem> items; // a step or a part: what it is without a stop, what it is with two stops, and whether that is the same
    bool possible = false;                   // every leg went through, and nothing differs (on a GPU: or no more than rounding does)
    bool equal = false;                      // bit for bit
    std::optional<std::int64_t> partedAt;    // first step that differs
    Problems problems;
};

// Blocks; any thread but the window's. Errors: no whole checkpoint, resume not possible (Checkpoint), no room on the disk (InputOutput), a
// worker's failure with its own code, cancelled (Stopped). The throw-away folder is gone afterwards in any case.
Result<Rehearsal> rehearse(const Request &request);

// What the command line prints; items as resume-plan's: in_checkpoint without a stop, in_config with two stops.
nlohmann::json toJson(const Rehearsal &rehearsal);

} // namespace stagewright::rehearsal
