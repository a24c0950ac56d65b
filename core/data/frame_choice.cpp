#include "core/data/frame_choice.h"

#include <algorithm>

#include "core/table/buckets.h"

namespace stagewright::data {

std::int64_t Draws::between(std::int64_t low, std::int64_t high)
{
    if (auto *own = std::get_if<table::Pcg64>(&m_generator))
        return own->between(low, high);
    return std::get<table::PythonRandom *>(m_generator)->randint(low, high);
}

std::optional<std::vector<std::int64_t>> chooseFrames(std::int64_t total, std::int64_t frames, std::int64_t stride, Draws &draws)
{
    const std::int64_t size = frames * stride;
    const std::int64_t begin = draws.between(0, std::max<std::int64_t>(0, total - size - 1));
    const std::int64_t end = std::min(begin + size, total);
    if (end - begin < frames)
        return std::nullopt;
    std::vector<std::int64_t> indices(static_cast<std::size_t>(frames));
    const double step = frames > 1 ? static_cast<double>(end - 1 - begin) / static_cast<double>(frames - 1) : 0.0;
    for (std::int64_t i = 0; i < frames; ++i)
        indices[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(static_cast<double>(i) * step + static_cast<double>(begin));
    if (frames > 1)
        indices.back() = end - 1;
    return indices;
}

std::optional<std::vector<std::int64_t>> stretchFrames(std::int64_t total, std::int64_t frames)
{
    if (total < 2 || total >= frames || static_cast<double>(total) < table::kStretchShare * static_cast<double>(frames))
        return std::nullopt;
    std::vector<std::int64_t> indices(static_cast<std::size_t>(frames));
    for (std::int64_t i = 0; i < frames; ++i)
        indices[static_cast<std::size_t>(i)] = i * (total - 1) / (frames - 1);
    return indices;
}

} // namespace stagewright::data
