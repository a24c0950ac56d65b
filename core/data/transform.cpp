#include "core/data/transform.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/data/pil_resize.h"

namespace stagewright::data {

namespace {

// A byte as it trains: x / 255, then (x − 0.5) / 0.5, in fp32.
float unit(std::uint8_t byte) { return static_cast<float>(byte) / 255.0f; }
float normalised(float value) { return (value - 0.5f) / 0.5f; }

const std::array<float, 256> &unitTable()
{
    static const std::array<float, 256> table = [] {
        std::array<float, 256> values{};
        for (int i = 0; i < 256; ++i)
            values[static_cast<std::size_t>(i)] = unit(static_cast<std::uint8_t>(i));
        return values;
    }();
    return table;
}

int rounded(double value) { return static_cast<int>(roundHalfEven(value)); }

struct Scaled { int height, width; bool fillsHeight; };
Scaled scaledToFill(int height, int width, int toHeight, int toWidth)
{
    const double byHeight = static_cast<double>(toHeight) / height, byWidth = static_cast<double>(toWidth) / width;
    if (byHeight > byWidth)
        return {toHeight, rounded(width * byHeight), true};
    return {rounded(height * byWidth), toWidth, false};
}

// Where an output position falls between two input positions: torch's upsample_bilinear2d with align_corners False.
struct Between { int first, second; float weight; };       // of second
std::vector<Between> positions(int from, int to, int begin, int count)
{
    const float scale = static_cast<float>(from) / static_cast<float>(to);
    std::vector<Between> result(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
        const float at = std::max(scale * (static_cast<float>(begin + i) + 0.5f) - 0.5f, 0.0f);
        const int first = std::min(static_cast<int>(at), from - 1);
        result[static_cast<std::size_t>(i)] = {first, std::min(first + 1, from - 1), std::clamp(at - static_cast<float>(first), 0.0f, 1.0f)};
    }
    return result;
}

std::string sizeText(int height, int width) { return std::to_string(height) + "x" + std::to_string(width); }

} // namespace

double roundHalfEven(double value)
{
    const double low = std::floor(value), rest = value - low;
    if (rest != 0.5)
        return rest < 0.5 ? low : low + 1;
    return std::fmod(low, 2.0) == 0 ? low : low + 1;
}

Fit fillFitOfVideo(int height, int width, int toHeight, int toWidth)
{
    const Scaled scaled = scaledToFill(height, width, toHeight, toWidth);
    if (scaled.fillsHeight)
        return {scaled.height, scaled.width, 0, (scaled.width - toWidth) / 2};
    return {scaled.height, scaled.width, (scaled.height - toHeight) / 2, 0};
}

Fit fillFitOfImage(int height, int width, int toHeight, int toWidth)
{
    const Scaled scaled = scaledToFill(height, width, toHeight, toWidth);
    if (scaled.fillsHeight)
        return {scaled.height, scaled.width, 0, rounded((scaled.width - toWidth) / 2.0)};
    return {scaled.height, scaled.width, rounded((scaled.height - toHeight) / 2.0), 0};
}

namespace {

// Resized so that the shorter side is `size`, then the middle.
Fit centerFitOfVideo(int height, int width, int size)
{
    const double scale = static_cast<double>(size) / std::min(height, width);
    const int toHeight = rounded(height * scale), toWidth = rounded(width * scale);
    return {toHeight, toWidth, rounded((toHeight - size) / 2.0), rounded((toWidth - size) / 2.0)};
}

// A window of drawn size and place, sides multiples of 8: drawn in the order height, width, row, column.
Fit randomWindow(int height, int width, int low, int high, Draws &draws)
{
    constexpr int multiple = 8;
    const auto whole = [](int value) { return value - value % multiple; };
    int windowHeight = whole(static_cast<int>(draws.between(low, high)));
    int windowWidth = whole(static_cast<int>(draws.between(low, high)));
    if (height < windowHeight)
        windowHeight = whole(height);
    if (width < windowWidth)
        windowWidth = whole(width);
    if (height == windowHeight && width == windowWidth)
        return {windowHeight, windowWidth, 0, 0};
    const int top = static_cast<int>(draws.between(0, height - windowHeight));
    return {windowHeight, windowWidth, top, static_cast<int>(draws.between(0, width - windowWidth))};
}

} // namespace

Result<PictureFit> PictureFit::choose(Transform transform, bool isImage, int height, int width, int bucketHeight, int bucketWidth, Draws &draws)
{
    const auto bad = [](const std::string &reason) { return Error(ExitCode::Data, "data.wrong-size", reason); };
    PictureFit fit;
    fit.m_outHeight = bucketHeight;
    fit.m_outWidth = bucketWidth;
    switch (transform) {
    case Transform::ResizeCrop:
        fit.m_method = isImage ? Method::PilFill : Method::Bilinear;
        fit.m_fit = isImage ? fillFitOfImage(height, width, bucketHeight, bucketWidth) : fillFitOfVideo(height, width, bucketHeight, bucketWidth);
        break;
    case Transform::Center:
        if (bucketHeight != bucketWidth)
            return bad("transform_name center needs square buckets, and this one is " + sizeText(bucketHeight, bucketWidth));
        fit.m_method = isImage ? Method::PilCenter : Method::Bilinear;
        if (!isImage)
            fit.m_fit = centerFitOfVideo(height, width, bucketHeight);
        break;
    case Transform::RandSizeCrop:
        fit.m_fit = randomWindow(height, width, std::min(bucketHeight, bucketWidth), std::max(bucketHeight, bucketWidth), draws);
        fit.m_outHeight = fit.m_fit.height;
        fit.m_outWidth = fit.m_fit.width;
        if (fit.m_outHeight == 0 || fit.m_outWidth == 0)
            return bad("its pictures are " + sizeText(height, width) + ", less than 8 pixels on a side");
        break;
    case Transform::None:
        if (height != bucketHeight || width != bucketWidth)
            return bad("its pictures are " + sizeText(height, width) + ", the bucket needs " + sizeText(bucketHeight, bucketWidth) + ", and transform_name is None");
        break;
    }
    const bool covers = fit.m_method != Method::Bilinear && fit.m_method != Method::PilFill;
    if (!covers && (fit.m_fit.top + bucketHeight > fit.m_fit.height || fit.m_fit.left + bucketWidth > fit.m_fit.width))
        return bad("its pictures of " + sizeText(height, width) + " cannot be fitted to " + sizeText(bucketHeight, bucketWidth));
    return fit;
}

void PictureFit::apply(const media::FrameView &frame, float *out, std::int64_t channelStride) const
{
    switch (m_method) {
    case Method::Bilinear: applyBilinear(frame, out, channelStride); break;
    case Method::PilFill:
    case Method::PilCenter: applyPil(frame, out, channelStride); break;
    case Method::Cut: cut(frame.pixels, frame.width, m_fit.top, m_fit.left, out, channelStride); break;
    }
}

void PictureFit::applyBilinear(const media::FrameView &frame, float *out, std::int64_t channelStride) const
{
    const auto rows = positions(frame.height, m_fit.height, m_fit.top, m_outHeight);
    const auto columns = positions(frame.width, m_fit.width, m_fit.left, m_outWidth);
    const auto &values = unitTable();
    const std::size_t line = static_cast<std::size_t>(frame.width) * 3;
    for (int y = 0; y < m_outHeight; ++y) {
        const Between row = rows[static_cast<std::size_t>(y)];
        const std::uint8_t *upper = frame.pixels + static_cast<std::size_t>(row.first) * line;
        const std::uint8_t *lower = frame.pixels + static_cast<std::size_t>(row.second) * line;
        for (int x = 0; x < m_outWidth; ++x) {
            const Between column = columns[static_cast<std::size_t>(x)];
            const int left = column.first * 3, right = column.second * 3;
            for (int c = 0; c < 3; ++c) {
                const float top = (1 - column.weight) * values[upper[left + c]] + column.weight * values[upper[right + c]];
                const float bottom = (1 - column.weight) * values[lower[left + c]] + column.weight * values[lower[right + c]];
                out[c * channelStride + static_cast<std::int64_t>(y) * m_outWidth + x] = normalised((1 - row.weight) * top + row.weight * bottom);
            }
        }
    }
}

void PictureFit::applyPil(const media::FrameView &frame, float *out, std::int64_t channelStride) const
{
    Picture picture{frame.height, frame.width,
                    std::vector<std::uint8_t>(frame.pixels, frame.pixels + static_cast<std::size_t>(frame.height) * static_cast<std::size_t>(frame.width) * 3)};
    if (m_method == Method::PilFill) {
        picture = pilResize(picture.pixels, picture.height, picture.width, m_fit.height, m_fit.width, PilFilter::Bicubic);
        cut(picture.pixels.data(), picture.width, m_fit.top, m_fit.left, out, channelStride);
        return;
    }
    // Halved while that leaves enough, then scaled to the size: the original's center crop of images, which it has from guided-diffusion.
    while (std::min(picture.height, picture.width) >= 2 * m_outHeight)
        picture = pilResize(picture.pixels, picture.height, picture.width, picture.height / 2, picture.width / 2, PilFilter::Box);
    const double scale = static_cast<double>(m_outHeight) / std::min(picture.height, picture.width);
    picture = pilResize(picture.pixels, picture.height, picture.width, rounded(picture.height * scale), rounded(picture.width * scale), PilFilter::Bicubic);
    cut(picture.pixels.data(), picture.width, (picture.height - m_outHeight) / 2, (picture.width - m_outWidth) / 2, out, channelStride);
}

void PictureFit::cut(const std::uint8_t *pixels, int width, int top, int left, float *out, std::int64_t channelStride) const
{
    const auto &values = unitTable();
    for (int y = 0; y < m_outHeight; ++y) {
        const std::uint8_t *row = pixels + (static_cast<std::size_t>(top + y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(left)) * 3;
        for (int x = 0; x < m_outWidth; ++x) {
            for (int c = 0; c < 3; ++c)
                out[c * channelStride + static_cast<std::int64_t>(y) * m_outWidth + x] = normalised(values[row[x * 3 + c]]);
        }
    }
}

} // namespace stagewright::data
