// What a save writes, decided on the training thread before anything is copied: the files in order, each a list of pieces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/checkpoint/training_state.h"

namespace stagewright::checkpoint {

// Bytes that are known now (headers, small files, pickled steps) or a contiguous tensor to copy at staging time.
struct Piece {
    std::string bytes;
    torch::Tensor tensor;                    // defined: its bytes, `bytes` is empty
    std::int64_t size() const { return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : static_cast<std::int64_t>(bytes.size()); }
};

struct PlannedFile {
    std::string path;                        // relative to the checkpoint
    std::vector<Piece> pieces;
    std::int64_t bytes = 0;
    std::int64_t tensors = 0;                // safetensors entries
};

struct SavePlan {
    std::vector<PlannedFile> files;          // small ones last
    std::int64_t bytes = 0;
    std::int64_t tensors = 0;
};

// Reads shapes and handles only, except: accumulated gradients are cloned (the next backward changes them) and tensors that are not
// contiguous get a contiguous copy. Errors: a tensor without a place in the format (dtype, shape of a moment that differs from its weight).
Result<SavePlan> planSave(const TrainingState &state, double shardMebibytes);

} // namespace stagewright::checkpoint
