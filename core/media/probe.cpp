#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/media/describe.h"
#include "core/media/packet_index.h"

namespace stagewright::media {

namespace {

double secondsOf(const Input &input)
{
    const AVStream *stream = input.stream();
    if (stream->duration != AV_NOPTS_VALUE && stream->duration > 0)
        return static_cast<double>(stream->duration) * av_q2d(stream->time_base);
    const std::int64_t whole = input.context()->duration;
    return whole != AV_NOPTS_VALUE && whole > 0 ? static_cast<double>(whole) / AV_TIME_BASE : 0;
}

double rateOf(const AVStream *stream)
{
    for (const AVRational rate : {stream->avg_frame_rate, stream->r_frame_rate}) {
        if (rate.num > 0 && rate.den > 0)
            return av_q2d(rate);
    }
    return 0;
}

// MP4 and MOV list every frame in their header; other containers' index entries are only places to seek to.
bool hasCompleteIndex(const Input &input)
{
    return std::string_view(input.context()->iformat->name).find("mp4") != std::string_view::npos;
}

} // namespace

Result<ClipInfo> describe(Input &input, Count count)
{
    const AVStream *stream = input.stream();
    ClipInfo info;
    info.container = input.context()->iformat->name;
    info.codec = avcodec_get_name(stream->codecpar->codec_id);
    const char *format = av_get_pix_fmt_name(static_cast<AVPixelFormat>(stream->codecpar->format));
    info.pixelFormat = format ? format : "unknown";
    if (const AVPixFmtDescriptor *pixels = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(stream->codecpar->format))) {
        info.bitDepth = pixels->comp[0].depth;
        info.hasAlpha = (pixels->flags & AV_PIX_FMT_FLAG_ALPHA) != 0;
    }
    if (stream->codecpar->color_trc != AVCOL_TRC_UNSPECIFIED) {
        const char *transfer = av_color_transfer_name(stream->codecpar->color_trc);
        info.transfer = transfer ? transfer : "";
    }
    info.isImage = input.isImage();
    info.mirrored = input.isMirrored();
    info.rotation = input.rotation();
    const bool turned = info.rotation % 180 != 0;
    info.width = turned ? stream->codecpar->height : stream->codecpar->width;
    info.height = turned ? stream->codecpar->width : stream->codecpar->height;
    if (info.isImage) {
        info.frames = 1;
        info.framesCounted = true;
        return info;
    }
    info.fps = rateOf(stream);
    info.seconds = secondsOf(input);
    info.headerFrames = std::max<std::int64_t>(stream->nb_frames, 0);
    const int entries = hasCompleteIndex(input) ? avformat_index_get_entries_count(stream) : 0;
    const bool claimed = entries > 0 || info.headerFrames > 0;
    if (count == Count::Exactly || (count == Count::IfNoClaim && !claimed)) {
        const auto index = scanPackets(input);
        if (!index)
            return index.error();
        info.frames = static_cast<std::int64_t>(index->frames.size());
        info.framesCounted = true;
        info.variableRate = index->variableRate();
    } else if (entries > 0) {
        info.frames = info.headerFrames > 0 ? std::min<std::int64_t>(entries, info.headerFrames) : entries;
    } else {
        info.frames = info.headerFrames > 0 ? info.headerFrames : std::llround(info.seconds * info.fps);
    }
    return info;
}

Result<ClipInfo> probe(const std::filesystem::path &path, Count count, const Limits &limits)
{
    auto input = Input::open(path, limits);
    if (!input)
        return input.error();
    return describe(**input, count);
}

bool isImageFile(const std::filesystem::path &path)
{
    static constexpr std::array<std::string_view, 9> extensions{".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"};
    return std::find(extensions.begin(), extensions.end(), lowered(path.extension().string())) != extensions.end();
}

} // namespace stagewright::media
