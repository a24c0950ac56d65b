// Finds values that a base built from a name which a child then set anew (see StaleHelper in document.h).
#pragma once

#include "core/config/document.h"
#include "core/config/python_evaluator.h"

namespace stagewright::config {

// values: resolved. Adds a warning for each to `problems`, with a fix where the built value was the name alone.
std::vector<StaleHelper> findStaleHelpers(const Dict &values, const std::vector<python::NameUse> &uses, Problems &problems);

} // namespace stagewright::config
