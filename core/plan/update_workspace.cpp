#include "core/plan/update_workspace.h"

#include <map>

#include "core/checkpoint/training_state.h"
#include "core/train/hybrid_adam.h"

namespace stagewright::plan {

namespace {

using checkpoint::ParameterState;

// The whole model's parameters in their order, flat.
std::vector<ParameterState> wholeParameters(const Reduced &plan, const DryRun &run, torch::Dtype dtype)
{
    const auto fp32 = torch::TensorOptions(torch::kFloat32).device(torch::kMeta);
    std::vector<ParameterState> all;
    const auto add = [&](const ParameterBytes &bytes) {
        ParameterState parameter;
        parameter.trainable = bytes.moments > 0;
        parameter.weight = torch::empty({bytes.elements}, fp32.dtype(dtype));
        if (bytes.master > 0)
            parameter.master = torch::empty({bytes.elements}, fp32);
        all.push_back(std::move(parameter));
    };
    // Parameters stand block by block; a block that stands for several comes as often.
    for (std::size_t i = 0; i < run.parameters.size();) {
        const int block = run.parameters[i].block;
        std::size_t end = i;
        while (end < run.parameters.size() && run.parameters[end].block == block)
            ++end;
        const int times = block < 0 ? 1 : plan.stands[static_cast<std::size_t>(block)];
        for (int time = 0; time < times; ++time) {
            for (std::size_t p = i; p < end; ++p)
                add(run.parameters[p]);
        }
        i = end;
    }
    return all;
}

std::int64_t measured(const Reduced &plan, const DryRun &run)
{
    const auto &settings = plan.work.settings;
    auto parameters = wholeParameters(plan, run, settings.dtype);
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
    constexpr std::size_t kRemembered = 4096;
    static std::map<std::vector<std::int64_t>, std::int64_t> known;      // planning happens on one thread
    std::vector<std::int64_t> key{static_cast<std::int64_t>(plan.work.settings.dtype), plan.work.settings.accumulation, static_cast<std::int64_t>(plan.work.settings.compat)};
    for (const auto &parameter : run.parameters) {
        key.push_back(parameter.elements);
        key.push_back(parameter.block < 0 ? 1 : plan.stands[static_cast<std::size_t>(parameter.block)]);
    }
    if (const auto found = known.find(key); found != known.end())
        return found->second;
    if (known.size() >= kRemembered)
        known.clear();
    return known[key] = measured(plan, run);
}

} // namespace stagewright::plan
