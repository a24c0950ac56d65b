// Torch tensors seen by the plain loops of adam_kernel.h, cut into chunks of equal size.
#pragma once

#include <cstdint>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/train/adam_kernel.h"

namespace stagewright::train {

inline constexpr std::int64_t kChunkElements = 1 << 15;

Storage storageOf(torch::ScalarType type);                   // throws for a dtype that training does not know
std::size_t elementBytes(Storage storage);

struct Chunk {
    std::uint32_t tensor = 0;                                // index in the list
    std::int64_t offset = 0, count = 0;                      // elements
};
std::vector<Chunk> chunksOf(const std::vector<std::int64_t> &sizes);

} // namespace stagewright::train
