#include "core/plan/update_workspace.h"

#include <map>

#include "core/checkpoint/training_state.h"
#include "core/train/hybrid_adam.h"

namespace stagewright::plan {

namespace {

using checkpoint::ParameterState;

// The whole model's parameters in their order.
std::vector<ParameterBytes> wholeParameters(const Reduced &plan, const DryRun &run)
{
    std::vector<ParameterBytes> all;
    const auto &parameters = run.parameters;
    // Parameters stand block by block; a block that stands for several comes as often.
    for (std::size_t begin = 0, end = 0; begin < parameters.size(); begin = end) {
        const int block = parameters[begin].block;
        while (end < parameters.size() && parameters[end].block == block)
            ++end;
        for (int times = block < 0 ? 1 : plan.stands[static_cast<std::size_t>(block)]; times > 0; --times)
            all.insert(all.end(), parameters.begin() + static_cast<std::ptrdiff_t>(begin), parameters.begin() + static_cast<std::ptrdiff_t>(end));
    }
    return all;
}

std::vector<ParameterState> statesOf(const std::vector<ParameterBytes> &all, torch::Dtype dtype)
{
    const auto fp32 = torch::TensorOptions(torch::kFloat32).device(torch::kMeta);
    std::vector<ParameterState> states;
    for (const auto &bytes : all) {
        ParameterState parameter;
        parameter.trainable = bytes.moments > 0;
        parameter.weight = torch::empty({bytes.elements}, fp32.dtype(dtype));
        if (bytes.master > 0)
            parameter.master = torch::empty({bytes.elements}, fp32);
        states.push_back(std::move(parameter));
    }
    return states;
}

std::int64_t measured(const train::Settings &settings, const std::vector<ParameterBytes> &all)
{
    auto parameters = statesOf(all, settings.dtype);
    train::HybridAdam adam(parameters, settings.adam);
    const bool sums = settings.compat == train::Compat::None && settings.accumulation > 1;
    std::vector<torch::Tensor> gradients;
    for (const auto &parameter : parameters)
        gradients.push_back(parameter.trainable ? torch::empty_like(parameter.weight, sums ? torch::TensorOptions(torch::kFloat32) : torch::TensorOptions()) : torch::Tensor());
    adam.ensureMoments();
    auto &ledger = memory::ledger();
    ledger.resetPeak();
    const std::int64_t before = ledger.total();
    adam.step(gradients, 1e-4, 0.5);
    return ledger.snapshot().peakTotal - before;
}

} // namespace

std::int64_t updateWorkspace(const Reduced &plan, const DryRun &run)
{
    if (plan.work.device == torch::kCPU)
        return 0;
    constexpr std::size_t kRemembered = 1000;
    static std::map<std::vector<std::int64_t>, std::int64_t> known;      // planning happens on one thread
    std::vector<std::int64_t> key{static_cast<std::int64_t>(plan.work.settings.dtype), plan.work.settings.accumulation, static_cast<std::int64_t>(plan.work.settings.compat)};
    const auto all = wholeParameters(plan, run);
    for (const auto &parameter : all)
        key.push_back(parameter.elements);
    if (const auto found = known.find(key); found != known.end())
        return found->second;
    if (known.size() >= kRemembered)
        known.clear();
    return known[key] = measured(plan.work.settings, all);
}

} // namespace stagewright::plan
