// What of a stage's cache is there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/cache/wanted.h"

namespace stagewright::cache {

enum class Depth {
    Headers,           // reads no clip: one that is not known unchanged counts as missing
    EveryByte          // compares every checksum, and reads clips to know them
};

struct Survey {
    std::int64_t wanted = 0, present = 0, missing = 0, damaged = 0, refused = 0;           // wanted is the sum of the others
    std::int64_t bytes = 0;                            // of the entries that are present
    std::int64_t unused = 0, unusedBytes = 0;          // entries that this stage does not want (any more)
    Problems firstMissing, firstDamaged, firstRefused; // at most kFirst of each, as warnings
    static constexpr std::size_t kFirst = 20;
    bool isWhole() const { return missing == 0 && damaged == 0; }
};

// A quick look, from the names in the folder alone: seconds for a million entries.
struct Glance {
    std::int64_t wanted = 0;
    std::int64_t missing = 0;                          // have no file, and could have one
    std::int64_t unknown = 0;                          // clips that must be read to know: new, moved or changed
    std::int64_t refused = 0;                          // cannot be made
    std::int64_t present() const { return wanted - missing - unknown - refused; }
};
Glance glanceAt(const Store &store, const Wanted &wanted);

// progress(done, wanted) may say false: then the error is data.stopped.
Result<Survey> surveyOf(Store &store, const Wanted &wanted, Depth depth, const std::function<bool(std::int64_t, std::int64_t)> &progress = {});

} // namespace stagewright::cache
