// What a crash leaves behind: temporary folders that nobody writes any more, and replacements interrupted between two renames.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stagewright::ckptfile {

struct Leftover {
    enum class Kind { Unfinished, HalfReplaced, HalfRemoved };   // HalfReplaced: the only whole copy of its step; cleaning puts it back in place
    std::filesystem::path path;
    Kind kind = Kind::Unfinished;
    std::int64_t bytes = 0;
    bool alive = false;                      // its writer still runs (or may, on another machine): never cleaned
    std::string sentence;                    // what it is and what cleaning does
};

// In a run folder (not below its checkpoints). The writer's process is named in the temporary folder's name.
Result<std::vector<Leftover>> findLeftovers(const std::filesystem::path &run);
// Removes or puts back. Returns the paths that are gone; the first failure is returned after trying all.
Result<std::vector<std::filesystem::path>> cleanLeftovers(const std::vector<Leftover> &leftovers);

// Where an older checkpoint of the same step goes while the new one takes its place, and one that is being pruned.
std::string replacedName(const std::string &temporary);                       // TEMPORARY.replaced
std::string removalName(const std::string &targetName);                       // .tmp-remove-TARGET.PID-STARTTICKS-N
std::optional<std::string> replacedTarget(std::string_view name);             // the target's name, of a name that replacedName() made

// ".tmp-epoch0-global_step5.PID-STARTTICKS-N", in the folder of the target. N makes it unique inside the process.
std::string temporaryName(const std::string &targetName);

} // namespace stagewright::ckptfile
