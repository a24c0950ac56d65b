// How a child's dict is laid over its base's: mmengine's rules, with origins kept.
#pragma once

#include <string>

#include "core/base/problem.h"
#include "core/config/value.h"

namespace stagewright::config {

// A dict over something else than a dict.
struct TypeClash {
    std::string path;
    Value base, child;          // containers without their content
};

// Lays `child` over `base` in place, key by key: a dict over a dict merges, unless it holds a true `_delete_`, which replaces; anything
// else replaces. New keys go to the end. A `_delete_` where the base lacks the key stays as a key of the value, as in mmengine.
// Throws TypeClash. A list or scalar that replaces a dict is a warning (config.type-change) in `problems`.
void mergeOver(Dict &base, Dict child, Problems &problems);

// `_delete_` left in bucket tables would be taken for a resolution or a frame count: it goes. Elsewhere it stays; each gets a warning.
void dropStrayDeletes(Dict &values, Problems &problems);

} // namespace stagewright::config
