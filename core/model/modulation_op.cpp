#include "core/model/modulation_op.h"

#include <ATen/Parallel.h>

#include "core/model/autograd_node.h"

namespace stagewright::model {

namespace {

// Calls work(sample, first token, number of tokens, index of the piece) for all pieces of all samples.
template <class Work>
void overPieces(std::int64_t samples, std::int64_t tokens, const TokenPieces &pieces, const Work &work)
{
    at::parallel_for(0, samples * pieces.count, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t index = begin; index < end; ++index) {
            const std::int64_t sample = index / pieces.count, from = index % pieces.count * pieces.rows;
            work(sample, from, std::min(pieces.rows, tokens - from), index);
        }
    });
}

// Calls work(sample, first token, number of tokens) for ranges of tokens that together are all.
template <class Work>
void overTokens(std::int64_t samples, std::int64_t tokens, std::int64_t rowLength, const Work &work)
{
    at::parallel_for(0, samples * tokens, grainRows(rowLength), [&](std::int64_t begin, std::int64_t end) {
        while (begin < end) {
            const std::int64_t sample = begin / tokens, from = begin % tokens, count = std::min(tokens - from, end - begin);
            work(sample, from, count);
            begin += count;
        }
    });
}

// Sums of pieces [B, pieces, n] fp32 to [B, n] in dtype.
Tensor addPieces(const Tensor &partial, torch::Dtype dtype) { return partial.sum(1).to(dtype); }

// --- norm ---

struct NormResult {
    Tensor y, mean, rstd;      // mean, rstd [B, L - first] fp32
};

NormResult normInTorch(const Tensor &x, const Tensor &shift, const Tensor &scale, std::int64_t first)
{
    const Tensor part = x.narrow(1, first, x.size(1) - first);
    Tensor normed, mean, rstd;
    if (x.is_meta()) {
        normed = at::empty(part.sizes(), x.options());
        mean = at::empty({part.size(0), part.size(1), 1}, x.options().dtype(torch::kFloat32));
        rstd = at::empty_like(mean);
    } else {
        std::tie(normed, mean, rstd) = at::native_layer_norm(part.contiguous(), {x.size(2)}, {}, {}, 1e-6);
    }
    return {(scale + 1).unsqueeze(1) * normed + shift.unsqueeze(1), mean, rstd};
}

NormResult normForward(const Tensor &x, const Tensor &shift, const Tensor &scale, std::int64_t first)
{
    const RowKernels *kernels = kernelsFor(x);
    if (!kernels)
        return normInTorch(x, shift, scale, first);
    const std::int64_t samples = x.size(0), tokens = x.size(1) - first, n = x.size(2);
    NormResult result{at::empty({samples, tokens, n}, x.options()), at::empty({samples, tokens}, x.options().dtype(torch::kFloat32)), {}};
    result.rstd = at::empty_like(result.mean);
    if (skipsKernels(x))
        return result;
    float *mean = result.mean.mutable_data_ptr<float>(), *rstd = result.rstd.mutable_data_ptr<float>();
    overTokens(samples, tokens, n, [&](std::int64_t sample, std::int64_t from, std::int64_t count) {
        const std::int64_t row = sample * tokens + from;
        kernels->norm(at_(x, (sample * x.size(1) + first + from) * n), count, n, at_(shift, sample * shift.stride(0)), at_(scale, sample * scale.stride(0)), mutableAt(result.y, row * n),
                      mean + row, rstd + row);
    });
    return result;
}

struct NormNode : OperatorNode {
    Tensor x, scale, mean, rstd;
    std::int64_t first = 0;

    std::string name() const override { return "ModulatedNorm"; }
    void release() override { x = scale = mean = rstd = Tensor(); }

    variable_list backward(const variable_list &gradients) override
    {
        if (!gradients[0].defined())
            return variable_list(3);
        const Tensor dy = gradients[0].contiguous();
        const RowKernels *kernels = kernelsFor(x);
        return kernels ? backwardInKernels(dy, *kernels) : backwardInTorch(dy);
    }

    variable_list backwardInKernels(const Tensor &dy, const RowKernels &kernels)
    {
        const std::int64_t samples = x.size(0), tokens = dy.size(1), all = x.size(1), n = x.size(2);
        const TokenPieces pieces(tokens);
        Tensor dx = at::empty_like(x);
        const Tensor partial = at::zeros({2, samples, pieces.count, n}, x.options().dtype(torch::kFloat32));
        if (!skipsKernels(x)) {
            if (first > 0)
                dx.narrow(1, 0, first).zero_();
            float *dShift = partial.mutable_data_ptr<float>(), *dScale = dShift + partial.stride(0);
            overPieces(samples, tokens, pieces, [&](std::int64_t sample, std::int64_t from, std::int64_t count, std::int64_t piece) {
                const std::int64_t row = sample * tokens + from, source = (sample * all + first + from) * n;
                kernels.normBackward(at_(dy, row * n), at_(x, source), count, n, at_(scale, sample * scale.stride(0)), mean.const_data_ptr<float>() + row, rstd.const_data_ptr<float>() + row,
                                     mutableAt(dx, source), dShift + piece * n, dScale + piece * n);
            });
        }
        return {dx, addPieces(partial[0], x.scalar_type()), addPieces(partial[1], x.scalar_type())};
    }

    variable_list backwardInTorch(const Tensor &dy)
    {
        const Tensor part = x.narrow(1, first, dy.size(1));
        const Tensor mean3 = mean.view({part.size(0), part.size(1), 1}), rstd3 = rstd.view_as(mean3);
        const Tensor normed = (part - mean3) * rstd3;                     // fp32
        const Tensor dNormed = dy * (scale + 1).unsqueeze(1);
        const Tensor dPart = rstd3 * (dNormed - dNormed.mean(-1, true) - normed * (dNormed * normed).mean(-1, true));
        Tensor dx = at::empty_like(x);
        if (first > 0)
            dx.narrow(1, 0, first).zero_();
        dx.narrow(1, first, dy.size(1)).copy_(dPart);
        return {dx, dy.sum(1), (dy * normed).sum(1).to(x.scalar_type())};
    }
};

// --- gate ---

Tensor gateForward(const Tensor &x, const Tensor &gate, const Tensor &v)
{
    const RowKernels *kernels = kernelsFor(x);
    if (!kernels)
        return x + gate.unsqueeze(1) * v;
    Tensor out = at::empty_like(x);
    const std::int64_t samples = x.size(0), tokens = x.size(1), n = x.size(2);
    if (!skipsKernels(x)) {
        overTokens(samples, tokens, n, [&](std::int64_t sample, std::int64_t from, std::int64_t count) {
            const std::int64_t at = (sample * tokens + from) * n;
            kernels->gate(at_(x, at), at_(gate, sample * gate.stride(0)), at_(v, at), count, n, mutableAt(out, at));
        });
    }
    return out;
}

struct GateNode : OperatorNode {
    Tensor gate, v;

    std::string name() const override { return "GatedResidual"; }
    void release() override { gate = v = Tensor(); }

    variable_list backward(const variable_list &gradients) override
    {
        if (!gradients[0].defined())
            return variable_list(3);
        const Tensor dy = gradients[0].contiguous();
        const RowKernels *kernels = kernelsFor(v);
        if (!kernels)
            return {gradients[0], (dy * v).sum(1), dy * gate.unsqueeze(1)};
        const std::int64_t samples = v.size(0), tokens = v.size(1), n = v.size(2);
        const TokenPieces pieces(tokens);
        Tensor dv = at::empty_like(v);
        const Tensor partial = at::zeros({samples, pieces.count, n}, v.options().dtype(torch::kFloat32));
        if (!skipsKernels(v)) {
            float *dGate = partial.mutable_data_ptr<float>();
            overPieces(samples, tokens, pieces, [&](std::int64_t sample, std::int64_t from, std::int64_t count, std::int64_t piece) {
                const std::int64_t at = (sample * tokens + from) * n;
                kernels->gateBackward(at_(dy, at), at_(gate, sample * gate.stride(0)), at_(v, at), count, n, mutableAt(dv, at), dGate + piece * n);
            });
        }
        return {gradients[0], addPieces(partial, v.scalar_type()), dv};
    }
};

} // namespace

Tensor modulatedNorm(const Tensor &x, const Tensor &shift, const Tensor &scale, std::int64_t first)
{
    NormResult result;
    const Tensor input = x.contiguous();
    {
        BelowAutograd below;
        result = normForward(input, shift, scale, first);
    }
    const variable_list inputs{input, shift, scale};
    if (recorded(inputs)) {
        auto node = makeNode<NormNode>(inputs);
        node->x = kept(input);
        node->scale = kept(scale);
        node->mean = result.mean;
        node->rstd = result.rstd;
        node->first = first;
        torch::autograd::set_history(result.y, node);
    }
    return result.y;
}

Tensor gatedResidual(const Tensor &x, const Tensor &gate, const Tensor &v)
{
    Tensor out;
    const Tensor base = x.contiguous(), added = v.contiguous();
    {
        BelowAutograd below;
        out = gateForward(base, gate, added);
    }
    const variable_list inputs{base, gate, added};
    if (recorded(inputs)) {
        auto node = makeNode<GateNode>(inputs);
        node->gate = kept(gate);
        node->v = kept(added);
        torch::autograd::set_history(out, node);
    }
    return out;
}

} // namespace stagewright::model
