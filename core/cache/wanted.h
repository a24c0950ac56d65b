// Which entries a stage wants.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/cache/store.h"

namespace stagewright::cache {

struct WantedClip {
    std::int64_t row = 0;
    ClipShape shape;
    auto operator<=>(const WantedClip &) const = default;
};

struct Wanted {
    std::vector<WantedClip> clips;                     // by row; empty where the store has no latents
    std::set<std::string> texts;                       // the empty one among them: drop-out puts it in place of others
    std::int64_t count() const { return static_cast<std::int64_t>(clips.size() + 2 * texts.size()); }
};

// Of the rows that have a bucket in one of the epochs 0 … epochs−1. 0: of all epochs that the stage trains, as far as they bring something new: where
// probabilities put a row into other buckets from epoch to epoch, it ends after kQuietEpochs that brought nothing.
Wanted wantedBy(const Store &store, std::int64_t epochs);
inline constexpr std::int64_t kQuietEpochs = 8;

} // namespace stagewright::cache
