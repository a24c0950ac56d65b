// Values as YAML text that both YAML 1.2 and the YAML 1.1 reader of the original's Python read as the same values.
#pragma once

#include <string>

#include "core/config/value.h"

namespace stagewright::config::yaml {

std::string flow(const Value &value);            // on one line: 1.0e-05, !tuple [1.0, 45], {t2v: 1}
std::string key(const DictKey &key);             // quoted where it must be; an integer key bare

} // namespace stagewright::config::yaml
