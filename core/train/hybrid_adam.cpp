#include "core/train/hybrid_adam.h"

#include <cmath>

#include "core/memory/device.h"
#include "core/train/parallel.h"

namespace stagewright::train {

namespace {

constexpr std::int64_t kSliceElements = std::int64_t(1) << 26;       // 256 MiB of float32 scratch a list on a device

} // namespace

double clipFactor(double norm, double limit)
{
    if (limit <= 0)
        return 1;
    const double c = (norm + 1e-6) / limit;
    return c > 1 ? 1 / c : 1;
}

HybridAdam::HybridAdam(std::vector<checkpoint::ParameterState> &parameters, AdamSettings settings, UpdatePath path)
    : m_parameters(parameters), m_settings(settings), m_path(path)
{
    std::vector<std::int64_t> sizes;
    for (const auto &parameter : parameters)
        sizes.push_back(parameter.trainable && !parameter.weight.is_meta() ? parameter.weight.numel() : 0);
    m_chunks = chunksOf(sizes);
}

void HybridAdam::ensureMoments()
{
    torch::NoGradGuard noGrad;
    for (auto &parameter : m_parameters) {
        if (!parameter.trainable)
            continue;
        const auto options = torch::TensorOptions(torch::kFloat32).device(parameter.weight.device());
        if (!parameter.expAvg.defined())
            parameter.expAvg = torch::zeros(parameter.weight.sizes(), options);
        if (!parameter.expAvgSq.defined())
            parameter.expAvgSq = torch::zeros(parameter.weight.sizes(), options);
    }
}

void HybridAdam::step(const std::vector<torch::Tensor> &gradients, double lr, double gradScale)
{
    torch::NoGradGuard noGrad;
    ensureMoments();
    bool onCpu = m_path == UpdatePath::ByDevice, onMeta = false;
    for (std::size_t i = 0; i < m_parameters.size(); ++i) {
        if (gradients[i].defined()) {
            ++m_parameters[i].updates;
            onCpu = onCpu && memory::operatorDevice(gradients[i]) == torch::kCPU;
            onMeta = onMeta || gradients[i].is_meta();
        }
    }
    if (onCpu && onMeta)
        return;                                      // planning: its loops allocate nothing
    if (onCpu)
        stepOnCpu(gradients, lr, gradScale);
    else
        stepOnDevice(gradients, lr, gradScale);
}

AdamFactors HybridAdam::factorsFor(std::int64_t updates, double lr, double gradScale) const
{
    AdamFactors factors;
    factors.beta1 = float(m_settings.betas[0]);
    factors.beta2 = float(m_settings.betas[1]);
    factors.oneMinusBeta1 = 1.0f - factors.beta1;            // in float32, as the original's kernels
    factors.oneMinusBeta2 = 1.0f - factors.beta2;
    factors.lr = float(lr);
    if (m_settings.biasCorrection) {
        factors.inverseCorrection1 = float(1 / (1 - std::pow(m_settings.betas[0], double(updates))));
        factors.inverseRootCorrection2 = float(1 / std::sqrt(1 - std::pow(m_settings.betas[1], double(updates))));
    }
    factors.eps = float(m_settings.eps);
    factors.weightDecay = float(m_settings.weightDecay);
    factors.decoupled = m_settings.decoupled;
    factors.gradScale = float(gradScale);
    return factors;
}

void HybridAdam::stepOnCpu(const std::vector<torch::Tensor> &gradients, double lr, double gradScale)
{
    struct Place {
        AdamFactors factors;
        float *master = nullptr, *m = nullptr, *v = nullptr;
        const char *gradient = nullptr;
        char *weight = nullptr;
        Storage gradientStorage = Storage::Float32, weightStorage = Storage::Float32;
    };
    std::vector<Place> places(m_parameters.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
        const auto &gradient = gradients[i];
        if (!gradient.defined())
            continue;
        auto &parameter = m_parameters[i];
        auto &place = places[i];
        const bool reuse = i > 0 && places[i - 1].master && m_parameters[i - 1].updates == parameter.updates;
        place.factors = reuse ? places[i - 1].factors : factorsFor(parameter.updates, lr, gradScale);
        place.weightStorage = storageOf(parameter.weight.scalar_type());
        place.gradientStorage = storageOf(gradient.scalar_type());
        place.gradient = static_cast<const char *>(gradient.const_data_ptr());
        const bool separate = parameter.master.defined();
        place.master = separate ? parameter.master.mutable_data_ptr<float>() : parameter.weight.mutable_data_ptr<float>();
        place.weight = separate ? static_cast<char *>(parameter.weight.mutable_data_ptr()) : nullptr;
        place.m = parameter.expAvg.mutable_data_ptr<float>();
        place.v = parameter.expAvgSq.mutable_data_ptr<float>();
    }
    forEachChunk(m_chunks.size(), at::get_num_threads(), [&](std::size_t c) {
        const Chunk &chunk = m_chunks[c];
        const Place &place = places[chunk.tensor];
        if (!place.master)
            return;
        const auto offset = chunk.offset;
        adamStep(place.factors, place.master + offset, place.gradient + offset * std::int64_t(elementBytes(place.gradientStorage)), place.gradientStorage,
                 place.m + offset, place.v + offset,
                 place.weight ? place.weight + offset * std::int64_t(elementBytes(place.weightStorage)) : nullptr, place.weightStorage,
                 std::size_t(chunk.count));
    });
}

void HybridAdam::stepOnDevice(const std::vector<torch::Tensor> &gradients, double lr, double gradScale)
{
    std::size_t next = 0;
    while (next < m_parameters.size()) {
        std::vector<torch::Tensor> masters, moments, squares, scaled, weights;
        std::int64_t elements = 0, updates = -1;
        for (; next < m_parameters.size(); ++next) {
            auto &parameter = m_parameters[next];
            if (!gradients[next].defined())
                continue;
            if (updates >= 0 && (parameter.updates != updates || elements >= kSliceElements))
                break;
            updates = parameter.updates;
            elements += parameter.weight.numel();
            const bool separate = parameter.master.defined();
            masters.push_back(separate ? parameter.master : parameter.weight);
            if (separate)
                weights.push_back(parameter.weight);
            moments.push_back(parameter.expAvg);
            squares.push_back(parameter.expAvgSq);
            scaled.push_back(gradients[next].to(torch::kFloat32));
        }
        if (masters.empty())
            return;
        const auto f = factorsFor(updates, lr, gradScale);
        if (f.gradScale != 1)
            scaled = at::_foreach_mul(scaled, double(f.gradScale));
        if (!f.decoupled && f.weightDecay != 0)
            scaled = at::_foreach_add(scaled, masters, double(f.weightDecay));
        at::_foreach_mul_(moments, double(f.beta1));
        at::_foreach_add_(moments, scaled, double(f.oneMinusBeta1));
        at::_foreach_mul_(squares, double(f.beta2));
        at::_foreach_addcmul_(squares, scaled, scaled, double(f.oneMinusBeta2));
        scaled.clear();
        auto denominators = at::_foreach_sqrt(squares);
        at::_foreach_mul_(denominators, double(f.inverseRootCorrection2));
        at::_foreach_add_(denominators, double(f.eps));
        auto changes = at::_foreach_mul(moments, double(f.inverseCorrection1));
        at::_foreach_div_(changes, denominators);
        denominators.clear();
        if (f.decoupled && f.weightDecay != 0)
            at::_foreach_add_(changes, masters, double(f.weightDecay));
        at::_foreach_add_(masters, changes, -double(f.lr));
        if (!weights.empty())
            at::_foreach_copy_(weights, masters);
    }
}

} // namespace stagewright::train
