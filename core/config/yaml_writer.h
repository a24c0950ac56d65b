// Values as YAML text that both YAML 1.2 and the YAML 1.1 reader of the original's Python read as the same values.
#pragma once

#include <string>

#include "core/config/value.h"

namespace stagewright::config::yaml {

// Portable: 1.0e-05, since 1e-05 is a text in YAML 1.1. AsTyped: a number keeps its spelling where this program reads it back as that number.
enum class Numbers { Portable, AsTyped };
std::string flow(const Value &value, Numbers numbers = Numbers::Portable);     // on one line: !tuple [1.0, 45], {t2v: 1}
std::string key(const DictKey &key);             // quoted where it must be; an integer key bare

} // namespace stagewright::config::yaml
