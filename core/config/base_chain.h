// Follows `_base_` from a leaf file downwards and lays the files over each other.
#pragma once

#include "core/config/document.h"

namespace stagewright::config {

// `text`, where given, stands for the content of the leaf.
Result<LoadedConfig> resolveChain(const std::filesystem::path &leaf, const std::string *text, Format format);

// What one file itself says, its bases read only for the names that it uses of them.
struct OwnValues {
    Dict values;
    Dict base;                               // what the bases resolve to
    bool changesBase = false;                // by `_base_.x = …`
    std::vector<std::string> bases;          // as written
};
Result<OwnValues> readOwnValues(const std::filesystem::path &file);
Result<OwnValues> readOwnValues(const std::string &text, const std::filesystem::path &file, Format format, const Dict &base);   // bases not read

} // namespace stagewright::config
