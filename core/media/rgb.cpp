#include "core/media/rgb.h"

#include <algorithm>
#include <array>

namespace stagewright::media {

namespace {

// Video as PyAV's default does it, which trained the original's models; stills with the care of an image library.
int scalerFlags(bool isImage)
{
    return isImage ? SWS_BILINEAR | SWS_FULL_CHR_H_INT | SWS_ACCURATE_RND : SWS_BILINEAR;
}

} // namespace

FrameView RgbConverter::convert(const AVFrame &frame, std::int64_t index)
{
    if (m_width == 0) {
        m_width = frame.width;
        m_height = frame.height;
        // Some of swscale's loops write a little beyond the last pixel.
        m_pixels.resize(static_cast<std::size_t>(m_width) * static_cast<std::size_t>(m_height) * 3 + 64);
    }
    if (!m_scaler || frame.width != m_sourceWidth || frame.height != m_sourceHeight || frame.format != m_sourceFormat) {
        m_sourceWidth = frame.width;
        m_sourceHeight = frame.height;
        m_sourceFormat = frame.format;
        m_scaler.reset(sws_getContext(frame.width, frame.height, static_cast<AVPixelFormat>(frame.format), m_width, m_height, AV_PIX_FMT_RGB24,
                                      scalerFlags(m_isImage), nullptr, nullptr, nullptr));
    }
    const std::array<std::uint8_t *, 4> planes{m_pixels.data(), nullptr, nullptr, nullptr};
    const std::array<int, 4> strides{m_width * 3, 0, 0, 0};
    if (!m_scaler || sws_scale(m_scaler.get(), frame.data, frame.linesize, 0, frame.height, planes.data(), strides.data()) <= 0)
        return {};
    if (m_rotation != 0)
        rotate();
    const bool turned = m_rotation % 180 != 0;
    const int width = turned ? m_height : m_width, height = turned ? m_width : m_height;
    std::uint8_t *pixels = m_rotation == 0 ? m_pixels.data() : m_rotated.data();
    if (m_mirrored)
        mirror(pixels, width, height);
    return {pixels, width, height, index};
}

void RgbConverter::mirror(std::uint8_t *pixels, int width, int height) const
{
    for (int y = 0; y < height; ++y) {
        std::uint8_t *row = pixels + static_cast<std::size_t>(y) * static_cast<std::size_t>(width) * 3;
        for (int left = 0, right = width - 1; left < right; ++left, --right)
            std::swap_ranges(row + left * 3, row + left * 3 + 3, row + right * 3);
    }
}

void RgbConverter::rotate()
{
    const std::size_t width = static_cast<std::size_t>(m_width), height = static_cast<std::size_t>(m_height);
    m_rotated.resize(width * height * 3);
    for (std::size_t y = 0; y < height; ++y) {
        for (std::size_t x = 0; x < width; ++x) {
            std::size_t to = 0;
            switch (m_rotation) {
            case 90: to = x * height + (height - 1 - y); break;
            case 180: to = (height - 1 - y) * width + (width - 1 - x); break;
            default: to = (width - 1 - x) * height + y; break;
            }
            const std::uint8_t *from = &m_pixels[(y * width + x) * 3];
            std::copy(from, from + 3, &m_rotated[to * 3]);
        }
    }
}

} // namespace stagewright::media
