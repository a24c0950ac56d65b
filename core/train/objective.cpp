#include "core/train/objective.h"

#include <cmath>

namespace stagewright::train {

double timeShiftAlpha(std::int64_t frames, std::int64_t height, std::int64_t width, std::int64_t patch, ShiftArea area)
{
    const double cells = area == ShiftArea::PatchOfTwo ? double(height * width / 4) : double(height * width) / double(patch * patch);
    const double slope = (3.0 - 1.0) / (4096.0 - 256.0);
    const double intercept = 1.0 - slope * 256.0;
    return (cells * slope + intercept) * std::sqrt(double(frames));
}

torch::Tensor timeShift(double alpha, const torch::Tensor &t)
{
    return alpha * t / (1 + (alpha - 1) * t);
}

torch::Tensor noisyInput(const torch::Tensor &x0, const torch::Tensor &x1, const torch::Tensor &t, double sigmaMin)
{
    const auto r = (1 - t).reshape({-1, 1, 1});
    return r * x0 + (1 - (1 - sigmaMin) * r) * x1;
}

torch::Tensor velocityTarget(const torch::Tensor &x0, const torch::Tensor &x1, double sigmaMin)
{
    return (1 - sigmaMin) * x1 - x0;
}

torch::Tensor velocityLoss(const torch::Tensor &prediction, const torch::Tensor &target)
{
    return torch::mse_loss(prediction.to(torch::kFloat32), target.to(torch::kFloat32));
}

torch::Tensor velocityLossWithoutReferences(const torch::Tensor &prediction, const torch::Tensor &target, const torch::Tensor &masks,
                                            std::int64_t patch)
{
    const auto batch = prediction.size(0), frames = masks.size(1);
    const auto perFrame = masks.size(2) / patch * (masks.size(3) / patch);
    const auto squares = (prediction.to(torch::kFloat32) - target.to(torch::kFloat32)).square().reshape({batch, frames, perFrame, -1});
    if (masks.is_meta())                             // planning: which frames were given is not known, so all count
        return squares.mean();
    const auto masked = masks.flatten(2).amax(2).to(torch::kCPU, torch::kFloat32).contiguous();     // [B,T']
    const auto flags = masked.accessor<float, 2>();
    std::vector<torch::Tensor> losses;
    for (std::int64_t b = 0; b < batch; ++b) {
        std::int64_t count = 0;
        for (std::int64_t t = 0; t < frames; ++t)
            count += flags[b][t] != 0;
        const bool first = flags[b][0] != 0, last = frames > 1 && flags[b][frames - 1] != 0;
        const bool onlyEnds = count == std::int64_t(first) + std::int64_t(last) && count < frames;
        const auto from = onlyEnds && first ? 1 : 0;
        const auto to = onlyEnds && last ? frames - 1 : frames;
        losses.push_back(squares[b].slice(0, from, to).mean());
    }
    return torch::stack(losses).mean();
}

torch::Tensor dropText(const torch::Tensor &states, const torch::Tensor &null, const torch::Tensor &uniforms, double probability)
{
    const auto drop = uniforms.to(states.device()) < probability;
    if (states.dim() == 2)
        return torch::where(drop.unsqueeze(1), null.to(states.dtype()), states);
    auto filler = null.to(states.dtype());
    const auto missing = states.size(1) - filler.size(1);
    if (missing > 0)
        filler = torch::cat({filler, filler.slice(1, -1).expand({filler.size(0), missing, filler.size(2)})}, 1);
    return torch::where(drop.reshape({-1, 1, 1}), filler, states);
}

} // namespace stagewright::train
