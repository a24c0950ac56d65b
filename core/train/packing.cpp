#include "core/train/packing.h"

namespace stagewright::train {

torch::Tensor packLatents(const torch::Tensor &latents, std::int64_t patch)
{
    const auto b = latents.size(0), c = latents.size(1), t = latents.size(2), h = latents.size(3), w = latents.size(4);
    TORCH_CHECK(h % patch == 0 && w % patch == 0, "a latent of ", h, "x", w, " cells cannot be cut into patches of ", patch);
    return latents.reshape({b, c, t, h / patch, patch, w / patch, patch})
        .permute({0, 2, 3, 5, 1, 4, 6})
        .reshape({b, t * (h / patch) * (w / patch), c * patch * patch});
}

torch::Tensor unpackLatents(const torch::Tensor &tokens, std::int64_t patch, std::int64_t frames, std::int64_t height, std::int64_t width)
{
    const auto b = tokens.size(0), channels = tokens.size(2) / (patch * patch);
    return tokens.reshape({b, frames, height / patch, width / patch, channels, patch, patch})
        .permute({0, 4, 1, 2, 5, 3, 6})
        .reshape({b, channels, frames, height, width});
}

torch::Tensor imageIds(std::int64_t batch, std::int64_t frames, std::int64_t height, std::int64_t width, std::int64_t patch,
                       const torch::TensorOptions &options)
{
    const auto rows = height / patch, columns = width / patch;
    const auto axis = [&](std::int64_t size, std::vector<std::int64_t> shape) {
        return torch::arange(size, options).reshape(shape).expand({frames, rows, columns});
    };
    const auto grid = torch::stack({axis(frames, {frames, 1, 1}), axis(rows, {1, rows, 1}), axis(columns, {1, 1, columns})}, -1);
    return grid.reshape({1, frames * rows * columns, 3}).expand({batch, -1, -1}).contiguous();
}

} // namespace stagewright::train
