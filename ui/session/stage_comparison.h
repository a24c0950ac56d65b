// What the open stage can be compared with, and what differs. Free of Qt's event loop: meant for another thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/config/diff.h"
#include "ui/session/stage_snapshot.h"

namespace stagewright::session {

struct Counterpart {
    enum class Kind { SavedFile, Base, Preset, Run, File };
    Kind kind = Kind::SavedFile;
    std::string id;                        // path of the base, file or run folder; the preset's id
    std::string titleEn, titleZh;          // of a preset; else the file's or the run's name in both
    std::string helpEn, helpZh;            // of a preset
    double vramGiB = 0;                    // of a preset
    double started = 0;                    // of a run, seconds since 1970
    std::int64_t step = -1;                // of a run
    bool operator==(const Counterpart &other) const { return kind == other.kind && id == other.id; }
};

// The file as saved, each base (nearest first), presets by VRAM, then the newest runs of the stage's outputs folder and of `moreRuns`.
std::vector<Counterpart> counterparts(const StageSnapshot &snapshot, const std::filesystem::path &file, const std::vector<std::string> &moreRuns);

struct Comparison {
    Counterpart with;
    std::vector<config::Change> changes;   // a: the open stage, b: the counterpart. For a preset b is the stage with the preset over it
    std::string sentence;                  // why it cannot be compared; empty where it can
};
Comparison compare(const StageSnapshot &snapshot, const std::filesystem::path &file, const std::string &savedText, const Counterpart &with);

} // namespace stagewright::session
