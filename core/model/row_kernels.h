// Loops over rows of numbers that the model's operators are made of on the CPU: plain pointers, no Torch, compiled once for each
// instruction set (row_kernels_*.cpp) and chosen at run time. Arithmetic is fp32 inside; where Open-Sora has separate operators, their
// results are rounded to the element type in between, as there. Strides are in elements. Every function works on the calling thread.
#pragma once

#include <cstdint>

namespace stagewright::model {

struct RowKernels {
    // y = (1 + scale) * norm(x) + shift, norm over n without parameters, eps 1e-6; keeps mean and 1/deviation of each row.
    void (*norm)(const void *x, std::int64_t rows, std::int64_t n, const void *shift, const void *scale, void *y, float *mean, float *rstd);
    // dx from dy; ADDS the rows' sums of dy to dShift[n] and of dy * norm(x) to dScale[n].
    void (*normBackward)(const void *dy, const void *x, std::int64_t rows, std::int64_t n, const void *scale, const float *mean, const float *rstd, void *dx, float *dShift,
                         float *dScale);

    // out = x + gate * v
    void (*gate)(const void *x, const void *gate, const void *v, std::int64_t rows, std::int64_t n, void *out);
    // dv = dy * gate; ADDS the rows' sums of dy * v to dGate[n].
    void (*gateBackward)(const void *dy, const void *gate, const void *v, std::int64_t rows, std::int64_t n, void *dv, float *dGate);

    // Per token and head: RMS norm over dim (eps 1e-6) with weight[dim], then rotation by the token's cos, sin [dim/2]. x: heads side by side.
    void (*normRope)(const void *x, std::int64_t xStride, std::int64_t tokens, std::int64_t heads, std::int64_t dim, const void *weight, const float *cos, const float *sin,
                     bool liger, void *out, std::int64_t outStride);
    // dx from dOut; ADDS to dWeight[dim].
    void (*normRopeBackward)(const void *dOut, std::int64_t dOutTokenStride, std::int64_t dOutHeadStride, const void *x, std::int64_t xStride, std::int64_t tokens, std::int64_t heads,
                             std::int64_t dim, const void *weight, const float *cos, const float *sin, bool liger, void *dx, std::int64_t dxStride, float *dWeight);

    // GELU in its tanh form.
    void (*gelu)(const void *u, std::int64_t uStride, std::int64_t rows, std::int64_t n, void *out, std::int64_t outStride);
    // du = dOut * gelu'(u), and gelu(u) once more into out.
    void (*geluBackward)(const void *dOut, std::int64_t dOutStride, const void *u, std::int64_t uStride, std::int64_t rows, std::int64_t n, void *du, std::int64_t duStride, void *out,
                         std::int64_t outStride);
};

inline constexpr std::int64_t kMaxRopeDim = 1024;      // largest head that normRope takes

struct RowKernelSet {
    RowKernels float32, bfloat16, float16;
};

// The fastest set that this processor runs. Any thread.
const RowKernelSet &rowKernels();

const RowKernelSet &baselineRowKernels();              // runs everywhere
const RowKernelSet &avx2RowKernels();                  // AVX2, FMA, F16C
const RowKernelSet &avx512RowKernels();                // AVX-512 F, BW, DQ, VL

} // namespace stagewright::model
