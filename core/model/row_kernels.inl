// The body of row_kernels_*.cpp, compiled once for each instruction set. Everything is in an anonymous namespace and nothing of the
// standard library is used, so that no function compiled for a newer processor can be picked by the linker for an older one.
#include "core/model/row_kernels.h"

namespace stagewright::model {
namespace {

#define SW_INLINE inline __attribute__((always_inline))

constexpr std::int64_t kWidth = 16;
typedef float V __attribute__((vector_size(64)));
typedef std::int32_t VI __attribute__((vector_size(64)));
typedef std::uint32_t VU __attribute__((vector_size(64)));
typedef std::uint16_t VH __attribute__((vector_size(32)));
typedef _Float16 VF16 __attribute__((vector_size(32)));

constexpr float kEps = 1e-6F;

SW_INLINE V splat(float value) { return V{} + value; }
SW_INLINE V select(VI condition, V a, V b) { return (V)(((VI)a & condition) | ((VI)b & ~condition)); }

SW_INLINE float total(V v)
{
    float lanes[kWidth];
    __builtin_memcpy(lanes, &v, sizeof lanes);
    for (int half = 8; half > 0; half /= 2)
        for (int i = 0; i < half; ++i)
            lanes[i] += lanes[i + half];
    return lanes[0];
}

// --- Element types ---

struct F32 {
    using Element = float;
    static SW_INLINE V widen(const Element *p)
    {
        V v;
        __builtin_memcpy(&v, p, sizeof v);
        return v;
    }
    static SW_INLINE void narrow(V v, Element *p) { __builtin_memcpy(p, &v, sizeof v); }
    static SW_INLINE V rounded(V v) { return v; }
};

struct BF16 {
    using Element = std::uint16_t;
    static SW_INLINE V widen(const Element *p)
    {
        VH bits;
        __builtin_memcpy(&bits, p, sizeof bits);
        return (V)(__builtin_convertvector(bits, VU) << 16);
    }
    // To nearest, ties to even; what is no number stays none.
    static SW_INLINE VU roundedBits(V v)
    {
        const VU bits = (VU)v;
        const VU up = bits + (((bits >> 16) & 1) + 0x7fffU);
        const VI notANumber = v != v;
        return ((up & ~(VU)notANumber) | ((VU)notANumber & 0x7fc00000U)) & 0xffff0000U;
    }
    static SW_INLINE void narrow(V v, Element *p)
    {
        const VH bits = __builtin_convertvector(roundedBits(v) >> 16, VH);
        __builtin_memcpy(p, &bits, sizeof bits);
    }
    static SW_INLINE V rounded(V v) { return (V)roundedBits(v); }
};

struct F16 {
    using Element = _Float16;
    static SW_INLINE V widen(const Element *p)
    {
        VF16 v;
        __builtin_memcpy(&v, p, sizeof v);
        return __builtin_convertvector(v, V);
    }
    static SW_INLINE void narrow(V v, Element *p)
    {
        const VF16 half = __builtin_convertvector(v, VF16);
        __builtin_memcpy(p, &half, sizeof half);
    }
    static SW_INLINE V rounded(V v) { return __builtin_convertvector(__builtin_convertvector(v, VF16), V); }
};

// Full vectors, then the rest of a row: missing elements read as 0 and are not written.
template <class T>
SW_INLINE V load(const typename T::Element *p, std::int64_t count)
{
    if (count >= kWidth)
        return T::widen(p);
    typename T::Element part[kWidth] = {};
    __builtin_memcpy(part, p, static_cast<std::size_t>(count) * sizeof(typename T::Element));
    return T::widen(part);
}

template <class T>
SW_INLINE void store(V v, typename T::Element *p, std::int64_t count)
{
    if (count >= kWidth) {
        T::narrow(v, p);
        return;
    }
    typename T::Element part[kWidth];
    T::narrow(v, part);
    __builtin_memcpy(p, part, static_cast<std::size_t>(count) * sizeof(typename T::Element));
}

SW_INLINE void add(V v, float *p, std::int64_t count) { store<F32>(load<F32>(p, count) + v, p, count); }
SW_INLINE V keepFirst(V v, std::int64_t count)
{
    const VI index = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return select(index < static_cast<std::int32_t>(count < kWidth ? count : kWidth), v, V{});
}

#define SW_EACH(i, n) for (std::int64_t i = 0; i < (n); i += kWidth)

// --- exp, sigmoid ---

// Cody-Waite reduction and a degree-6 polynomial: within 2 ulp over the clamped range.
SW_INLINE V exponential(V x)
{
    x = select(x < 88.0F, x, splat(88.0F));
    x = select(x > -87.0F, x, splat(-87.0F));
    const V magic = splat(12582912.0F);
    const V n = (x * 1.44269504088896341F + magic) - magic;
    V r = x - n * 0.693359375F;
    r = r + n * 2.12194440e-4F;
    V p = splat(1.9875691500e-4F);
    p = p * r + 1.3981999507e-3F;
    p = p * r + 8.3334519073e-3F;
    p = p * r + 4.1665795894e-2F;
    p = p * r + 1.6666665459e-1F;
    p = p * r + 5.0000001201e-1F;
    p = p * r * r + r + 1.0F;
    const VI scale = (__builtin_convertvector(n, VI) + 127) << 23;
    return p * (V)scale;
}

// gelu(u) = u * sigmoid(2 k (u + 0.044715 u^3)), k = sqrt(2 / pi): the tanh form without its cancellation.
constexpr float kTwoK = 1.5957691216057308F;
SW_INLINE V geluSigmoid(V u)
{
    const V y = kTwoK * (u + 0.044715F * u * u * u);
    return 1.0F / (1.0F + exponential(-y));
}

// --- Kernels ---

template <class T>
void norm(const void *xAny, std::int64_t rows, std::int64_t n, const void *shiftAny, const void *scaleAny, void *yAny, float *mean, float *rstd)
{
    using E = typename T::Element;
    const E *shift = static_cast<const E *>(shiftAny), *scale = static_cast<const E *>(scaleAny);
    for (std::int64_t row = 0; row < rows; ++row) {
        const E *x = static_cast<const E *>(xAny) + row * n;
        E *y = static_cast<E *>(yAny) + row * n;
        V sum{};
        SW_EACH(i, n) sum += load<T>(x + i, n - i);
        const float m = total(sum) / static_cast<float>(n);
        V square{};
        SW_EACH(i, n)
        {
            const V d = keepFirst(load<T>(x + i, n - i) - m, n - i);
            square += d * d;
        }
        const float r = 1.0F / __builtin_sqrtf(total(square) / static_cast<float>(n) + kEps);
        mean[row] = m;
        rstd[row] = r;
        SW_EACH(i, n)
        {
            const V normed = T::rounded((load<T>(x + i, n - i) - m) * r);
            const V factor = T::rounded(load<T>(scale + i, n - i) + 1.0F);
            store<T>(T::rounded(factor * normed) + load<T>(shift + i, n - i), y + i, n - i);
        }
    }
}

template <class T>
void normBackward(const void *dyAny, const void *xAny, std::int64_t rows, std::int64_t n, const void *scaleAny, const float *mean, const float *rstd, void *dxAny, float *dShift,
                  float *dScale)
{
    using E = typename T::Element;
    const E *scale = static_cast<const E *>(scaleAny);
    for (std::int64_t row = 0; row < rows; ++row) {
        const E *x = static_cast<const E *>(xAny) + row * n, *dy = static_cast<const E *>(dyAny) + row * n;
        E *dx = static_cast<E *>(dxAny) + row * n;
        const float m = mean[row], r = rstd[row];
        V sum{}, product{};
        SW_EACH(i, n)
        {
            const V g = load<T>(dy + i, n - i);
            const V normed = (load<T>(x + i, n - i) - m) * r;
            add(g, dShift + i, n - i);
            add(g * normed, dScale + i, n - i);
            const V dNormed = g * (load<T>(scale + i, n - i) + 1.0F);       // 0 beyond the row, since g is
            sum += dNormed;
            product += dNormed * normed;
        }
        const float a = total(sum) / static_cast<float>(n), b = total(product) / static_cast<float>(n);
        SW_EACH(i, n)
        {
            const V normed = (load<T>(x + i, n - i) - m) * r;
            const V dNormed = load<T>(dy + i, n - i) * (load<T>(scale + i, n - i) + 1.0F);
            store<T>(r * (dNormed - a - normed * b), dx + i, n - i);
        }
    }
}

template <class T>
void gate(const void *xAny, const void *gateAny, const void *vAny, std::int64_t rows, std::int64_t n, void *outAny)
{
    using E = typename T::Element;
    const E *factor = static_cast<const E *>(gateAny);
    for (std::int64_t row = 0; row < rows; ++row) {
        const E *x = static_cast<const E *>(xAny) + row * n, *v = static_cast<const E *>(vAny) + row * n;
        E *out = static_cast<E *>(outAny) + row * n;
        SW_EACH(i, n) store<T>(load<T>(x + i, n - i) + T::rounded(load<T>(factor + i, n - i) * load<T>(v + i, n - i)), out + i, n - i);
    }
}

template <class T>
void gateBackward(const void *dyAny, const void *gateAny, const void *vAny, std::int64_t rows, std::int64_t n, void *dvAny, float *dGate)
{
    using E = typename T::Element;
    const E *factor = static_cast<const E *>(gateAny);
    for (std::int64_t row = 0; row < rows; ++row) {
        const E *dy = static_cast<const E *>(dyAny) + row * n, *v = static_cast<const E *>(vAny) + row * n;
        E *dv = static_cast<E *>(dvAny) + row * n;
        SW_EACH(i, n)
        {
            const V g = load<T>(dy + i, n - i);
            store<T>(g * load<T>(factor + i, n - i), dv + i, n - i);
            add(g * load<T>(v + i, n - i), dGate + i, n - i);
        }
    }
}

template <class T>
SW_INLINE float inverseRms(const typename T::Element *x, std::int64_t dim)
{
    V square{};
    SW_EACH(i, dim)
    {
        const V v = load<T>(x + i, dim - i);
        square += v * v;
    }
    return 1.0F / __builtin_sqrtf(total(square) / static_cast<float>(dim) + kEps);
}

// (a, b) -> (a cos - b sin, a sin + b cos) on pairs (p, p + dim/2) or (2p, 2p + 1); sign -1 rotates back.
SW_INLINE void rotate(const float *in, std::int64_t dim, const float *cos, const float *sin, bool liger, float sign, float *out)
{
    const std::int64_t half = dim / 2;
    if (liger) {
        SW_EACH(p, half)
        {
            const std::int64_t count = half - p;
            const V a = load<F32>(in + p, count), b = load<F32>(in + half + p, count), c = load<F32>(cos + p, count), s = load<F32>(sin + p, count) * sign;
            store<F32>(a * c - b * s, out + p, count);
            store<F32>(a * s + b * c, out + half + p, count);
        }
        return;
    }
    for (std::int64_t p = 0; p < half; ++p) {
        const float a = in[2 * p], b = in[2 * p + 1], c = cos[p], s = sin[p] * sign;
        out[2 * p] = a * c - b * s;
        out[2 * p + 1] = a * s + b * c;
    }
}

template <class T>
void normRope(const void *xAny, std::int64_t xStride, std::int64_t tokens, std::int64_t heads, std::int64_t dim, const void *weightAny, const float *cos, const float *sin, bool liger,
              void *outAny, std::int64_t outStride)
{
    using E = typename T::Element;
    const E *weight = static_cast<const E *>(weightAny);
    float scaled[kMaxRopeDim], rotated[kMaxRopeDim];
    for (std::int64_t token = 0; token < tokens; ++token) {
        for (std::int64_t head = 0; head < heads; ++head) {
            const E *x = static_cast<const E *>(xAny) + token * xStride + head * dim;
            E *out = static_cast<E *>(outAny) + token * outStride + head * dim;
            const float r = inverseRms<T>(x, dim);
            SW_EACH(i, dim) store<F32>(T::rounded(T::rounded(load<T>(x + i, dim - i) * r) * load<T>(weight + i, dim - i)), scaled + i, dim - i);
            rotate(scaled, dim, cos + token * (dim / 2), sin + token * (dim / 2), liger, 1.0F, rotated);
            SW_EACH(i, dim) store<T>(load<F32>(rotated + i, dim - i), out + i, dim - i);
        }
    }
}

template <class T>
void normRopeBackward(const void *dOutAny, std::int64_t dOutTokenStride, std::int64_t dOutHeadStride, const void *xAny, std::int64_t xStride, std::int64_t tokens, std::int64_t heads,
                      std::int64_t dim, const void *weightAny, const float *cos, const float *sin, bool liger, void *dxAny, std::int64_t dxStride, float *dWeight)
{
    using E = typename T::Element;
    const E *weight = static_cast<const E *>(weightAny);
    float given[kMaxRopeDim], back[kMaxRopeDim];
    for (std::int64_t token = 0; token < tokens; ++token) {
        for (std::int64_t head = 0; head < heads; ++head) {
            const E *dOut = static_cast<const E *>(dOutAny) + token * dOutTokenStride + head * dOutHeadStride;
            const E *x = static_cast<const E *>(xAny) + token * xStride + head * dim;
            E *dx = static_cast<E *>(dxAny) + token * dxStride + head * dim;
            SW_EACH(i, dim) store<F32>(load<T>(dOut + i, dim - i), given + i, dim - i);
            rotate(given, dim, cos + token * (dim / 2), sin + token * (dim / 2), liger, -1.0F, back);
            const float r = inverseRms<T>(x, dim);
            V product{};
            SW_EACH(i, dim)
            {
                const V d = T::rounded(load<F32>(back + i, dim - i)), value = load<T>(x + i, dim - i);
                add(d * T::rounded(value * r), dWeight + i, dim - i);
                product += d * load<T>(weight + i, dim - i) * value;
            }
            const float along = r * r * r * (total(product) / static_cast<float>(dim));
            SW_EACH(i, dim)
            {
                const V d = T::rounded(load<F32>(back + i, dim - i)) * load<T>(weight + i, dim - i);
                store<T>(r * d - along * load<T>(x + i, dim - i), dx + i, dim - i);
            }
        }
    }
}

template <class T>
void gelu(const void *uAny, std::int64_t uStride, std::int64_t rows, std::int64_t n, void *outAny, std::int64_t outStride)
{
    using E = typename T::Element;
    for (std::int64_t row = 0; row < rows; ++row) {
        const E *u = static_cast<const E *>(uAny) + row * uStride;
        E *out = static_cast<E *>(outAny) + row * outStride;
        SW_EACH(i, n)
        {
            const V value = load<T>(u + i, n - i);
            store<T>(value * geluSigmoid(value), out + i, n - i);
        }
    }
}

template <class T>
void geluBackward(const void *dOutAny, std::int64_t dOutStride, const void *uAny, std::int64_t uStride, std::int64_t rows, std::int64_t n, void *duAny, std::int64_t duStride, void *outAny,
                  std::int64_t outStride)
{
    using E = typename T::Element;
    for (std::int64_t row = 0; row < rows; ++row) {
        const E *dOut = static_cast<const E *>(dOutAny) + row * dOutStride, *u = static_cast<const E *>(uAny) + row * uStride;
        E *du = static_cast<E *>(duAny) + row * duStride, *out = static_cast<E *>(outAny) + row * outStride;
        SW_EACH(i, n)
        {
            const V value = load<T>(u + i, n - i), given = load<T>(dOut + i, n - i), s = geluSigmoid(value);
            store<T>(value * s, out + i, n - i);
            const V slope = s + value * s * (1.0F - s) * (kTwoK * (1.0F + 3.0F * 0.044715F * value * value));
            store<T>(given * slope, du + i, n - i);
        }
    }
}

template <class T>
constexpr RowKernels kernelsOf()
{
    return {norm<T>, normBackward<T>, gate<T>, gateBackward<T>, normRope<T>, normRopeBackward<T>, gelu<T>, geluBackward<T>};
}

constexpr RowKernelSet kSet{kernelsOf<F32>(), kernelsOf<BF16>(), kernelsOf<F16>()};

} // namespace
