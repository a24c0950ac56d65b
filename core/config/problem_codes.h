// The stable codes of all problems and notes that any layer reports, each with its meaning: the reference that the command line's contract
// speaks of. A code never changes once shipped. A test compares this with what the sources report, in both directions.
#pragma once

#include <string_view>
#include <vector>

#include "core/config/option.h"

namespace stagewright::config {

struct ProblemCode {
    std::string_view code;
    Text meaning;
};

const std::vector<ProblemCode> &problemCodes();        // sorted by code

} // namespace stagewright::config
