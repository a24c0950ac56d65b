#include "core/media/input.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>

#include "core/base/text.h"

namespace stagewright::media {

namespace fs = std::filesystem;

namespace {

// A damaged header can claim any size; beyond this a picture is refused instead of reserving memory for it.
constexpr std::int64_t kMostPixels = std::int64_t(1) << 27;

int askPatience(void *patience) { return static_cast<const Patience *>(patience)->isOver(); }

// MP4 and MOV files start with the size and name of their first box.
bool looksLikeMp4(const fs::path &path)
{
    std::array<char, 12> start{};
    std::ifstream file(path, std::ios::binary);
    file.read(start.data(), start.size());
    const std::string_view box(start.data() + 4, 4);
    return file.gcount() >= 8 && (box == "ftyp" || box == "mdat" || box == "wide" || box == "free" || box == "moov");
}

} // namespace

Error Input::error(const char *code, const std::string &what) const
{
    const std::string name = m_path.string();
    if (m_patience.isStopped())
        return Error(ExitCode::Stopped, "data.stopped", name + ": reading was stopped", name);
    if (m_patience.isOver())
        return Error(ExitCode::Data, "data.timeout", name + ": took longer to read than allowed; check the disk, or shorten the clip", name);
    return Error(ExitCode::Data, code, name + ": " + what, name);
}

Result<std::unique_ptr<Input>> Input::open(const fs::path &path, const Limits &limits)
{
    quietFfmpeg();
    takeLastComplaint();
    std::unique_ptr<Input> input(new Input(path, limits));
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    if (!fs::exists(status))
        return input->error("data.file-missing", "there is no such file; correct the path in the table, or remove the row");
    if (fs::is_directory(status))
        return input->error("data.file-folder", "is a folder, not a media file");
    if (fs::is_regular_file(status) && fs::file_size(path, failed) == 0)
        return input->error("data.file-empty", "is empty (0 bytes); fetch or make it again");
    if (Status opened = input->openContainer(); !opened)
        return opened.error();
    if (Status found = input->findStream(); !found)
        return found.error();
    return input;
}

Status Input::openContainer()
{
    AVFormatContext *context = avformat_alloc_context();
    if (!context)
        return error("data.unreadable", "cannot be opened: out of memory");
    context->interrupt_callback = {askPatience, &m_patience};
    AVDictionary *options = nullptr;
    av_dict_set(&options, "protocol_whitelist", "file", 0);            // a playlist must not reach for the network
    av_dict_set(&options, "pattern_type", "none", 0);                  // '%' in an image's name is just a name
    const int code = avformat_open_input(&context, ("file:" + m_path.string()).c_str(), nullptr, &options);
    av_dict_free(&options);
    if (code < 0)                                                      // FFmpeg has freed the context
        return classify(code);
    m_context.reset(context);
    if (const int info = avformat_find_stream_info(context, nullptr); info < 0)
        return classify(info);
    return Done{};
}

Error Input::classify(int code) const
{
    const std::string complaint = takeLastComplaint();
    const std::string said = ffmpegError(code) + (complaint.empty() ? std::string() : "; " + complaint);
    if (code == AVERROR(EACCES))
        return error("data.unreadable", "may not be read: check its permissions");
    if (looksLikeMp4(m_path))
        return error("data.no-index", "has no index (moov): the file was cut off or never finished; fetch or make it again (" + said + ")");
    if (code == AVERROR_EOF)
        return error("data.truncated", "ends before its first picture; fetch or make it again");
    return error("data.not-media", "is not a media file that can be read (" + said + ")");
}

Status Input::findStream()
{
    for (unsigned i = 0; i < m_context->nb_streams; ++i) {
        AVStream *stream = m_context->streams[i];
        const bool picture = stream->codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !(stream->disposition & AV_DISPOSITION_ATTACHED_PIC);
        if (picture && !m_stream)
            m_stream = stream;
        else
            stream->discard = AVDISCARD_ALL;
    }
    if (!m_stream)
        return error("data.no-video", "has no video stream (sound or cover art only); remove the row");
    const std::string_view format = m_context->iformat->name;
    m_isImage = format == "image2" || format.ends_with("_pipe");
    if (m_stream->codecpar->width > 0 && m_stream->codecpar->height > 0)
        return Done{};
    if (m_isImage)
        return error("data.not-media", "is not an image, whatever its name says");
    return error("data.unreadable", "its pictures have no size: the stream is damaged or its codec is unknown");
}

namespace {

const std::int32_t *displayMatrix(const AVStream *stream)
{
    return reinterpret_cast<const std::int32_t *>(av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, nullptr));
}

} // namespace

bool Input::isMirrored() const
{
    const std::int32_t *matrix = displayMatrix(m_stream);
    return matrix && static_cast<double>(matrix[0]) * matrix[4] - static_cast<double>(matrix[1]) * matrix[3] < 0;
}

int Input::rotation() const
{
    const std::int32_t *matrix = displayMatrix(m_stream);
    if (!matrix)
        return 0;
    std::array<std::int32_t, 9> turned{};
    std::copy(matrix, matrix + 9, turned.begin());
    if (isMirrored()) {                                // without the flip: its first column is negated
        for (const std::size_t i : {0, 3, 6})
            turned[i] = -turned[i];
    }
    const double degrees = -av_display_rotation_get(turned.data());    // FFmpeg counts counter-clockwise
    if (std::isnan(degrees))
        return 0;
    const int turns = static_cast<int>(std::lround(degrees / 90.0)) % 4;
    return (turns < 0 ? turns + 4 : turns) * 90;
}

bool Input::read(AVPacket *packet)
{
    for (;;) {
        av_packet_unref(packet);
        const int code = m_patience.isOver() ? AVERROR_EXIT : av_read_frame(m_context.get(), packet);
        if (code < 0) {
            m_failure = code == AVERROR_EOF ? 0 : code;
            return false;
        }
        if (packet->stream_index == m_stream->index)
            return true;
    }
}

Status Input::rewind()
{
    m_failure = 0;
    const int code = avformat_seek_file(m_context.get(), m_stream->index, INT64_MIN, INT64_MIN, INT64_MAX, AVSEEK_FLAG_BACKWARD);
    if (code < 0)
        return error("data.unreadable", "cannot go back to its beginning: " + ffmpegError(code));
    return Done{};
}

Result<CodecPtr> openDecoder(const Input &input)
{
    const AVCodecParameters *parameters = input.stream()->codecpar;
    const AVCodec *codec = avcodec_find_decoder(parameters->codec_id);
    if (!codec) {
        return input.error("data.unreadable", std::string("no decoder for its codec (") + avcodec_get_name(parameters->codec_id)
                           + ") in this FFmpeg; convert the file");
    }
    CodecPtr decoder(avcodec_alloc_context3(codec));
    if (!decoder || avcodec_parameters_to_context(decoder.get(), parameters) < 0)
        return input.error("data.unreadable", "its decoder cannot be set up");
    decoder->max_pixels = kMostPixels;
    decoder->thread_count = 1;                         // clips are decoded in parallel with each other
    decoder->pkt_timebase = input.stream()->time_base;
    if (const int code = avcodec_open2(decoder.get(), codec, nullptr); code < 0)
        return input.error("data.unreadable", "its decoder cannot be opened: " + ffmpegError(code));
    return decoder;
}

} // namespace stagewright::media
