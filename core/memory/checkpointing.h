// Selective gradient checkpointing: a block's activations are not kept; its inputs are, and backward runs the block once more.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/memory/offload.h"

namespace stagewright::memory {

// How many blocks from the front are checkpointed.
struct CheckpointDepth {
    int doubleBlocks = 0;
    int singleBlocks = 0;
    bool operator==(const CheckpointDepth &) const = default;
};

struct ResolvedDepth {
    CheckpointDepth depth;
    std::string warning;       // empty, or one sentence 
};

// Open-Sora's meaning of `grad_checkpoint` and `model.grad_ckpt_settings` for a model of the given depth: the switch off is none,
// whatever the settings; no settings or an empty sequence is all; (n, m) is the first n double and m single blocks, more than there are
// is all, (0, 0) is none, a negative count leaves that many off the end (with a warning), numbers after the second do not count (with a
// warning). Error (Usage): one number alone.
Result<ResolvedDepth> resolveCheckpointDepth(bool gradCheckpoint, const std::optional<std::vector<std::int64_t>> &settings,
                                             int doubleBlocks, int singleBlocks);

// Kept until backward: what it refers to must live that long.
using BlockFunction = std::function<std::vector<torch::Tensor>(const std::vector<torch::Tensor> &inputs)>;

struct CheckpointOptions {
    std::string name;                          // of the block, for error sentences: "double block 3"
    std::size_t streams = 0;                   // the first so many inputs are token streams: they count as CheckpointedInput and may be
                                               // offloaded; the others are shared by several blocks and stay where they are
    std::vector<torch::Tensor> parameters;     // that `block` reads: whether any requires grad decides, even where no input does
    ActivationOffload *offload = nullptr;      // null: inputs stay on the device
};

// Runs `block(inputs)` without recording it, and records one node that runs it again in backward, under the random state (CPU's and the
// inputs' device's) and the autocast settings of now, adds the parameters' gradients where they belong, and passes on the inputs'.
// Gradients equal those of calling block(inputs) directly for any mix of frozen and trainable inputs and parameters. When nothing
// needs a gradient, or under no-grad, it is the same as calling block(inputs). Throws what block throws; c10::Error when the second run's
// outputs differ in shape or type from the first's, for a second backward, and for backward with create_graph.
std::vector<torch::Tensor> checkpoint(const BlockFunction &block, const std::vector<torch::Tensor> &inputs, const CheckpointOptions &options);

// True on a thread that runs a block for the second time.
bool isRecomputing();

} // namespace stagewright::memory
