// FFmpeg's C types with owners, and its log kept quiet. Included by this folder's sources only.
#pragma once

#include <memory>
#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace stagewright::media {

struct CloseInput { void operator()(AVFormatContext *context) const { avformat_close_input(&context); } };
struct FreeCodec { void operator()(AVCodecContext *context) const { avcodec_free_context(&context); } };
struct FreeFrame { void operator()(AVFrame *frame) const { av_frame_free(&frame); } };
struct FreePacket { void operator()(AVPacket *packet) const { av_packet_free(&packet); } };
struct FreeScaler { void operator()(SwsContext *context) const { sws_freeContext(context); } };
using InputPtr = std::unique_ptr<AVFormatContext, CloseInput>;
using CodecPtr = std::unique_ptr<AVCodecContext, FreeCodec>;
using FramePtr = std::unique_ptr<AVFrame, FreeFrame>;
using PacketPtr = std::unique_ptr<AVPacket, FreePacket>;
using ScalerPtr = std::unique_ptr<SwsContext, FreeScaler>;

// Sends FFmpeg's messages of this process to nowhere, but keeps the last error of each thread. Any thread, any number of times.
void quietFfmpeg();
std::string takeLastComplaint();                       // of this thread, since the last call; empty where there was none

std::string ffmpegError(int code);                     // FFmpeg's words for a return value

} // namespace stagewright::media
