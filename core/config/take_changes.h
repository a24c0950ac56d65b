// The other direction of a comparison: the text of one stage, edited so that it has another's values.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/diff.h"

namespace stagewright::config {

// `text` is what the file of the comparison's side a holds, or will hold; the result has side b's value at every change's path. A value that
// side b lacks is removed. A table of which single rows cannot be edited (they stand in a base file) is written whole, with _delete_. The
// result is resolved again and compared; an error means that the text cannot say it, and names the path.
Result<std::string> takeChanges(const std::string &text, const std::filesystem::path &file, const std::vector<Change> &changes);

} // namespace stagewright::config
