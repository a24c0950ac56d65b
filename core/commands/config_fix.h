// Fixes of problems, written into the files where the values stand.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stagewright::commands {

struct FixedFile {
    std::filesystem::path file;
    std::string text;                              // with all fixes; nothing has been written
    std::vector<std::string> titles;               // of the fixes that changed it
};

struct FixResult {
    std::vector<FixedFile> files;
    std::vector<Problem> unfixed;                  // had a fix that could not be applied to a file, with the reason in the message
};

// Applies the fix of every problem that has one, each to the file that its problem names (else to `leaf`). A removal and an addition of
// sister keys in one fix is a rename in place.
Result<FixResult> applyFixes(const Problems &problems, const std::filesystem::path &leaf);

} // namespace stagewright::commands
