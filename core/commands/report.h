// The HTML report of a run folder.
#pragma once

#include <filesystem>

#include "core/base/result.h"

namespace stagewright::commands {

// Reads the run's history and config and replaces `out` with the page. Works while the run goes on.
Status writeReport(const std::filesystem::path &runFolder, const std::filesystem::path &out);

} // namespace stagewright::commands
