#include "core/model/gelu_rows.h"

#include <ATen/Parallel.h>

#include "core/model/autograd_node.h"

namespace stagewright::model {

static std::int64_t rowStride(const Tensor &t) { return t.stride(-2); }

void geluInto(const Tensor &out, const Tensor &u)
{
    const RowKernels *kernels = kernelsFor(u);
    if (!kernels) {
        out.copy_(at::gelu(u, "tanh"));
        return;
    }
    if (skipsKernels(u))
        return;
    const std::int64_t n = u.size(-1);
    at::parallel_for(0, u.numel() / n, grainRows(8 * n), [&](std::int64_t begin, std::int64_t end) {
        kernels->gelu(at_(u, begin * rowStride(u)), rowStride(u), end - begin, n, mutableAt(out, begin * rowStride(out)), rowStride(out));
    });
}

void geluBackwardInto(const Tensor &du, const Tensor &out, const Tensor &dOut, const Tensor &u)
{
    const RowKernels *kernels = kernelsFor(u);
    if (!kernels) {
        du.copy_(at::gelu_backward(dOut, u, "tanh"));
        out.copy_(at::gelu(u, "tanh"));
        return;
    }
    if (skipsKernels(u))
        return;
    const std::int64_t n = u.size(-1);
    at::parallel_for(0, u.numel() / n, grainRows(8 * n), [&](std::int64_t begin, std::int64_t end) {
        kernels->geluBackward(at_(dOut, begin * rowStride(dOut)), rowStride(dOut), at_(u, begin * rowStride(u)), rowStride(u), end - begin, n, mutableAt(du, begin * rowStride(du)),
                              rowStride(du), mutableAt(out, begin * rowStride(out)), rowStride(out));
    });
}

} // namespace stagewright::model
