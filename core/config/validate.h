// Everything that can be known about a stage before launch without Torch, in milliseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/config/stage.h"

namespace stagewright::config {

// Facts about the machine that rules need; gathered by the caller so that rules stay pure. Unknown facts switch their rules off.
struct Surroundings {
    bool checkPaths = false;                               // look whether data_path, load, from_pretrained, outputs exist
    std::optional<std::int64_t> hostAvailableBytes;
    std::optional<std::int64_t> freeDiskBytes;             // at `outputs`
    std::optional<int> gpuCount;
    int worldSize = 1;
};
Surroundings surroundingsOfThisMachine(const Stage &stage);

// All problems of the stage, its own included, errors first, then in file order. Never throws; any value tree is accepted.
Problems validate(const Stage &stage, const Surroundings &surroundings = {});

} // namespace stagewright::config
