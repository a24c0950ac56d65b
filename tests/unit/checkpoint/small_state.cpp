#include "small_state.h"

namespace stagewright::tests {

using checkpoint::ParameterState;
using checkpoint::TrainingState;

namespace {

constexpr torch::Tensor ParameterState::*kTensors[] = {&ParameterState::weight, &ParameterState::master, &ParameterState::expAvg, &ParameterState::expAvgSq, &ParameterState::ema, &ParameterState::gradient};
constexpr const char *kNames[] = {"weight", "master", "exp_avg", "exp_avg_sq", "ema", "gradient"};

} // namespace

TrainingState makeState(const StateShape &shape)
{
    torch::manual_seed(shape.seed);
    const torch::NoGradGuard noGrad;
    TrainingState state;
    const auto add = [&](const std::string &name, std::vector<std::int64_t> sizes, bool trainable) {
        ParameterState parameter;
        parameter.name = name;
        parameter.trainable = trainable;
        const torch::Tensor exact = torch::randn(sizes);
        parameter.weight = exact.to(shape.dtype);
        if (trainable && shape.dtype != at::kFloat)
            parameter.master = exact.clone();
        if (trainable && shape.moments) {
            parameter.expAvg = torch::randn(sizes);
            parameter.expAvgSq = torch::rand(sizes);
            parameter.updates = 7;
        }
        if (trainable && shape.ema)
            parameter.ema = exact * 0.5;
        if (trainable && shape.gradients)
            parameter.gradient = torch::randn(sizes).to(shape.dtype);
        state.parameters.push_back(std::move(parameter));
    };
    add("img_in.weight", {shape.width, 8}, true);
    add("frozen.weight", {5, 3}, false);
    for (std::int64_t layer = 0; layer < shape.layers; ++layer) {
        add("double_blocks." + std::to_string(layer) + ".img_attn.qkv.weight", {3 * shape.width, shape.width}, true);
        add("double_blocks." + std::to_string(layer) + ".img_attn.qkv.bias", {3 * shape.width}, true);
    }
    add("scale", {}, true);
    state.group.lr = 2e-3;
    state.group.betas = {0.9, 0.95};
    state.group.eps = 1e-15;
    state.group.weightDecay = 0.01;
    state.group.initialLr = 2e-3;
    ckptfile::SchedulerState schedule;
    schedule.initialLr = 1e-6;
    schedule.warmupSteps = 3;
    schedule.baseLr = schedule.lastLr = 2e-3;
    schedule.lastEpoch = 7;
    state.scheduler = schedule;
    state.sampler = {42, 1, 14};
    state.counters.epoch = 1;
    state.counters.microStep = 4;
    state.counters.globalMicroStep = 14;
    state.counters.updates = 7;
    state.counters.skippedUpdates = 1;
    state.scaler = ckptfile::ScalerState{32768, 12, 2};
    state.position = ckptfile::DataPosition{1, 5};
    state.collectedMicroSteps = shape.gradients ? 1 : 0;
    state.randomStreams = {{"torch.cpu", std::string("\0\1\2\xff", 4)}, {"trainer.draws", "abc"}};
    state.run = "run-a";
    state.datasetFingerprint = "fp-1";
    state.configYaml = "dtype: bf16\n";
    state.dtype = shape.dtype == at::kFloat ? "fp32" : "bf16";
    return state;
}

TrainingState emptyLike(const TrainingState &state)
{
    TrainingState empty;
    for (const ParameterState &parameter : state.parameters) {
        ParameterState other;
        other.name = parameter.name;
        other.trainable = parameter.trainable;
        other.weight = torch::full_like(parameter.weight, -3);
        if (parameter.master.defined())
            other.master = torch::full_like(parameter.master, -3);
        if (parameter.ema.defined())
            other.ema = torch::full_like(parameter.ema, -3);
        empty.parameters.push_back(std::move(other));
    }
    empty.run = state.run;
    empty.configYaml = state.configYaml;
    empty.dtype = state.dtype;
    return empty;
}

void moveOn(TrainingState &state, std::int64_t step)
{
    const torch::NoGradGuard noGrad;
    for (ParameterState &parameter : state.parameters) {
        for (const auto member : kTensors) {
            if ((parameter.*member).defined())
                (parameter.*member).fill_(static_cast<double>(step));
        }
        if (parameter.trainable)
            parameter.updates = step;
    }
    state.counters.updates = step;
    state.counters.globalMicroStep = 2 * step;
}

TrainingState cloneOf(const TrainingState &state)
{
    TrainingState copy = state;
    for (ParameterState &parameter : copy.parameters) {
        for (const auto member : kTensors) {
            if ((parameter.*member).defined())
                parameter.*member = (parameter.*member).clone();
        }
    }
    return copy;
}

std::string difference(const TrainingState &a, const TrainingState &b)
{
    if (a.parameters.size() != b.parameters.size())
        return "number of parameters";
    for (std::size_t at = 0; at < a.parameters.size(); ++at) {
        const ParameterState &one = a.parameters[at], &other = b.parameters[at];
        for (std::size_t member = 0; member < std::size(kTensors); ++member) {
            const torch::Tensor &left = one.*kTensors[member], &right = other.*kTensors[member];
            if (left.defined() != right.defined() || (left.defined() && (left.scalar_type() != right.scalar_type() || !torch::equal(left, right))))
                return one.name + "." + kNames[member];
        }
        if (one.updates != other.updates)
            return one.name + ".updates";
    }
    if (!(a.group == b.group)) return "group";
    if (!(a.scheduler == b.scheduler)) return "scheduler";
    if (!(a.sampler == b.sampler)) return "sampler";
    if (!(a.counters == b.counters)) return "counters";
    if (!(a.scaler == b.scaler)) return "scaler";
    if (!(a.position == b.position)) return "position";
    if (a.collectedMicroSteps != b.collectedMicroSteps) return "collected micro-steps";
    if (a.randomStreams != b.randomStreams) return "random streams";
    return a.datasetFingerprint == b.datasetFingerprint ? "" : "fingerprint";
}

} // namespace stagewright::tests
