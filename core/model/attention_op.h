// The attention of a block, from the projections of its tokens to the output projection, as one operator.
//
// Per group of tokens (text and image of a double block; all of a single block): RMS norm of queries and keys per head with a learned
// scale, rotary embedding, then joint softmax attention over all groups' tokens, then each group's output projection; in a single block the
// projection also takes gelu of the parallel MLP's columns, attention columns first. Saves the projections, the attention's output and
// its log-sum-exp; normed and rotated queries and keys, concatenations and gelu are made again in backward.
#pragma once

#include <vector>

#include "core/torchpch/torch.h"

#include "core/model/linear_op.h"
#include "core/model/rope.h"

namespace stagewright::model {

// h columns (or M, for the MLP) of one of a group's projections.
struct Columns {
    std::size_t tensor = 0;
    std::int64_t at = 0;
};

struct TokenGroup {
    std::vector<torch::Tensor> projections;        // [B, L_g, width], contiguous
    Columns query, key, value;
    torch::Tensor queryScale, keyScale;            // [D]
    Columns mlp;
    std::int64_t mlpWidth = 0;                     // M, 0: no MLP beside
    LinearWeights out;                             // [h, h + M]
};

// One tensor [B, L_g, h] a group, in their order; the table's tokens are the groups' one after another.
std::vector<torch::Tensor> attendAndProject(const std::vector<TokenGroup> &groups, const RopeTable &rope, std::int64_t heads);

} // namespace stagewright::model
