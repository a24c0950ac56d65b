#include "core/train/average.h"

#include "core/memory/device.h"
#include "core/train/parallel.h"
#include "core/train/storage.h"

namespace stagewright::train {

namespace {

const torch::Tensor &sourceOf(const checkpoint::ParameterState &parameter)
{
    return parameter.master.defined() ? parameter.master : parameter.weight;
}

} // namespace

void startAverage(std::vector<checkpoint::ParameterState> &parameters, AveragePrecision precision)
{
    torch::NoGradGuard noGrad;
    for (auto &parameter : parameters) {
        if (!parameter.trainable)
            continue;
        const auto type = precision == AveragePrecision::Float32 ? torch::kFloat32 : parameter.weight.scalar_type();
        parameter.ema = torch::empty(parameter.weight.sizes(), parameter.weight.options().dtype(type).requires_grad(false));
        parameter.ema.copy_(precision == AveragePrecision::Float32 ? sourceOf(parameter) : parameter.weight.detach());
    }
}

void updateAverage(std::vector<checkpoint::ParameterState> &parameters, double decay)
{
    torch::NoGradGuard noGrad;
    std::vector<std::int64_t> sizes;
    for (auto &parameter : parameters) {
        const bool inOnePass = parameter.ema.defined() && memory::operatorDevice(parameter.ema) == torch::kCPU && parameter.ema.scalar_type() == torch::kFloat32;
        sizes.push_back(inOnePass && !parameter.ema.is_meta() ? parameter.ema.numel() : 0);
        if (parameter.ema.defined() && !inOnePass) {
            // Spelt out in float32: mul_(Scalar) would round the decay to bfloat16 first.
            const auto kept = (parameter.ema.to(torch::kFloat32) * decay).to(parameter.ema.scalar_type()).to(torch::kFloat32);
            parameter.ema.copy_(kept + sourceOf(parameter).detach().to(torch::kFloat32) * (1 - decay));
        }
    }
    const auto chunks = chunksOf(sizes);
    forEachChunk(chunks.size(), at::get_num_threads(), [&](std::size_t i) {
        auto &parameter = parameters[chunks[i].tensor];
        averageStep(parameter.ema.mutable_data_ptr<float>() + chunks[i].offset, sourceOf(parameter).const_data_ptr<float>() + chunks[i].offset,
                    float(decay), float(1 - decay), std::size_t(chunks[i].count));
    });
}

} // namespace stagewright::train
