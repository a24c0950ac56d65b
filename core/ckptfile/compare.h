// Whether two checkpoints hold the same training state, part by part and bit for bit.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stagewright::ckptfile {

struct PartComparison {
    std::string part;                        // "weights", "master weights", "EMA", "optimizer", "hyper-parameters", "schedule", "counters", "data position", …
    std::string inFirst, inSecond;           // what each holds; "none" where it lacks the part
    bool equal = false;
    double distance = 0;                     // relative L2 of all that differs, over the first's norm; only tensors in fp32 and bf16; 0 where equal
    std::string sentence;                    // "equal, bit for bit", or what differs first
};

// Reads every byte of both. A part that neither has is left out. Errors: one is not a checkpoint, is damaged, or cannot be read. progress gets the bytes
// compared so far; false cancels.
Result<std::vector<PartComparison>> compareCheckpoints(const std::filesystem::path &first, const std::filesystem::path &second,
                                                       const std::function<bool(std::int64_t done)> &progress = {});

} // namespace stagewright::ckptfile
