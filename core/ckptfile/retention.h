// Which older checkpoints of a run may go. Only verified ones of the same run count; the rest is never touched.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/file_system.h"
#include "core/ckptfile/listing.h"

namespace stagewright::ckptfile {

struct RetentionRule {
    std::int64_t keepNewest = -1;            // 0 or less keeps all
    std::int64_t keepEvery = 0;              // steps that are multiples stay for ever; 0: none
    std::string run;                         // only checkpoints whose manifest has this run id
};

// From a listing: those to remove, oldest first. `newest` is the checkpoint just verified; it always stays, and nothing newer is touched.
std::vector<std::filesystem::path> prunable(const std::vector<ListedCheckpoint> &listed, const RetentionRule &rule, const std::filesystem::path &newest);

// Removes them: each is first renamed to .tmp-remove-… so that no half-removed folder ever carries a checkpoint's name. A folder `eval`
// inside is kept, as the original keeps it. Returns what was removed; the first failure ends it.
struct Pruned { std::vector<std::filesystem::path> removed; std::vector<Error> errors; };
Pruned prune(const std::vector<std::filesystem::path> &checkpoints, FileSystem &files = realFileSystem());

} // namespace stagewright::ckptfile
