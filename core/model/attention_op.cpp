#include "core/model/attention_op.h"

#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>

#include "core/model/attention_kernel.h"
#include "core/model/autograd_node.h"
#include "core/model/gelu_rows.h"

namespace stagewright::model {

namespace {

// B batch, L all tokens, H heads, D head size, h = H * D.
struct Sizes {
    std::int64_t batch = 0, tokens = 0, heads = 0, dim = 0;
    std::int64_t hidden() const { return heads * dim; }
};

Sizes sizesOf(const std::vector<TokenGroup> &groups, std::int64_t heads)
{
    Sizes sizes{groups[0].projections[0].size(0), 0, heads, groups[0].queryScale.size(0)};
    for (const TokenGroup &group : groups)
        sizes.tokens += group.projections[0].size(1);
    return sizes;
}

Tensor columnsOf(const TokenGroup &group, const Columns &columns, std::int64_t width) { return group.projections[columns.tensor].narrow(2, columns.at, width); }

// --- Normed and rotated queries or keys of one group ---

// [B, L, D/2] or [1, L, D/2] rows of the table for `tokens` tokens from `from` on, broadcast over heads: [., tokens, 1, D/2].
Tensor tableRows(const Tensor &table, std::int64_t from, std::int64_t tokens) { return table.narrow(1, from, tokens).unsqueeze(2); }

Tensor rotateInTorch(const Tensor &x, const Tensor &cos, const Tensor &sin, bool liger)
{
    const std::int64_t half = x.size(3) / 2;
    const Tensor pairs = liger ? x.view({x.size(0), x.size(1), x.size(2), 2, half}) : x.view({x.size(0), x.size(1), x.size(2), half, 2}).transpose(3, 4);
    const Tensor a = pairs.select(3, 0), b = pairs.select(3, 1);
    const Tensor rotated = at::stack({a * cos - b * sin, a * sin + b * cos}, liger ? 3 : 4);
    return rotated.reshape(x.sizes());
}

void normRopeInto(const Tensor &out, const Tensor &x, const Tensor &scale, const RopeTable &rope, std::int64_t from, const Sizes &sizes)
{
    const std::int64_t tokens = x.size(1), half = sizes.dim / 2;
    const RowKernels *kernels = sizes.dim <= kMaxRopeDim ? kernelsFor(x) : nullptr;
    if (!kernels) {
        const Tensor heads = x.view({sizes.batch, tokens, sizes.heads, sizes.dim});
        const Tensor wide = heads.to(at::toOpMathType(x.scalar_type()));
        const Tensor normed = (wide * at::rsqrt(wide.square().mean(-1, true) + 1e-6)).to(x.scalar_type()) * scale;
        out.narrow(1, from, tokens).copy_(rotateInTorch(normed.to(wide.scalar_type()), tableRows(rope.cos, from, tokens), tableRows(rope.sin, from, tokens), rope.liger));
        return;
    }
    if (skipsKernels(x))
        return;
    const std::int64_t tableBatch = rope.cos.size(0) > 1 ? rope.cos.stride(0) : 0;
    const float *cos = rope.cos.const_data_ptr<float>(), *sin = rope.sin.const_data_ptr<float>();
    at::parallel_for(0, sizes.batch * tokens, grainRows(2 * sizes.hidden()), [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
            const std::int64_t sample = begin / tokens, token = begin % tokens, count = std::min(tokens - token, end - begin);
            const std::int64_t row = sample * tableBatch + (from + token) * half;
            kernels->normRope(at_(x, sample * x.stride(0) + token * x.stride(1)), x.stride(1), count, sizes.heads, sizes.dim, at_(scale, 0), cos + row, sin + row, rope.liger,
                              mutableAt(out, ((sample * sizes.tokens) + from + token) * sizes.hidden()), sizes.hidden());
            begin += count;
        }
    });
}

// dx into the columns `dx`; returns the scale's gradient. dOut [B, H, L, D] of all groups.
Tensor normRopeBackwardInto(const Tensor &dx, const Tensor &dOut, const Tensor &x, const Tensor &scale, const RopeTable &rope, std::int64_t from, const Sizes &sizes)
{
    const std::int64_t tokens = x.size(1), half = sizes.dim / 2;
    const RowKernels *kernels = sizes.dim <= kMaxRopeDim ? kernelsFor(x) : nullptr;
    if (!kernels) {
        const torch::Dtype wideType = at::toOpMathType(x.scalar_type());
        const Tensor given = dOut.narrow(2, from, tokens).transpose(1, 2).to(wideType).contiguous();
        const Tensor back = rotateInTorch(given, tableRows(rope.cos, from, tokens), -tableRows(rope.sin, from, tokens), rope.liger).to(x.scalar_type()).to(wideType);
        const Tensor wide = x.view({sizes.batch, tokens, sizes.heads, sizes.dim}).to(wideType);
        const Tensor r = at::rsqrt(wide.square().mean(-1, true) + 1e-6);
        const Tensor d = back * scale.to(wideType);
        dx.copy_((r * d - r.pow(3) * (d * wide).mean(-1, true) * wide).view(x.sizes()));
        return (back * (wide * r)).sum(at::IntArrayRef{0, 1, 2}).to(x.scalar_type());
    }
    const TokenPieces pieces(tokens);
    const Tensor partial = at::zeros({sizes.batch * pieces.count, sizes.dim}, x.options().dtype(torch::kFloat32));
    if (!skipsKernels(x)) {
        const std::int64_t tableBatch = rope.cos.size(0) > 1 ? rope.cos.stride(0) : 0;
        const float *cos = rope.cos.const_data_ptr<float>(), *sin = rope.sin.const_data_ptr<float>();
        float *dScale = partial.mutable_data_ptr<float>();
        at::parallel_for(0, sizes.batch * pieces.count, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t piece = begin; piece < end; ++piece) {
                const std::int64_t sample = piece / pieces.count, token = piece % pieces.count * pieces.rows;
                const std::int64_t row = sample * tableBatch + (from + token) * half;
                kernels->normRopeBackward(at_(dOut, sample * dOut.stride(0) + (from + token) * dOut.stride(2)), dOut.stride(2), dOut.stride(1),
                                          at_(x, sample * x.stride(0) + token * x.stride(1)), x.stride(1), std::min(pieces.rows, tokens - token), sizes.heads, sizes.dim, at_(scale, 0),
                                          cos + row, sin + row, rope.liger, mutableAt(dx, sample * dx.stride(0) + token * dx.stride(1)), dx.stride(1), dScale + piece * sizes.dim);
            }
        });
    }
    return partial.sum(0).to(x.scalar_type());
}

// --- The joint sequence ---

struct Joint { Tensor q, k, v; };              // [B, H, L, D] views of [B, L, H, D]

Tensor asHeads(const Tensor &tokens, const Sizes &sizes) { return tokens.unflatten(2, {sizes.heads, sizes.dim}).transpose(1, 2); }

Joint jointSequence(const std::vector<TokenGroup> &groups, const RopeTable &rope, const Sizes &sizes)
{
    const at::TensorOptions options = groups[0].projections[0].options();
    const Tensor q = at::empty({sizes.batch, sizes.tokens, sizes.hidden()}, options), k = at::empty_like(q);
    const bool alone = groups.size() == 1;
    const Tensor v = alone ? columnsOf(groups[0], groups[0].value, sizes.hidden()) : at::empty_like(q);
    std::int64_t from = 0;
    for (const TokenGroup &group : groups) {
        const Tensor query = columnsOf(group, group.query, sizes.hidden()), key = columnsOf(group, group.key, sizes.hidden());
        const Tensor qHeads = q.view({sizes.batch, sizes.tokens, sizes.heads, sizes.dim}), kHeads = k.view_as(qHeads);
        normRopeInto(qHeads, query, group.queryScale, rope, from, sizes);
        normRopeInto(kHeads, key, group.keyScale, rope, from, sizes);
        if (!alone)
            v.narrow(1, from, query.size(1)).copy_(columnsOf(group, group.value, sizes.hidden()));
        from += query.size(1);
    }
    return {asHeads(q, sizes), asHeads(k, sizes), asHeads(v, sizes)};
}

// The attention's output for one group's tokens as rows [B * L_g, h].
Tensor attendedRows(const Tensor &out, std::int64_t from, std::int64_t tokens, const Sizes &sizes)
{
    return out.transpose(1, 2).narrow(1, from, tokens).reshape({-1, sizes.hidden()});
}

// What the output projection multiplies: the attention's rows, beside them room for gelu where there is an MLP.
Tensor projectionInput(const TokenGroup &group, const Tensor &out, std::int64_t from, const Sizes &sizes)
{
    const std::int64_t tokens = group.projections[0].size(1);
    if (group.mlpWidth == 0)
        return attendedRows(out, from, tokens, sizes);
    const Tensor joined = at::empty({sizes.batch * tokens, sizes.hidden() + group.mlpWidth}, out.options());
    joined.narrow(1, 0, sizes.hidden()).copy_(attendedRows(out, from, tokens, sizes));
    return joined;
}

Tensor mlpRows(const TokenGroup &group, const std::vector<Tensor> &tensors)
{
    const Tensor &source = tensors[group.mlp.tensor];
    return source.view({-1, source.size(2)}).narrow(1, group.mlp.at, group.mlpWidth);
}

// --- The node ---

struct AttentionNode : OperatorNode {
    std::vector<TokenGroup> groups;            // without history
    RopeTable rope;
    Sizes sizes;
    AttentionResult attention;

    std::string name() const override { return "AttendAndProject"; }
    void release() override
    {
        groups.clear();
        attention = {};
        rope = {};
    }

    static std::size_t inputsOf(const TokenGroup &group) { return group.projections.size() + 4; }

    // Inputs of each group: projections, query scale, key scale, weight, bias of the output.
    variable_list backward(const variable_list &gradients) override
    {
        std::vector<std::vector<Tensor>> dProjections;
        for (const TokenGroup &group : groups) {
            dProjections.emplace_back();
            for (const Tensor &projection : group.projections)
                dProjections.back().push_back(at::empty_like(projection));
        }
        variable_list result;
        std::vector<std::size_t> first;        // index of each group's first input
        for (const TokenGroup &group : groups) {
            first.push_back(result.size());
            result.resize(result.size() + inputsOf(group));
        }
        const Tensor dAttended = backThroughOutputs(gradients, dProjections, first, result);
        backThroughAttention(dAttended, dProjections, first, result);
        for (std::size_t g = 0; g < groups.size(); ++g)
            std::move(dProjections[g].begin(), dProjections[g].end(), result.begin() + static_cast<std::ptrdiff_t>(first[g]));
        return result;
    }

    // Returns the gradient of the attention's output, [B, L, h].
    Tensor backThroughOutputs(const variable_list &gradients, std::vector<std::vector<Tensor>> &dProjections, const std::vector<std::size_t> &first, variable_list &result)
    {
        const bool alone = groups.size() == 1;
        Tensor dAttended = alone ? Tensor() : at::empty({sizes.batch, sizes.tokens, sizes.hidden()}, groups[0].projections[0].options());
        std::int64_t from = 0;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const TokenGroup &group = groups[g];
            const std::int64_t tokens = group.projections[0].size(1), width = sizes.hidden() + group.mlpWidth;
            const Tensor dy = gradients[g].defined() ? gradients[g].contiguous().view({-1, sizes.hidden()}) : at::zeros({sizes.batch * tokens, sizes.hidden()}, attention.out.options());
            const Tensor dx = at::mm(dy, group.out.weight);
            const Tensor x = projectionInput(group, attention.out, from, sizes);
            if (group.mlpWidth > 0)
                geluBackwardInto(mlpRows(group, dProjections[g]), x.narrow(1, sizes.hidden(), group.mlpWidth), dx.narrow(1, sizes.hidden(), group.mlpWidth), mlpRows(group, group.projections));
            const std::size_t weight = first[g] + group.projections.size() + 2;
            if (wants(weight))
                result[weight] = weightGradient(dy, x);
            if (wants(weight + 1))
                result[weight + 1] = biasGradient(dy);
            const Tensor part = dx.view({sizes.batch, tokens, width}).narrow(2, 0, sizes.hidden());
            if (alone)
                dAttended = part;
            else
                dAttended.narrow(1, from, tokens).copy_(part);
            from += tokens;
        }
        return dAttended;
    }

    void backThroughAttention(const Tensor &dAttended, std::vector<std::vector<Tensor>> &dProjections, const std::vector<std::size_t> &first, variable_list &result)
    {
        AttentionGradients d;
        {
            const Joint joint = jointSequence(groups, rope, sizes);
            d = attentionBackward(asHeads(dAttended, sizes), joint.q, joint.k, joint.v, attention);
        }
        std::int64_t from = 0;
        for (std::size_t g = 0; g < groups.size(); ++g) {
            const TokenGroup &group = groups[g];
            const std::int64_t tokens = group.projections[0].size(1);
            const auto target = [&](const Columns &columns) { return dProjections[g][columns.tensor].narrow(2, columns.at, sizes.hidden()); };
            const std::size_t scales = first[g] + group.projections.size();
            result[scales] = normRopeBackwardInto(target(group.query), d.q, columnsOf(group, group.query, sizes.hidden()), group.queryScale, rope, from, sizes);
            result[scales + 1] = normRopeBackwardInto(target(group.key), d.k, columnsOf(group, group.key, sizes.hidden()), group.keyScale, rope, from, sizes);
            target(group.value).unflatten(2, {sizes.heads, sizes.dim}).copy_(d.v.narrow(2, from, tokens).transpose(1, 2));
            from += tokens;
        }
    }
};

} // namespace

std::vector<Tensor> attendAndProject(const std::vector<TokenGroup> &groups, const RopeTable &rope, std::int64_t heads)
{
    const Sizes sizes = sizesOf(groups, heads);
    std::vector<Tensor> outputs;
    AttentionResult attention;
    {
        BelowAutograd below;
        {
            const Joint joint = jointSequence(groups, rope, sizes);
            attention = attentionForward(joint.q, joint.k, joint.v);
        }
        std::int64_t from = 0;
        for (const TokenGroup &group : groups) {
            const std::int64_t tokens = group.projections[0].size(1);
            const Tensor x = projectionInput(group, attention.out, from, sizes);
            if (group.mlpWidth > 0)
                geluInto(x.narrow(1, sizes.hidden(), group.mlpWidth), mlpRows(group, group.projections));
            outputs.push_back(linearForward(x, group.out).view({sizes.batch, tokens, sizes.hidden()}));
            from += tokens;
        }
    }
    variable_list inputs;
    for (const TokenGroup &group : groups) {
        inputs.insert(inputs.end(), group.projections.begin(), group.projections.end());
        inputs.insert(inputs.end(), {group.queryScale, group.keyScale, group.out.weight, group.out.bias});
    }
    if (recorded(inputs)) {
        auto node = makeNode<AttentionNode>(inputs);
        node->groups = groups;
        for (TokenGroup &group : node->groups) {
            for (Tensor &projection : group.projections)
                projection = kept(projection);
            group.queryScale = kept(group.queryScale);
            group.keyScale = kept(group.keyScale);
            group.out = {kept(group.out.weight), kept(group.out.bias)};
        }
        node->rope = rope;
        node->sizes = sizes;
        node->attention = std::move(attention);
        torch::autograd::set_history(outputs, node);
    }
    return outputs;
}

} // namespace stagewright::model
