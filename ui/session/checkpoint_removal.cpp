#include "ui/session/checkpoint_removal.h"

#include <QCoreApplication>
#include <QFile>
#include <algorithm>

#include "core/ckptfile/leftovers.h"
#include "core/ckptfile/listing.h"
#include "core/runlog/run_directory.h"
#include "core/runlog/run_list.h"

namespace stagewright::session {

namespace fs = std::filesystem;

static bool isWhole(const ckptfile::ListedCheckpoint &listed)
{
    using ckptfile::Badge;
    return listed.badge == Badge::Verified || listed.badge == Badge::Complete || listed.badge == Badge::Unverified || listed.badge == Badge::Foreign;
}

static bool isSame(const fs::path &a, const fs::path &b)
{
    std::error_code ignored;
    return a.lexically_normal() == b.lexically_normal() || fs::equivalent(a, b, ignored);
}

static void addUser(RemovalFacts &facts, const runlog::RunListing &run, const fs::path &checkpoint)
{
    if (run.pid == 0)
        return;
    const auto identity = runlog::readIdentity(run.folder);
    if (!identity || identity->loadedFrom.empty() || !isSame(identity->loadedFrom, checkpoint))
        return;
    const QString name = QString::fromStdString(run.name);
    if (!facts.usedBy.contains(name))
        facts.usedBy << name;
}

RemovalFacts removalFacts(const fs::path &checkpoint, const fs::path &watchedRun)
{
    RemovalFacts facts;
    const fs::path folder = checkpoint.parent_path();
    if (const auto listed = ckptfile::listCheckpoints(folder)) {
        const auto newest = std::find_if(listed->begin(), listed->end(), isWhole);       // the newest comes first
        facts.isNewestWhole = newest != listed->end() && isSame(newest->path, checkpoint);
        facts.isOnlyWhole = facts.isNewestWhole && std::count_if(listed->begin(), listed->end(), isWhole) == 1;
    }
    if (const auto leftovers = ckptfile::findLeftovers(folder)) {
        facts.isBeingWritten = std::any_of(leftovers->begin(), leftovers->end(), [&](const auto &leftover) {
            return leftover.alive && leftover.path.filename().string().find(checkpoint.filename().string() + '.') != std::string::npos;
        });
    }
    if (const auto runs = runlog::listRuns(folder.parent_path())) {
        for (const auto &run : *runs)
            addUser(facts, run, checkpoint);
    }
    if (!watchedRun.empty())
        addUser(facts, runlog::listingOf(watchedRun), checkpoint);
    return facts;
}

QString moveToTrash(const fs::path &checkpoint)
{
    const QString path = QString::fromStdString(checkpoint.string());
    std::error_code failed;
    if (!fs::exists(fs::symlink_status(checkpoint, failed)))
        return QCoreApplication::translate("CheckpointRemoval", "%1 is not there any more.").arg(path);
    QFile file(path);
    if (file.moveToTrash())
        return {};
    return QCoreApplication::translate("CheckpointRemoval", "%1 cannot be moved to the trash (%2). Its folder may be read-only, or its disk have no trash. Nothing was deleted.")
        .arg(path, file.errorString());
}

} // namespace stagewright::session
