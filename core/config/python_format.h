// Python's ways to put a value into a text: format specs of f-strings and the '%' operator, as far as numbers and strings need them.
#pragma once

#include <string>
#include <string_view>

#include "core/config/value.h"

namespace stagewright::config::python {

struct Budget;

// f"{value:spec}"; throws Trouble for a spec that it does not know.
std::string formatted(const Value &value, std::string_view spec);

// "text %d" % values: s r d i f F e E g G x X o %, with flags, width and precision.
Value percentFormat(const std::string &pattern, const Value &values, Budget &budget);

} // namespace stagewright::config::python
