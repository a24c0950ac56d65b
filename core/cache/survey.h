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

// How many of the wanted entries have no file and could have one, from the names in the folder alone: seconds for a million. Clips that are not known
// unchanged are not counted.
std::int64_t countMissing(const Store &store, const Wanted &wanted);

// progress(done, wanted) may say false: then the error is data.stopped.
Result<Survey> surveyOf(Store &store, const Wanted &wanted, Depth depth, const std::function<bool(std::int64_t, std::int64_t)> &progress = {});

} // namespace stagewright::cache
