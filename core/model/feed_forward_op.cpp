#include "core/model/feed_forward_op.h"

#include "core/model/autograd_node.h"
#include "core/model/gelu_rows.h"

namespace stagewright::model {

namespace {

struct FeedForwardNode : OperatorNode {
    Tensor x, u;                               // [rows, h], [rows, M]
    Tensor weightIn, weightOut;
    std::vector<std::int64_t> sizes;

    std::string name() const override { return "FeedForward"; }
    void release() override { x = u = weightIn = weightOut = Tensor(); }

    // Inputs: x, W1, b1, W2, b2.
    variable_list backward(const variable_list &gradients) override
    {
        variable_list result(5);
        if (!gradients[0].defined())
            return result;
        const Tensor dy = gradients[0].contiguous().view({-1, weightOut.size(0)});
        const Tensor du = at::empty_like(u);
        {
            const Tensor hidden = at::empty_like(u);
            geluBackwardInto(du, hidden, at::mm(dy, weightOut), u);
            if (wants(3))
                result[3] = weightGradient(dy, hidden);
        }
        if (wants(4))
            result[4] = biasGradient(dy);
        if (wants(1))
            result[1] = weightGradient(du, x);
        if (wants(2))
            result[2] = biasGradient(du);
        if (wants(0))
            result[0] = at::mm(du, weightIn).view(sizes);
        return result;
    }
};

} // namespace

Tensor feedForward(const Tensor &x, const LinearWeights &in, const LinearWeights &out)
{
    Tensor flat, u, y;
    {
        BelowAutograd below;
        flat = x.reshape({-1, x.size(-1)});
        u = linearForward(flat, in);
        const Tensor hidden = at::empty_like(u);
        geluInto(hidden, u);
        std::vector<std::int64_t> sizes = x.sizes().vec();
        sizes.back() = out.weight.size(0);
        y = linearForward(hidden, out).view(sizes);
    }
    const variable_list inputs{x, in.weight, in.bias, out.weight, out.bias};
    if (recorded(inputs)) {
        auto node = makeNode<FeedForwardNode>(inputs);
        node->x = kept(flat);
        node->u = u;
        node->weightIn = kept(in.weight);
        node->weightOut = kept(out.weight);
        node->sizes = x.sizes().vec();
        torch::autograd::set_history(y, node);
    }
    return y;
}

} // namespace stagewright::model
