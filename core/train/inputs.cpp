#include "core/train/inputs.h"

#include "core/train/objective.h"
#include "core/train/packing.h"

namespace stagewright::train {

Inputs makeInputs(const Settings &settings, const model::MmditConfig &config, const Encoded &encoded, Encoding &encoding, Draws &draws)
{
    torch::NoGradGuard noGrad;
    const bool original = settings.compat == Compat::OpenSora;
    const auto dtype = settings.dtype;
    const auto mathDtype = original ? dtype : torch::kFloat32;
    const auto device = encoded.latents.device();
    const auto batch = encoded.latents.size(0), frames = encoded.latents.size(2), height = encoded.latents.size(3), width = encoded.latents.size(4);
    Inputs inputs;
    inputs.shiftAlpha = timeShiftAlpha(frames, height, width, settings.patch, original ? ShiftArea::PatchOfTwo : ShiftArea::Tokens);

    // The model is told t in the training dtype; what it is told is also what the noise is mixed by.
    auto t = timeShift(inputs.shiftAlpha, torch::sigmoid(draws.timeNormals())).to(dtype);
    auto tokens = encoded.tokens.to(dtype), pooled = encoded.pooled.to(dtype);
    if (settings.dropout) {
        tokens = dropText(tokens, encoding.nullTokens(), draws.textUniforms(false), settings.dropout->tokens);
        pooled = dropText(pooled, encoding.nullPooled(), draws.textUniforms(true), settings.dropout->pooled);
    }
    t = t.to(device);
    const auto x0 = packLatents(encoded.latents.to(mathDtype), settings.patch);
    const auto x1 = draws.noise(x0.size(1), x0.size(2)).to(device).to(mathDtype);
    inputs.target = velocityTarget(x0, x1, settings.sigmaMin);

    const auto options = torch::TensorOptions(dtype).device(device);
    auto &input = inputs.model;
    input.img = noisyInput(x0, x1, t.to(mathDtype), settings.sigmaMin).to(dtype);
    input.imgIds = imageIds(batch, frames, height, width, settings.patch, options);
    input.txt = tokens;
    input.txtIds = torch::zeros({batch, tokens.size(1), 3}, options);
    input.timesteps = t;
    input.yVec = pooled;
    if (config.condEmbed)
        input.cond = packLatents(encoded.cond.to(dtype), settings.patch);
    if (config.guidanceEmbed)
        input.guidance = torch::full({batch}, settings.guidance, options);
    return inputs;
}

} // namespace stagewright::train
