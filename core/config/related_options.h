// Which options a person should look at together.
#pragma once

#include <vector>

#include "core/config/option.h"

namespace stagewright::config {

// In the order of the form: what decides whether `option` exists or which default it has, what it decides about, what it writes through to,
// and what the rules (rules_*.cpp) judge together with it. Never the option itself; sections are left out. At most kMostRelated.
constexpr std::size_t kMostRelated = 12;
std::vector<const Option *> relatedOptions(const Option &option);

// The groups of paths that rules judge together; every path is declared.
const std::vector<std::vector<std::string_view>> &judgedTogether();

} // namespace stagewright::config
