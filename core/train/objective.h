// Flow matching as Open-Sora 2.0 trains with it: the resolution-dependent time shift, the noisy input, the velocity target, the loss.
// Every function computes in the dtype of its tensors, one rounding an operation: with bfloat16 tensors that is the original's
// arithmetic, with float32 tensors the exact one.
#pragma once

#include "core/torchpch/torch.h"

namespace stagewright::train {

// How the latent's area enters the time shift.
enum class ShiftArea {
    PatchOfTwo,        // H'*W'//4 whatever the patch size, as the original
    Tokens             // H'*W'/(p*p): tokens of one latent frame
};

// alpha = (area * 2/3840 + 1 - 256*2/3840) * sqrt(T'), a line through (256, 1) and (4096, 3); sizes in latent cells.
double timeShiftAlpha(std::int64_t frames, std::int64_t height, std::int64_t width, std::int64_t patch = 2, ShiftArea area = ShiftArea::PatchOfTwo);

// t -> alpha*t / (1 + (alpha-1)*t). t near 1 is noise.
torch::Tensor timeShift(double alpha, const torch::Tensor &t);

// x_t = r*x0 + (1 - (1-sigmaMin)*r)*x1 with r = 1 - t. x0, x1 [B,L,C], t [B].
torch::Tensor noisyInput(const torch::Tensor &x0, const torch::Tensor &x1, const torch::Tensor &t, double sigmaMin);

// v = (1-sigmaMin)*x1 - x0.
torch::Tensor velocityTarget(const torch::Tensor &x0, const torch::Tensor &x1, double sigmaMin);

// mean((float(prediction) - float(target))^2), a float32 scalar with a graph where prediction has one.
torch::Tensor velocityLoss(const torch::Tensor &prediction, const torch::Tensor &target);

// The same without the frames that a sample was given as its condition: where only the first and/or last latent frame of a sample is
// masked, that frame leaves the mean of the sample; longer masks (video conditions) leave nothing out. Mean over samples.
// masks [B,T',H',W'], 1 where the latent was given; tokens as packLatents makes them.
torch::Tensor velocityLossWithoutReferences(const torch::Tensor &prediction, const torch::Tensor &target, const torch::Tensor &masks,
                                            std::int64_t patch);

// Rows whose uniform is below `probability` become the null embedding; states [B,L,W] or [B,W], null [1,L0,W] or [1,W], uniforms [B].
// Where states have more tokens than null (alignment), null's last token is repeated.
torch::Tensor dropText(const torch::Tensor &states, const torch::Tensor &null, const torch::Tensor &uniforms, double probability);

} // namespace stagewright::train
