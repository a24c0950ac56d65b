// What the model's own differentiable operators have in common. Each is one autograd node that saves less than the chain of Torch's
// operators would, computes its forward below autograd, and in backward skips what nobody needs.
//
// An operator on a CPU tensor of a usual dtype runs the row kernels (row_kernels.h); elsewhere (CUDA, fp64) it runs the same formula in
// Torch's operators. On the meta device it allocates what the device that meta stands for (memory/device.h) would.
#pragma once

#include "core/torchpch/torch.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "core/memory/device.h"
#include "core/model/row_kernels.h"

namespace stagewright::model {

using torch::Tensor;
using torch::autograd::Node;
using torch::autograd::variable_list;

// Operators inside such a scope are not recorded, and skip autograd's dispatch.
using BelowAutograd = at::AutoDispatchBelowADInplaceOrView;

struct OperatorNode : Node {
    bool released = false;

    void release_variables() override
    {
        released = true;
        release();
    }
    virtual void release() = 0;                // drops what was saved

    variable_list apply(variable_list &&gradients) override
    {
        TORCH_CHECK(!released, name(), " was asked to go backward a second time, but what it saved is freed after the first");
        TORCH_CHECK(!at::GradMode::is_enabled(), name(), " has no second derivative");
        BelowAutograd below;
        return backward(gradients);
    }
    virtual variable_list backward(const variable_list &gradients) = 0;

    bool wants(std::size_t input) const { return next_edge(input).is_valid(); }
};

// Whether the operator has to record itself.
inline bool recorded(const variable_list &inputs)
{
    return at::GradMode::is_enabled() && std::any_of(inputs.begin(), inputs.end(), [](const Tensor &t) { return t.defined() && t.requires_grad(); });
}

template <class NodeType>
std::shared_ptr<NodeType> makeNode(const variable_list &inputs)
{
    auto node = std::shared_ptr<NodeType>(new NodeType, torch::autograd::deleteNode);
    node->set_next_edges(torch::autograd::collect_next_edges(inputs));
    return node;
}

// What a node keeps of its inputs: the same memory without the history that led to it.
inline Tensor kept(const Tensor &tensor) { return tensor.defined() ? tensor.detach() : Tensor(); }
inline Tensor contiguousGradient(const Tensor &gradient, const Tensor &like) { return gradient.defined() ? gradient.contiguous() : at::zeros_like(like); }

// The kernels for a tensor, or null where it takes Torch's operators. On meta the kernels are not to be called (skipsKernels).
inline const RowKernels *kernelsFor(const Tensor &tensor)
{
    if (memory::operatorDevice(tensor) != torch::kCPU)
        return nullptr;
    switch (tensor.scalar_type()) {
    case torch::kFloat32: return &rowKernels().float32;
    case torch::kBFloat16: return &rowKernels().bfloat16;
    case torch::kFloat16: return &rowKernels().float16;
    default: return nullptr;
    }
}
inline bool skipsKernels(const Tensor &tensor) { return tensor.is_meta(); }

// Rows in one parallel chunk, so that a chunk is worth a thread.
inline std::int64_t grainRows(std::int64_t rowLength) { return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(rowLength, 1)); }

// How sums over the tokens of a sample are cut: at most 32 pieces, each summed in fp32 by one thread, then added in order. The cut depends
// on the number of tokens alone, so results do not depend on the number of threads.
struct TokenPieces {
    explicit TokenPieces(std::int64_t tokens) : rows(std::max<std::int64_t>(16, (tokens + 31) / 32)), count((tokens + rows - 1) / rows) {}
    std::int64_t rows, count;
};

// Address of element `offset` of a tensor.
inline const void *at_(const Tensor &tensor, std::int64_t offset)
{
    return static_cast<const char *>(tensor.const_data_ptr()) + offset * static_cast<std::int64_t>(tensor.element_size());
}
inline void *mutableAt(const Tensor &tensor, std::int64_t offset)
{
    return static_cast<char *>(tensor.mutable_data_ptr()) + offset * static_cast<std::int64_t>(tensor.element_size());
}

} // namespace stagewright::model
