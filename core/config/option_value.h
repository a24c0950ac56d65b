// Whether a value is of an option's type, and what can be made of one that nearly is.
#pragma once

#include <optional>
#include <string>

#include "core/config/option.h"

namespace stagewright::config {

// Nothing where the value has the option's type (length and choice included, range not); else what is wrong, as the end of a sentence:
// "must be a whole number, not 'fast'".
std::optional<std::string> typeFault(const Option &option, const Value &value);
// The value that was plainly meant ("129" or 12.0 for 129 or 12, "True" for True, a single-element list …), nothing where that is unclear.
std::optional<Value> meantValue(const Option &option, const Value &value);

// "a whole number", "two whole numbers", "one of zero1, zero2, hybrid": what the option takes, for sentences.
std::string expectedWords(const Option &option);

std::optional<bool> booleanSpelling(std::string_view text);      // true/false, yes/no, on/off, 1/0 in any case

} // namespace stagewright::config
