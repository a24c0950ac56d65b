// Where, inside a checkpoint of ours, the stage lies that it was trained with.
#pragma once

#include <string_view>

namespace stagewright::config {

inline constexpr std::string_view kSavedConfigFile = "stagewright/config.yaml";

} // namespace stagewright::config
