#include "core/media/demo_clip.h"

#include "core/media/ffmpeg.h"

extern "C" {
#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
}

namespace stagewright::media {

namespace {

struct FreeGraph { void operator()(AVFilterGraph *graph) const { avfilter_graph_free(&graph); } };
struct FreeInOut { void operator()(AVFilterInOut *inOut) const { avfilter_inout_free(&inOut); } };
struct CloseOutput {
    void operator()(AVFormatContext *context) const
    {
        if (context->pb)
            avio_closep(&context->pb);
        avformat_free_context(context);
    }
};

struct Failure { std::string what; };                  // unwinds the writer; becomes an Error at its one catch

int must(int code, const char *doing)
{
    if (code < 0)
        throw Failure{std::string(doing) + ": " + ffmpegError(code) + [complaint = takeLastComplaint()] { return complaint.empty() ? complaint : "; " + complaint; }()};
    return code;
}

template <class T>
T *must(T *pointer, const char *doing)
{
    if (!pointer)
        throw Failure{std::string(doing) + " is not possible with this FFmpeg"};
    return pointer;
}

struct Encoding { AVCodecID codec; AVPixelFormat format; };
Encoding encodingOf(const std::filesystem::path &file)
{
    if (file.extension() == ".png")
        return {AV_CODEC_ID_PNG, AV_PIX_FMT_RGB24};
    if (file.extension() == ".jpg")
        return {AV_CODEC_ID_MJPEG, AV_PIX_FMT_YUVJ420P};
    return {AV_CODEC_ID_MPEG4, AV_PIX_FMT_YUV420P};
}

class SceneWriter
{
public:
    SceneWriter(const DemoScene &scene, const std::filesystem::path &file) : m_scene(scene), m_file(file), m_encoding(encodingOf(file)) {}

    void write()
    {
        openSource();
        openEncoder();
        openFile();
        FramePtr frame(must(av_frame_alloc(), "a frame"));
        for (int i = 0; i < m_scene.frames; ++i) {
            must(av_buffersink_get_frame(m_sink, frame.get()), "drawing a frame");
            frame->pts = i;
            frame->pict_type = AV_PICTURE_TYPE_NONE;
            encode(frame.get());
            av_frame_unref(frame.get());
        }
        encode(nullptr);
        must(av_write_trailer(m_output.get()), "finishing the file");
        must(avio_closep(&m_output->pb), "closing the file");
    }

private:
    void openSource()
    {
        m_graph.reset(must(avfilter_graph_alloc(), "a filter graph"));
        m_graph->nb_threads = 1;
        AVFilterContext *sink = nullptr;
        must(avfilter_graph_create_filter(&sink, avfilter_get_by_name("buffersink"), "out", nullptr, nullptr, m_graph.get()), "making a sink");
        AVFilterInOut *open = must(avfilter_inout_alloc(), "a filter graph");
        open->name = av_strdup("out");
        open->filter_ctx = sink;
        open->pad_idx = 0;
        open->next = nullptr;
        AVFilterInOut *outputs = nullptr;
        const std::string graph = m_scene.graph + ",format=" + av_get_pix_fmt_name(m_encoding.format) + "[out]";
        const int code = avfilter_graph_parse_ptr(m_graph.get(), graph.c_str(), &open, &outputs, nullptr);
        std::unique_ptr<AVFilterInOut, FreeInOut> freeOpen(open), freeOutputs(outputs);
        must(code, "reading the source graph");
        must(avfilter_graph_config(m_graph.get(), nullptr), "setting up the source graph");
        m_sink = sink;
    }

    void openEncoder()
    {
        const AVCodec *codec = must(avcodec_find_encoder(m_encoding.codec), "encoding");
        m_encoder.reset(must(avcodec_alloc_context3(codec), "encoding"));
        m_encoder->width = m_scene.width;
        m_encoder->height = m_scene.height;
        m_encoder->pix_fmt = m_encoding.format;
        m_encoder->time_base = {1, std::max(m_scene.rate, 1)};
        m_encoder->framerate = {std::max(m_scene.rate, 1), 1};
        m_encoder->gop_size = 12;
        m_encoder->thread_count = 1;
        m_encoder->flags |= AV_CODEC_FLAG_BITEXACT | AV_CODEC_FLAG_QSCALE;
        m_encoder->global_quality = 3 * FF_QP2LAMBDA;
        m_output.reset(must(outputFor(m_file), "choosing the container"));
        if (m_output->oformat->flags & AVFMT_GLOBALHEADER)
            m_encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
        must(avcodec_open2(m_encoder.get(), codec, nullptr), "opening the encoder");
    }

    static AVFormatContext *outputFor(const std::filesystem::path &file)
    {
        AVFormatContext *context = nullptr;
        const std::string extension = file.extension().string();
        const bool still = extension == ".png" || extension == ".jpg";
        avformat_alloc_output_context2(&context, nullptr, still ? "image2pipe" : nullptr, file.c_str());
        return context;
    }

    void openFile()
    {
        m_output->flags |= AVFMT_FLAG_BITEXACT;
        m_stream = must(avformat_new_stream(m_output.get(), nullptr), "a stream");
        must(avcodec_parameters_from_context(m_stream->codecpar, m_encoder.get()), "a stream");
        m_stream->time_base = m_encoder->time_base;
        m_stream->avg_frame_rate = m_encoder->framerate;
        must(avio_open(&m_output->pb, ("file:" + m_file.string()).c_str(), AVIO_FLAG_WRITE), "creating the file");
        must(avformat_write_header(m_output.get(), nullptr), "writing the header");
    }

    void encode(const AVFrame *frame)
    {
        must(avcodec_send_frame(m_encoder.get(), frame), "encoding a frame");
        PacketPtr packet(must(av_packet_alloc(), "a packet"));
        for (;;) {
            const int code = avcodec_receive_packet(m_encoder.get(), packet.get());
            if (code == AVERROR(EAGAIN) || code == AVERROR_EOF)
                return;
            must(code, "encoding a frame");
            packet->duration = packet->duration ? packet->duration : 1;
            av_packet_rescale_ts(packet.get(), m_encoder->time_base, m_stream->time_base);
            packet->stream_index = m_stream->index;
            must(av_interleaved_write_frame(m_output.get(), packet.get()), "writing a frame");
        }
    }

    const DemoScene &m_scene;
    const std::filesystem::path &m_file;
    Encoding m_encoding;
    std::unique_ptr<AVFilterGraph, FreeGraph> m_graph;
    AVFilterContext *m_sink = nullptr;                 // owned by the graph
    CodecPtr m_encoder;
    std::unique_ptr<AVFormatContext, CloseOutput> m_output;
    AVStream *m_stream = nullptr;                      // owned by the output
};

} // namespace

Status writeScene(const DemoScene &scene, const std::filesystem::path &file)
{
    quietFfmpeg();
    takeLastComplaint();
    try {
        SceneWriter(scene, file).write();
        return Done{};
    } catch (const Failure &failure) {
        const std::string name = file.string();
        return Error(ExitCode::InputOutput, "data.demo-failed", "cannot write " + name + ": " + failure.what + "; check the disk and the installed FFmpeg", name);
    }
}

} // namespace stagewright::media
