// The checkpoints in a folder, quickly: names, sizes and manifests are read, never the data. For browsers and for "the newest whole one".
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/inspect.h"
#include "core/ckptfile/verify.h"

namespace stagewright::ckptfile {

struct ListedCheckpoint {
    std::filesystem::path path;
    std::int64_t epoch = 0, step = 0;
    std::int64_t bytes = 0;                  // as the manifest says; of the files' sizes where there is none
    double modified = 0;                     // seconds since 1970
    bool ours = false;
    std::string run;                         // run id, empty where foreign
    Badge badge = Badge::Incomplete;         // by names and sizes only
    std::string sentence;                    // why it is not whole
};

// Checkpoint folders directly in `folder`, newest (highest step, then epoch) first; also a folder that is itself one. A checkpoint whose
// replacement was interrupted between two renames is listed under its hidden name. Cancelled by a false return of `next`, which sees the
// entries while the others are still looked for, on the calling thread. Error: the folder cannot be read.
Result<std::vector<ListedCheckpoint>> listCheckpoints(const std::filesystem::path &folder,
                                                      const std::function<bool(const ListedCheckpoint &)> &next = {});

struct Newest {
    std::filesystem::path path;
    std::vector<std::string> rejected;       // sentences about newer ones that are not whole
};
// path: a checkpoint, a folder with checkpoints, or a glob with * ? [abc] in any part. Takes the highest step (then epoch) of which every part
// opens: its index files, headers and small files are read. Error (exit Checkpoint): none, with what was found instead.
Result<Newest> newestComplete(const std::string &pathOrGlob);
// As newestComplete(), and every byte of the one that is taken was read (checkSound). Where that finds a fault the next older one is taken and
// `rejected` says why. Error also: cancelled by progress; the fault itself where no older one is whole.
Result<Newest> newestSound(const std::string &pathOrGlob, const ReadProgress &progress = {});
bool namesCheckpoint(const std::filesystem::path &path);         // a folder that is a checkpoint, whole or not, by its name or its parts
// As newestComplete(); but a checkpoint that is named itself is taken as it is, for callers that say what is wrong with it.
Result<Newest> newestOrNamed(const std::string &pathOrGlob);
std::vector<std::filesystem::path> expandGlob(const std::string &pattern);       // existing paths, sorted; the pattern itself where it has no wildcard

} // namespace stagewright::ckptfile
