// Moving a checkpoint to the desktop's trash, and what speaks against it.
#pragma once

#include <QStringList>
#include <filesystem>

namespace stagewright::session {

struct RemovalFacts {
    bool isNewestWhole = false;            // of its folder: the one that a resume would take
    bool isOnlyWhole = false;              // and no older one is whole either
    bool isBeingWritten = false;           // by a process that lives
    QStringList usedBy;                    // runs going on that began from it
};

// Reads folders and small files: any thread but the window's. watchedRun: a run to look at beside those next to the checkpoint's own; may be empty.
RemovalFacts removalFacts(const std::filesystem::path &checkpoint, const std::filesystem::path &watchedRun);

// Any thread but the window's. Returns why it is still there, empty where it went.
QString moveToTrash(const std::filesystem::path &checkpoint);

} // namespace stagewright::session
