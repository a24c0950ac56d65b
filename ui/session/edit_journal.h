// Unsaved edits of a stage file with their undo history, kept on disk so that a crash loses nothing: one JSON file for each stage file
// in stateFolder()/edits, removed when the stage is saved and its history is empty.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "ui/session/text_splice.h"

namespace stagewright::session {

struct JournalStep {
    Splice splice;
    std::string label;
};

struct Journal {
    std::string file;                      // of the stage; the journal's name is a hash of it
    std::string savedText;                 // what the file held when the edits began
    std::string text;                      // with all edits
    std::vector<JournalStep> steps;        // oldest first
    int position = 0;                      // steps[0, position) are applied in `text`
    int cleanPosition = 0;                 // where text equals savedText; -1 nowhere
};

std::filesystem::path journalPath(const std::filesystem::path &stageFile);
Status writeJournal(const Journal &journal);
std::optional<Journal> readJournal(const std::filesystem::path &stageFile);    // nothing where there is none or it is damaged
void removeJournal(const std::filesystem::path &stageFile);

} // namespace stagewright::session
