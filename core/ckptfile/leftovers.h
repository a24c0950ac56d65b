// What a crash leaves behind: temporary folders that nobody writes any more, and replacements interrupted between two renames.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/file_system.h"
#include "core/ckptfile/verify.h"

namespace stagewright::ckptfile {

struct Leftover {
    // HalfReplaced: the only whole copy of its step; cleaning puts it back in place. Superseded: the version before the last save of its step, which was
    // not verified yet; cleaning compares the newer one first, and puts this one back where that is damaged. Uncommitted: a save that was
    // written whole and had not got its name yet; cleaning gives it.
    enum class Kind { Unfinished, HalfReplaced, HalfRemoved, Superseded, Uncommitted };
    std::filesystem::path path;
    std::filesystem::path target;            // the checkpoint that it belongs to
    Kind kind = Kind::Unfinished;
    std::int64_t bytes = 0;
    bool alive = false;                      // its writer still runs (or may, on another machine): never cleaned
    std::string sentence;                    // what it is and what cleaning does
};
const char *leftoverName(Leftover::Kind kind);           // "unfinished", "half-replaced", …

// In a run folder (not below its checkpoints). The writer's process is named in the temporary folder's name. Sizes only are looked at.
Result<std::vector<Leftover>> findLeftovers(const std::filesystem::path &run);
// Removes, completes or puts back; reads whole checkpoints where that is asked above. Results in an `eval` folder are never lost: they go to the checkpoint of their name.
// Returns the paths that are gone; the first failure is returned after trying all. progress: bytes of the checkpoint that is being read; false cancels.
Result<std::vector<std::filesystem::path>> cleanLeftovers(const std::vector<Leftover> &leftovers, const ReadProgress &progress = {});

// An older version's results go with its name: `from`/eval becomes `to`/eval unless there is one. Error: the move failed.
Status keepResults(FileSystem &files, const std::filesystem::path &from, const std::filesystem::path &to);

// Where an older checkpoint of the same step goes while the new one takes its place, and one that is being pruned.
std::string replacedName(const std::string &temporary);                       // TEMPORARY.replaced
std::filesystem::path damagedName(const std::filesystem::path &target);       // where one that read back wrong is kept: TARGET.damaged
std::string removalName(const std::string &targetName);                       // .tmp-remove-TARGET.PID-STARTTICKS-N
std::optional<std::string> replacedTarget(std::string_view name);             // the target's name, of a name that replacedName() made

// ".tmp-epoch0-global_step5.PID-STARTTICKS-N", in the folder of the target. N makes it unique inside the process.
std::string temporaryName(const std::string &targetName);

} // namespace stagewright::ckptfile
