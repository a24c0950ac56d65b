// Splitting a command line as a POSIX shell would, without running anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stagewright::config {

// Quotes, backslashes, line continuations and comments; "$ " and "> " prompts at the start of a line are dropped. Refused with a sentence: what only a
// shell can know or do ($NAME, $(…), backquotes, pipes, redirections, more than one command).
Result<std::vector<std::string>> shellWords(std::string_view text);

} // namespace stagewright::config
