// The stable codes of problems that this layer reports, each with its meaning. A code never changes once shipped.
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
