// From a decoded picture to the pixels that train: resized, cropped, in [-1,1]. The same arithmetic as Open-Sora 2.0's transforms
// (opensora/datasets/{utils,video_transforms}.py): videos bilinear without antialias in fp32, images as Pillow's bicubic in 8 bits.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "core/data/frame_choice.h"
#include "core/data/source.h"
#include "core/media/clip.h"

namespace stagewright::data {

// A picture is resized to (height, width), then a piece of the target's size is cut out at (top, left).
struct Fit {
    int height = 0, width = 0, top = 0, left = 0;
};
Fit fillFitOfVideo(int height, int width, int toHeight, int toWidth);
Fit fillFitOfImage(int height, int width, int toHeight, int toWidth);
double roundHalfEven(double value);                    // Python's round()

// Decides once a clip what to do with each of its pictures; then only computes. Const functions may run in parallel.
class PictureFit
{
public:
    // height × width: of the decoded pictures; draws are needed by RandSizeCrop only. The error is a reason for a bad sample, without the file's name.
    static Result<PictureFit> choose(Transform transform, bool isImage, int height, int width, int bucketHeight, int bucketWidth, Draws &draws);
    int outHeight() const { return m_outHeight; }
    int outWidth() const { return m_outWidth; }

    // Writes channel c's picture at out + c × channelStride, outHeight × outWidth floats in [-1,1].
    void apply(const media::FrameView &frame, float *out, std::int64_t channelStride) const;

private:
    void applyBilinear(const media::FrameView &frame, float *out, std::int64_t channelStride) const;
    void applyPil(const media::FrameView &frame, float *out, std::int64_t channelStride) const;
    void cut(const std::uint8_t *pixels, int width, int top, int left, float *out, std::int64_t channelStride) const;

    enum class Method { Bilinear, PilFill, PilCenter, Cut } m_method = Method::Cut;
    Fit m_fit;
    int m_outHeight = 0, m_outWidth = 0;
};

} // namespace stagewright::data
