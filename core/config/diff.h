// What differs between two stages, option by option; a bucket row is one entry, not a line of text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/config/stage.h"

namespace stagewright::config {

struct Change {
    std::string path;                      // "optim.lr"; "bucket_config.256px.129" for a bucket row
    std::optional<Value> a, b;             // nothing: the stage does not have it and there is no default
    bool aIsDefault = false, bIsDefault = false;
    bool changesResults = true;            // by the option's declaration; true for keys that are not declared
};

enum class Compare { Resolved, AsWritten };   // Resolved: defaults filled in, so writing a default out is no change

// In the order of the form, undeclared keys last. Numbers that are equal (1 and 1.0) and a list beside an equal tuple do not differ.
std::vector<Change> diff(const Stage &a, const Stage &b, Compare compare = Compare::Resolved);

} // namespace stagewright::config
