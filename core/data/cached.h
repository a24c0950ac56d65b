// What was computed before: latents and text embeddings of the stage's cache (core/cache), or in files that the table names, one tensor each, as torch.save
// writes them for Open-Sora's cached_video_text dataset.
#pragma once

#include <filesystem>

#include <torch/torch.h>

#include "core/base/result.h"
#include "core/data/frame_choice.h"
#include "core/data/source.h"

namespace stagewright::data {

struct CachedTensors {
    torch::Tensor latents;         // [C,T',H',W']
    torch::Tensor tokens;          // [L,W]
    torch::Tensor pooled;          // [W]
};

// The row's encodings, as far as the stage uses them; of files a leading dimension of 1 is taken off. shape, words: of the sample (only a cache asks). Errors
// (Data), as a reason for a bad sample: missing, no tensor, another number of dimensions or channels than the model's, numbers that are not finite. Any thread.
Status loadCached(const SourceOptions &options, std::int64_t row, const cache::ClipShape &shape, const std::string &words, CachedTensors &tensors);

// A cached clip is the same in every epoch: its place in time, and whatever else is drawn, is the first draw of a fixed generator.
Draws drawsOfCachedClip();

// One tensor of floats in a file that torch.save wrote (its zip form, from Torch 1.6 on), checksums compared. Runs no code of the file's pickle.
Result<torch::Tensor> readTensorFile(const std::filesystem::path &file);

// What text drop-out puts in place of embeddings: the empty text's in the cache, or null_t5.pt and null_clip.pt in the table's folder, [1,L,W] and [1,W].
struct NullEmbeddings {
    torch::Tensor tokens, pooled;
};
Result<NullEmbeddings> readNullEmbeddings(const config::Stage &stage);

} // namespace stagewright::data
