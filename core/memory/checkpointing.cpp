#include "core/memory/checkpointing.h"

#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "core/memory/ledger.h"
#include "core/memory/random_state.h"

namespace stagewright::memory {

using torch::Tensor;
using torch::autograd::Node;
using torch::autograd::variable_list;

static thread_local bool t_recomputing = false;
bool isRecomputing() { return t_recomputing; }

static int countFromFront(std::int64_t setting, int blocks)
{
    const std::int64_t count = setting < 0 ? blocks + setting : setting;
    return static_cast<int>(std::clamp<std::int64_t>(count, 0, blocks));
}

Result<ResolvedDepth> resolveCheckpointDepth(bool gradCheckpoint, const std::optional<std::vector<std::int64_t>> &settings, int doubleBlocks, int singleBlocks)
{
    if (settings && settings->size() == 1) {
        return Error(ExitCode::Usage, "memory.checkpoint-depth",
                     fmt::format("model.grad_ckpt_settings is the one number {}, but it is the pair (double blocks, single blocks), for example (8, 100)", (*settings)[0]));
    }
    ResolvedDepth resolved;
    if (!gradCheckpoint)
        return resolved;
    if (!settings || settings->empty()) {
        resolved.depth = {doubleBlocks, singleBlocks};
        return resolved;
    }
    resolved.depth = {countFromFront((*settings)[0], doubleBlocks), countFromFront((*settings)[1], singleBlocks)};
    if ((*settings)[0] < 0 || (*settings)[1] < 0) {
        resolved.warning = fmt::format("model.grad_ckpt_settings ({}, {}) counts from the end: the first {} of {} double and {} of {} single blocks are checkpointed",
                                       (*settings)[0], (*settings)[1], resolved.depth.doubleBlocks, doubleBlocks, resolved.depth.singleBlocks, singleBlocks);
    }
    if (settings->size() > 2) {
        resolved.warning += fmt::format("{}model.grad_ckpt_settings has {} numbers, of which the first two count: (double blocks, single blocks)", resolved.warning.empty() ? "" : "; ",
                                        settings->size());
    }
    return resolved;
}

namespace {

// Autocast as it was in forward, for the second run.
struct Precision {
    struct OfDevice {
        torch::DeviceType type;
        bool enabled;
        at::ScalarType dtype;
    };
    std::vector<OfDevice> devices;
    bool cache = true;

    static Precision ofNow(torch::DeviceType deviceType)
    {
        Precision now;
        for (const torch::DeviceType type : {torch::kCPU, deviceType}) {
            if (type == torch::kMeta || (type == torch::kCPU && !now.devices.empty()))
                continue;
            now.devices.push_back({type, at::autocast::is_autocast_enabled(type), at::autocast::get_autocast_dtype(type)});
        }
        now.cache = at::autocast::is_autocast_cache_enabled();
        return now;
    }
    void apply() const
    {
        for (const OfDevice &device : devices) {
            at::autocast::set_autocast_enabled(device.type, device.enabled);
            at::autocast::set_autocast_dtype(device.type, device.dtype);
        }
        at::autocast::set_autocast_cache_enabled(cache);
    }
};

class PrecisionScope
{
public:
    PrecisionScope(const Precision &precision, torch::DeviceType type) : m_found(Precision::ofNow(type)) { precision.apply(); }
    ~PrecisionScope() { m_found.apply(); }

private:
    Precision m_found;
};

struct RecomputingScope {
    bool found = std::exchange(t_recomputing, true);
    ~RecomputingScope() { t_recomputing = found; }
};

struct OutputShape {
    std::vector<std::int64_t> sizes;
    torch::Dtype dtype;
};

std::string spell(at::IntArrayRef sizes, torch::Dtype dtype)
{
    std::ostringstream text;
    text << sizes << " " << c10::toString(dtype);
    return text.str();
}

bool anyNeedsGrad(const std::vector<Tensor> &tensors)
{
    return std::any_of(tensors.begin(), tensors.end(), [](const Tensor &t) { return t.defined() && t.requires_grad(); });
}

torch::Device deviceOf(const std::vector<Tensor> &inputs)
{
    for (const Tensor &input : inputs) {
        if (input.defined() && !input.is_cpu())
            return input.device();
    }
    return torch::kCPU;
}

struct CheckpointNode : Node {
    BlockFunction block;
    std::string blockName;
    torch::Device device = torch::kCPU;
    int ledgerBlock = -1;
    std::vector<Tensor> inputs;            // the streams are undefined where a slot holds them
    std::vector<bool> inputNeedsGrad;
    std::size_t streams = 0;
    std::unique_ptr<OffloadSlot> slot;
    RandomState random;
    Precision precision;
    std::vector<OutputShape> outputs;
    bool released = false;

    std::string name() const override { return "Checkpoint(" + blockName + ")"; }

    void release_variables() override
    {
        inputs.clear();
        slot.reset();
        random = {};
        released = true;
    }

    variable_list apply(variable_list &&gradients) override
    {
        TORCH_CHECK(!released, "the backward of checkpointed ", blockName, " was asked for a second time, but what it needs is freed after the first");
        TORCH_CHECK(!at::GradMode::is_enabled(), "checkpointed ", blockName, " has no second derivative: backward was called with create_graph");
        BlockScope blockScope(ledgerBlock);
        const std::vector<Tensor> leaves = detachedInputs();
        recomputeAndGoBack(leaves, gradients);
        variable_list result(leaves.size());
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            if (inputNeedsGrad[i])
                result[i] = leaves[i].grad();
        }
        return result;
    }

    std::vector<Tensor> detachedInputs()
    {
        std::vector<Tensor> leaves = inputs;
        if (slot) {
            const std::vector<Tensor> fetched = slot->fetch();
            std::copy(fetched.begin(), fetched.end(), leaves.begin());
        }
        for (std::size_t i = 0; i < leaves.size(); ++i) {
            if (leaves[i].defined())
                leaves[i] = leaves[i].detach().set_requires_grad(inputNeedsGrad[i]);
        }
        return leaves;
    }

    void recomputeAndGoBack(const std::vector<Tensor> &leaves, const variable_list &gradients)
    {
        std::vector<Tensor> again = runAgain(leaves);
        variable_list roots, rootGradients;
        for (std::size_t i = 0; i < again.size(); ++i) {
            if (again[i].requires_grad() && gradients[i].defined()) {
                roots.push_back(std::move(again[i]));
                rootGradients.push_back(gradients[i]);
            }
        }
        again.clear();
        if (!roots.empty())
            torch::autograd::backward(roots, rootGradients);
    }

    std::vector<Tensor> runAgain(const std::vector<Tensor> &leaves)
    {
        at::AutoGradMode record(true);
        RandomReplay replay(random, device);
        PrecisionScope scope(precision, device.type());
        KindScope kind(MemoryKind::Activation);
        RecomputingScope recomputing;
        std::vector<Tensor> again = block(leaves);
        TORCH_CHECK(again.size() == outputs.size(), blockName, " answered ", outputs.size(), " tensors in forward and ", again.size(), " when it was recomputed");
        for (std::size_t i = 0; i < again.size(); ++i) {
            TORCH_CHECK(again[i].sizes() == at::IntArrayRef(outputs[i].sizes) && again[i].scalar_type() == outputs[i].dtype, "output ", i, " of ", blockName, " was ",
                        spell(outputs[i].sizes, outputs[i].dtype), " in forward and ", spell(again[i].sizes(), again[i].scalar_type()),
                        " when it was recomputed: the block depends on something that changed in between");
        }
        return again;
    }
};

// An output that is an input would get two histories: answer an alias of it instead.
std::vector<Tensor> withoutInputsAmong(std::vector<Tensor> outputs, const std::vector<Tensor> &inputs)
{
    for (Tensor &output : outputs) {
        if (std::any_of(inputs.begin(), inputs.end(), [&](const Tensor &input) { return input.is_same(output); }))
            output = output.detach();
    }
    return outputs;
}

} // namespace

std::vector<Tensor> checkpoint(const BlockFunction &block, const std::vector<Tensor> &inputs, const CheckpointOptions &options)
{
    TORCH_CHECK(options.streams <= inputs.size(), options.name, " has fewer inputs than streams");
    if (!at::GradMode::is_enabled() || !(anyNeedsGrad(inputs) || anyNeedsGrad(options.parameters)))
        return block(inputs);

    auto node = std::shared_ptr<CheckpointNode>(new CheckpointNode, torch::autograd::deleteNode);
    node->set_next_edges(torch::autograd::collect_next_edges(inputs));
    node->block = block;
    node->blockName = options.name;
    node->device = deviceOf(inputs);
    node->ledgerBlock = currentBlock();
    node->precision = Precision::ofNow(node->device.type());
    node->streams = options.streams;

    std::vector<Tensor> outputs;
    {
        at::NoGradGuard unrecorded;
        const RandomWatch watch(node->device);
        outputs = withoutInputsAmong(block(inputs), inputs);
        node->random = watch.used();
    }

    for (const Tensor &input : inputs)
        node->inputNeedsGrad.push_back(input.defined() && input.requires_grad());
    for (std::size_t i = 0; i < inputs.size(); ++i)
        node->inputs.push_back(inputs[i].defined() ? inputs[i].detach() : Tensor());
    const std::vector<Tensor> streams(node->inputs.begin(), node->inputs.begin() + static_cast<std::ptrdiff_t>(options.streams));
    if (options.offload)
        node->slot = options.offload->push(options.name, streams);
    for (std::size_t i = 0; i < options.streams; ++i) {
        if (node->slot)
            node->inputs[i] = Tensor();
        else
            ledger().rekind(node->inputs[i], MemoryKind::CheckpointedInput);
    }
    for (const Tensor &output : outputs) {
        node->outputs.push_back({output.sizes().vec(), output.scalar_type()});
        torch::autograd::set_history(output, node);
    }
    return outputs;
}

} // namespace stagewright::memory
