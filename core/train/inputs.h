// From encoded samples and random draws to the model's inputs and the target of its prediction.
#pragma once

#include "core/torchpch/torch.h"

#include "core/model/mmdit.h"
#include "core/train/draws.h"
#include "core/train/encoding.h"
#include "core/train/settings.h"

namespace stagewright::train {

struct Inputs {
    model::MmditInput model;
    torch::Tensor target;          // [B,L,C*p*p]: float32, or the training dtype under compat opensora
    double shiftAlpha = 0;
};

// Draws time, then (with dropout_ratio) one uniform a sample for each text encoder, then noise. In float32 with one rounding at the end; under
// compat opensora in the training dtype. nullTokens and nullPooled are only looked at with dropout_ratio.
Inputs makeInputs(const Settings &settings, const model::MmditConfig &config, const Encoded &encoded, Encoding &encoding, Draws &draws);

} // namespace stagewright::train
