#include "core/ckptfile/retention.h"

#include <algorithm>
#include <cerrno>

#include "core/base/files.h"
#include "core/ckptfile/leftovers.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

std::vector<fs::path> prunable(const std::vector<ListedCheckpoint> &listed, const RetentionRule &rule, const fs::path &newest)
{
    if (rule.keepNewest <= 0)
        return {};
    const auto verified = std::find_if(listed.begin(), listed.end(), [&](const ListedCheckpoint &checkpoint) { return checkpoint.path == newest; });
    if (verified == listed.end())
        return {};
    // Ours, of this run, verified; hidden names (a replacement under way) and everything newer than `newest` are left alone.
    std::vector<const ListedCheckpoint *> mine;
    for (const ListedCheckpoint &checkpoint : listed) {
        const bool whole = checkpoint.badge == Badge::Verified;
        const bool hidden = checkpoint.path.filename().string().starts_with(".");
        if (checkpoint.ours && checkpoint.run == rule.run && whole && !hidden && checkpoint.step <= verified->step)
            mine.push_back(&checkpoint);
    }
    std::vector<fs::path> gone;
    std::int64_t kept = 0;
    for (const ListedCheckpoint *checkpoint : mine) {            // newest first
        const bool milestone = rule.keepEvery > 0 && checkpoint->step % rule.keepEvery == 0;
        if (kept < rule.keepNewest) {
            ++kept;
            continue;
        }
        if (!milestone && checkpoint->path != newest)
            gone.push_back(checkpoint->path);
    }
    std::reverse(gone.begin(), gone.end());
    return gone;
}

namespace {

// Everything but `eval` goes; without an `eval` the folder itself goes under another name first.
int removeCheckpoint(FileSystem &files, const fs::path &checkpoint)
{
    std::error_code ignored;
    const fs::path doomed = checkpoint.parent_path() / removalName(checkpoint.filename().string());
    const bool keepsEval = fs::is_directory(checkpoint / "eval", ignored);
    if (files.renameFolder(checkpoint, doomed) != 0)
        return errno;
    if (keepsEval) {
        // The results go back under the old name alone: no part of a checkpoint is ever seen there again.
        if (files.makeFolder(checkpoint) != 0 || files.renameFolder(doomed / "eval", checkpoint / "eval") != 0)
            return errno;
    }
    return files.removeTree(doomed) == 0 ? 0 : errno;
}

} // namespace

Pruned prune(const std::vector<fs::path> &checkpoints, FileSystem &files)
{
    Pruned pruned;
    for (const fs::path &checkpoint : checkpoints) {
        if (const int failed = removeCheckpoint(files, checkpoint); failed != 0) {
            pruned.errors.push_back(ioError("remove the old checkpoint", checkpoint, failed));
            break;
        }
        pruned.removed.push_back(checkpoint);
    }
    return pruned;
}

} // namespace stagewright::ckptfile
