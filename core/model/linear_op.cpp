#include "core/model/linear_op.h"

#include "core/model/autograd_node.h"

namespace stagewright::model {

Tensor linearForward(const Tensor &x, const LinearWeights &weights)
{
    return weights.bias.defined() ? at::addmm(weights.bias, x, weights.weight.t()) : at::mm(x, weights.weight.t());
}

Tensor weightGradient(const Tensor &dy, const Tensor &x) { return at::mm(dy.t(), x); }
Tensor biasGradient(const Tensor &dy) { return at::sum(dy, 0); }

namespace {

Tensor rowsOf(const Tensor &x) { return x.reshape({-1, x.size(-1)}); }

struct LinearNode : OperatorNode {
    Tensor x;                                  // [rows, in]
    std::vector<std::int64_t> xSizes;
    std::vector<Tensor> weights;

    std::string name() const override { return "Linear"; }
    void release() override
    {
        x.reset();
        weights.clear();
    }

    // Inputs: x, then weight and bias of each layer.
    variable_list backward(const variable_list &gradients) override
    {
        variable_list result(1 + 2 * weights.size());
        Tensor dx;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (!gradients[i].defined())
                continue;
            const Tensor dy = rowsOf(gradients[i].contiguous());
            if (wants(0))
                dx = dx.defined() ? dx.addmm_(dy, weights[i]) : at::mm(dy, weights[i]);
            if (wants(1 + 2 * i))
                result[1 + 2 * i] = weightGradient(dy, x);
            if (wants(2 + 2 * i))
                result[2 + 2 * i] = biasGradient(dy);
        }
        if (dx.defined())
            result[0] = dx.view(xSizes);
        return result;
    }
};

} // namespace

std::vector<Tensor> linears(const Tensor &x, const std::vector<LinearWeights> &layers)
{
    variable_list inputs{x};
    for (const LinearWeights &layer : layers) {
        inputs.push_back(layer.weight);
        inputs.push_back(layer.bias);
    }
    std::vector<Tensor> outputs;
    Tensor flat;
    {
        BelowAutograd below;
        flat = rowsOf(x);
        std::vector<std::int64_t> sizes = x.sizes().vec();
        for (const LinearWeights &layer : layers) {
            sizes.back() = layer.weight.size(0);
            outputs.push_back(linearForward(flat, layer).view(sizes));
        }
    }
    if (recorded(inputs)) {
        auto node = makeNode<LinearNode>(inputs);
        node->x = kept(flat);
        node->xSizes = x.sizes().vec();
        for (const LinearWeights &layer : layers)
            node->weights.push_back(kept(layer.weight));
        torch::autograd::set_history(outputs, node);
    }
    return outputs;
}

Tensor linear(const Tensor &x, const LinearWeights &weights) { return linears(x, {weights})[0]; }

} // namespace stagewright::model
