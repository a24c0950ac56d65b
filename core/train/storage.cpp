#include "core/train/storage.h"

namespace stagewright::train {

Storage storageOf(torch::ScalarType type)
{
    switch (type) {
    case torch::kFloat32:
        return Storage::Float32;
    case torch::kBFloat16:
        return Storage::BFloat16;
    case torch::kFloat16:
        return Storage::Float16;
    default:
        TORCH_CHECK(false, "training knows float32, bfloat16 and float16, not ", type);
    }
}

std::size_t elementBytes(Storage storage)
{
    return storage == Storage::Float32 ? 4 : 2;
}

std::vector<Chunk> chunksOf(const std::vector<std::int64_t> &sizes)
{
    std::vector<Chunk> chunks;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        for (std::int64_t offset = 0; offset < sizes[i]; offset += kChunkElements)
            chunks.push_back({std::uint32_t(i), offset, std::min(kChunkElements, sizes[i] - offset)});
    }
    return chunks;
}

} // namespace stagewright::train
