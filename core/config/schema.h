// What the declarations say, for other programs and for readers: a JSON Schema of a stage, and the reference page.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/config/option.h"

namespace stagewright::config {

enum class Language { English, Chinese };

// Draft 2020-12; describes the JSON form of a stage (integer keys as strings, tuples as arrays). Keys that nothing reads are refused, except
// names that start with "_" and everything under "x".
nlohmann::json stageSchema();
// Every option by group: type, default, unit, range, choices, meaning, trap; then every problem code.
std::string referencePage(Language language = Language::English);

// A default, range or value as people read it: "(8, 100)", "25 GiB", "1e-05".
std::string typeWords(const Option &option);

} // namespace stagewright::config
