#include "core/train/adam_kernel.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace stagewright::train {

namespace {

#define STAGEWRIGHT_INLINE inline __attribute__((always_inline))

STAGEWRIGHT_INLINE float fromBFloat16(std::uint16_t bits)
{
    return std::bit_cast<float>(std::uint32_t(bits) << 16);
}

// Nearest, ties to even; NaN stays NaN.
STAGEWRIGHT_INLINE std::uint16_t toBFloat16(float value)
{
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return std::uint16_t((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

STAGEWRIGHT_INLINE float fromFloat16(std::uint16_t bits) { return float(std::bit_cast<_Float16>(bits)); }
STAGEWRIGHT_INLINE std::uint16_t toFloat16(float value) { return std::bit_cast<std::uint16_t>(_Float16(value)); }

template <Storage S>
STAGEWRIGHT_INLINE float load(const void *values, std::size_t i)
{
    if constexpr (S == Storage::Float32)
        return static_cast<const float *>(values)[i];
    else if constexpr (S == Storage::BFloat16)
        return fromBFloat16(static_cast<const std::uint16_t *>(values)[i]);
    else
        return fromFloat16(static_cast<const std::uint16_t *>(values)[i]);
}

template <Storage S>
STAGEWRIGHT_INLINE void store(void *values, std::size_t i, float value)
{
    if constexpr (S == Storage::Float32)
        static_cast<float *>(values)[i] = value;
    else if constexpr (S == Storage::BFloat16)
        static_cast<std::uint16_t *>(values)[i] = toBFloat16(value);
    else
        static_cast<std::uint16_t *>(values)[i] = toFloat16(value);
}

template <Storage G, Storage W, bool Copy, bool Decoupled>
STAGEWRIGHT_INLINE void adamLoop(const AdamFactors &f, float *__restrict master, const void *__restrict grad, float *__restrict m, float *__restrict v,
                                 void *__restrict weight, std::size_t n)
{
    const float beta1 = f.beta1, beta2 = f.beta2, rest1 = f.oneMinusBeta1, rest2 = f.oneMinusBeta2, lr = f.lr, eps = f.eps, decay = f.weightDecay,
                c1 = f.inverseCorrection1, c2 = f.inverseRootCorrection2, scale = f.gradScale;
    for (std::size_t i = 0; i < n; ++i) {
        float p = master[i];
        float g = load<G>(grad, i) * scale;
        if constexpr (!Decoupled)
            g += decay * p;
        const float mi = beta1 * m[i] + rest1 * g;
        const float vi = beta2 * v[i] + rest2 * g * g;
        m[i] = mi;
        v[i] = vi;
        float update = mi * c1 / (std::sqrt(vi) * c2 + eps);
        if constexpr (Decoupled)
            update += decay * p;
        p -= lr * update;
        master[i] = p;
        if constexpr (Copy)
            store<W>(weight, i, p);
    }
}

template <Storage G, Storage W, bool Copy>
STAGEWRIGHT_INLINE void adamByMode(const AdamFactors &f, float *master, const void *grad, float *m, float *v, void *weight, std::size_t n)
{
    if (f.decoupled)
        adamLoop<G, W, Copy, true>(f, master, grad, m, v, weight, n);
    else
        adamLoop<G, W, Copy, false>(f, master, grad, m, v, weight, n);
}

STAGEWRIGHT_INLINE void adamBody(const AdamFactors &f, float *master, const void *grad, Storage gradStorage, float *m, float *v, void *weight,
                                 Storage weightStorage, std::size_t n)
{
    using enum Storage;
    if (!weight)
        adamByMode<Float32, Float32, false>(f, master, grad, m, v, weight, n);
    else if (weightStorage == BFloat16 && gradStorage == BFloat16)
        adamByMode<BFloat16, BFloat16, true>(f, master, grad, m, v, weight, n);
    else if (weightStorage == BFloat16)
        adamByMode<Float32, BFloat16, true>(f, master, grad, m, v, weight, n);
    else if (gradStorage == Float16)
        adamByMode<Float16, Float16, true>(f, master, grad, m, v, weight, n);
    else
        adamByMode<Float32, Float16, true>(f, master, grad, m, v, weight, n);
}

// Eight running sums, so that the order of additions does not depend on the vector width.
template <Storage S>
STAGEWRIGHT_INLINE double squaresLoop(const void *__restrict values, std::size_t n)
{
    double sums[8] = {};
    const std::size_t whole = n / 8 * 8;
    for (std::size_t i = 0; i < whole; i += 8) {
        for (std::size_t j = 0; j < 8; ++j) {
            const double x = load<S>(values, i + j);
            sums[j] += x * x;
        }
    }
    for (std::size_t i = whole; i < n; ++i) {
        const double x = load<S>(values, i);
        sums[i - whole] += x * x;
    }
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

STAGEWRIGHT_INLINE double squaresBody(const void *values, Storage storage, std::size_t n)
{
    switch (storage) {
    case Storage::Float32:
        return squaresLoop<Storage::Float32>(values, n);
    case Storage::BFloat16:
        return squaresLoop<Storage::BFloat16>(values, n);
    default:
        return squaresLoop<Storage::Float16>(values, n);
    }
}

template <Storage S>
STAGEWRIGHT_INLINE void addLoop(float *__restrict sum, const void *__restrict values, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        sum[i] += load<S>(values, i);
}

STAGEWRIGHT_INLINE void addBody(float *sum, const void *values, Storage storage, std::size_t n)
{
    switch (storage) {
    case Storage::Float32:
        return addLoop<Storage::Float32>(sum, values, n);
    case Storage::BFloat16:
        return addLoop<Storage::BFloat16>(sum, values, n);
    default:
        return addLoop<Storage::Float16>(sum, values, n);
    }
}

STAGEWRIGHT_INLINE void averageBody(float *__restrict average, const float *__restrict values, float decay, float rest, std::size_t n)
{
    for (std::size_t i = 0; i < n; ++i)
        average[i] = decay * average[i] + rest * values[i];
}

// Each body twice: for any x86-64 machine, and with AVX2. Contraction to fused multiply-add is off in both (see CMakeLists.txt), so both
// round alike.
#if defined(__x86_64__)
#define STAGEWRIGHT_AVX2 __attribute__((target("avx2,f16c")))
const bool hasAvx2 = __builtin_cpu_supports("avx2");

STAGEWRIGHT_AVX2 void adamAvx2(const AdamFactors &f, float *master, const void *grad, Storage gs, float *m, float *v, void *weight, Storage ws, std::size_t n)
{
    adamBody(f, master, grad, gs, m, v, weight, ws, n);
}
STAGEWRIGHT_AVX2 double squaresAvx2(const void *values, Storage storage, std::size_t n) { return squaresBody(values, storage, n); }
STAGEWRIGHT_AVX2 void addAvx2(float *sum, const void *values, Storage storage, std::size_t n) { addBody(sum, values, storage, n); }
STAGEWRIGHT_AVX2 void averageAvx2(float *average, const float *values, float d, float r, std::size_t n) { averageBody(average, values, d, r, n); }
#define STAGEWRIGHT_DISPATCH(fast, plain) \
    if (hasAvx2) \
        return fast; \
    return plain
#else
#define STAGEWRIGHT_DISPATCH(fast, plain) return plain
#endif

} // namespace

void adamStep(const AdamFactors &f, float *master, const void *grad, Storage gs, float *m, float *v, void *weight, Storage ws, std::size_t n)
{
    STAGEWRIGHT_DISPATCH(adamAvx2(f, master, grad, gs, m, v, weight, ws, n), adamBody(f, master, grad, gs, m, v, weight, ws, n));
}

double sumOfSquares(const void *values, Storage storage, std::size_t n)
{
    STAGEWRIGHT_DISPATCH(squaresAvx2(values, storage, n), squaresBody(values, storage, n));
}

void accumulate(float *sum, const void *values, Storage storage, std::size_t n)
{
    STAGEWRIGHT_DISPATCH(addAvx2(sum, values, storage, n), addBody(sum, values, storage, n));
}

void averageStep(float *average, const float *values, float decay, float oneMinusDecay, std::size_t n)
{
    STAGEWRIGHT_DISPATCH(averageAvx2(average, values, decay, oneMinusDecay, n), averageBody(average, values, decay, oneMinusDecay, n));
}

} // namespace stagewright::train
