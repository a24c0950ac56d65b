#include "core/data/pil_resize.h"

#include <algorithm>
#include <cmath>

namespace stagewright::data {

namespace {

constexpr int kPrecision = 32 - 8 - 2;                 // bits after the point of a coefficient, as Pillow has them for 8-bit pixels

double bicubic(double x)
{
    constexpr double a = -0.5;
    x = std::abs(x);
    if (x < 1.0)
        return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
    if (x < 2.0)
        return (((x - 5) * x + 8) * x - 4) * a;
    return 0.0;
}

double box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

// What each output position takes from the input along one axis.
struct Taps {
    struct Span { int first = 0, count = 0; };
    std::vector<Span> spans;
    std::vector<std::int32_t> weights;                 // `stride` a position
    int stride = 0;
};

Taps tapsFor(int from, int to, PilFilter filter)
{
    const double scale = static_cast<double>(from) / to, filterScale = std::max(scale, 1.0);
    const double support = (filter == PilFilter::Bicubic ? 2.0 : 0.5) * filterScale;
    Taps taps;
    taps.stride = static_cast<int>(std::ceil(support)) * 2 + 1;
    taps.weights.resize(static_cast<std::size_t>(to) * static_cast<std::size_t>(taps.stride));
    std::vector<double> raw(static_cast<std::size_t>(taps.stride));
    for (int i = 0; i < to; ++i) {
        const double center = (i + 0.5) * scale;
        const int first = std::max(static_cast<int>(center - support + 0.5), 0);
        const int count = std::min(static_cast<int>(center + support + 0.5), from) - first;
        double sum = 0;
        for (int k = 0; k < count; ++k) {
            const double at = (k + first - center + 0.5) * (1.0 / filterScale);
            raw[static_cast<std::size_t>(k)] = filter == PilFilter::Bicubic ? bicubic(at) : box(at);
            sum += raw[static_cast<std::size_t>(k)];
        }
        for (int k = 0; k < count; ++k) {
            const double weight = sum != 0 ? raw[static_cast<std::size_t>(k)] / sum : raw[static_cast<std::size_t>(k)];
            taps.weights[static_cast<std::size_t>(i * taps.stride + k)] = static_cast<std::int32_t>((weight < 0 ? -0.5 : 0.5) + weight * (1 << kPrecision));
        }
        taps.spans.push_back({first, count});
    }
    return taps;
}

std::uint8_t clipped(std::int32_t sum) { return static_cast<std::uint8_t>(std::clamp(sum >> kPrecision, 0, 255)); }

// One axis: `outer` lines of `from` elements of `step` bytes apart, each to `to` elements.
void resample(const std::uint8_t *in, std::uint8_t *out, int outer, std::size_t inLine, std::size_t outLine, std::size_t step, int inner, const Taps &taps)
{
    for (int line = 0; line < outer; ++line) {
        for (std::size_t i = 0; i < taps.spans.size(); ++i) {
            const auto [first, count] = taps.spans[i];
            const std::int32_t *weights = &taps.weights[i * static_cast<std::size_t>(taps.stride)];
            for (int c = 0; c < inner; ++c) {
                std::int32_t sum = 1 << (kPrecision - 1);
                const std::uint8_t *at = in + static_cast<std::size_t>(line) * inLine + static_cast<std::size_t>(first) * step + static_cast<std::size_t>(c);
                for (int k = 0; k < count; ++k, at += step)
                    sum += static_cast<std::int32_t>(*at) * weights[k];
                out[static_cast<std::size_t>(line) * outLine + i * step + static_cast<std::size_t>(c)] = clipped(sum);
            }
        }
    }
}

} // namespace

Picture pilResize(std::span<const std::uint8_t> pixels, int height, int width, int toHeight, int toWidth, PilFilter filter)
{
    Picture picture{height, width, std::vector<std::uint8_t>(pixels.begin(), pixels.end())};
    if (toWidth != width) {
        std::vector<std::uint8_t> out(static_cast<std::size_t>(height) * static_cast<std::size_t>(toWidth) * 3);
        resample(picture.pixels.data(), out.data(), height, static_cast<std::size_t>(width) * 3, static_cast<std::size_t>(toWidth) * 3, 3, 3,
                 tapsFor(width, toWidth, filter));
        picture = {height, toWidth, std::move(out)};
    }
    if (toHeight != height) {
        const std::size_t line = static_cast<std::size_t>(toWidth) * 3;
        std::vector<std::uint8_t> out(static_cast<std::size_t>(toHeight) * line);
        // Down the columns: one "line" whose elements are whole rows.
        resample(picture.pixels.data(), out.data(), 1, 0, 0, line, toWidth * 3, tapsFor(height, toHeight, filter));
        picture = {toHeight, toWidth, std::move(out)};
    }
    return picture;
}

} // namespace stagewright::data
