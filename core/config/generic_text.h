// Text to a value without a declaration to go by, with the rules of Open-Sora's command line.
#pragma once

#include <optional>
#include <string_view>

#include "core/config/value.h"

namespace stagewright::config {

// int() or float() as Python reads them: blanks around, underscores between digits, "inf", "nan", "1e-5"; Int where it is one.
std::optional<Value> numberAsPythonReads(std::string_view text);

// "" stays; none, true and false in any case; a number; a Python literal; else the text itself.
Value genericValue(std::string_view text);

// The same, steered by the value that is replaced: a text stays a text, a float stays a float, a boolean takes a boolean's spellings.
Value genericValueLike(const Value &existing, std::string_view text);

} // namespace stagewright::config
