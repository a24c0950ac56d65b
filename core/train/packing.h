// Between latents and the token sequences that the model reads.
#pragma once

#include "core/torchpch/torch.h"

namespace stagewright::train {

// [B,C,T,H,W] -> [B, T*(H/p)*(W/p), C*p*p]; tokens row-major over (T, H/p, W/p), features over (C, py, px). H and W must divide by p.
torch::Tensor packLatents(const torch::Tensor &latents, std::int64_t patch);

// The inverse; frames, height and width are those of the latents.
torch::Tensor unpackLatents(const torch::Tensor &tokens, std::int64_t patch, std::int64_t frames, std::int64_t height, std::int64_t width);

// Position (t, y, x) of every token, from 0: [B, T*(H/p)*(W/p), 3].
torch::Tensor imageIds(std::int64_t batch, std::int64_t frames, std::int64_t height, std::int64_t width, std::int64_t patch,
                       const torch::TensorOptions &options);

} // namespace stagewright::train
