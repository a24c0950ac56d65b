// Follows `_base_` from a leaf file downwards and lays the files over each other.
#pragma once

#include "core/config/document.h"

namespace stagewright::config {

// `text`, where given, stands for the content of the leaf.
Result<LoadedConfig> resolveChain(const std::filesystem::path &leaf, const std::string *text, Format format);

} // namespace stagewright::config
