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

// Everything but `eval` goes: under another name first, then the results go back under the old one alone, so that no part of a checkpoint is ever seen there again.
Status removeCheckpoint(FileSystem &files, const fs::path &checkpoint)
{
    const fs::path doomed = checkpoint.parent_path() / removalName(checkpoint.filename().string());
    if (files.renameFolder(checkpoint, doomed) != 0)
        return ioError("remove the old checkpoint", checkpoint, errno);
    if (Status kept = keepResults(files, doomed, checkpoint); !kept)
        return kept;
    return files.removeTree(doomed) == 0 ? Status(Done{}) : ioError("remove the old checkpoint", checkpoint, errno);
}

} // namespace

Pruned prune(const std::vector<fs::path> &checkpoints, FileSystem &files)
{
    Pruned pruned;
    for (const fs::path &checkpoint : checkpoints) {
        if (Status removed = removeCheckpoint(files, checkpoint); !removed) {
            pruned.errors.push_back(removed.error());
            break;
        }
        pruned.removed.push_back(checkpoint);
    }
    return pruned;
}

} // namespace stagewright::ckptfile
