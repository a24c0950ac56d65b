// What was computed before: files with latents and text embeddings, one tensor each, as torch.save writes them for Open-Sora's cached_video_text dataset.
#pragma once

#include <filesystem>

#include <torch/torch.h>

#include "core/base/result.h"
#include "core/data/source.h"

namespace stagewright::data {

struct CachedTensors {
    torch::Tensor latents;         // [C,T',H',W']
    torch::Tensor tokens;          // [L,W]
    torch::Tensor pooled;          // [W]
};

// The row's files, as far as the stage uses them; a leading dimension of 1 is taken off. Errors (Data), as a reason for a bad sample: missing, no tensor,
// another number of dimensions or channels than the model's, numbers that are not finite. Any thread.
Status loadCached(const SourceOptions &options, std::int64_t row, CachedTensors &tensors);

// One tensor of floats in a file that torch.save wrote (its zip form, from Torch 1.6 on), checksums compared. Runs no code of the file's pickle.
Result<torch::Tensor> readTensorFile(const std::filesystem::path &file);

// What text drop-out puts in place of embeddings: null_t5.pt and null_clip.pt in the table's folder, [1,L,W] and [1,W].
struct NullEmbeddings {
    torch::Tensor tokens, pooled;
};
Result<NullEmbeddings> readNullEmbeddings(const config::Stage &stage);

} // namespace stagewright::data
