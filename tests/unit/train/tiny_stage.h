// A stage small enough to train in a test, with the embedded encoders.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/config/stage.h"

namespace stagewright::test {

using Changes = std::vector<std::pair<std::string, config::Value>>;      // dotted path -> value

config::Stage tinyStage(const Changes &changes = {});

} // namespace stagewright::test
