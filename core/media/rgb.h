// A decoded picture as displayed 8-bit RGB.
#pragma once

#include <cstdint>
#include <vector>

#include "core/media/clip.h"
#include "core/media/ffmpeg.h"

namespace stagewright::media {

// Converts the pictures of one stream; all results have the first one's size. One thread.
class RgbConverter
{
public:
    RgbConverter(int rotation, bool mirrored, bool isImage) : m_rotation(rotation), m_mirrored(mirrored), m_isImage(isImage) {}
    // Valid until the next call; pixels is null where the picture cannot be converted.
    FrameView convert(const AVFrame &frame, std::int64_t index);

private:
    void rotate();

    void mirror(std::uint8_t *pixels, int width, int height) const;

    int m_rotation;
    bool m_mirrored;
    bool m_isImage;
    ScalerPtr m_scaler;
    int m_sourceWidth = 0, m_sourceHeight = 0, m_sourceFormat = -1;
    int m_width = 0, m_height = 0;                     // before rotation
    std::vector<std::uint8_t> m_pixels, m_rotated;
};

} // namespace stagewright::media
