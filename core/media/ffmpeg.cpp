#include "core/media/ffmpeg.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>

#include "core/base/text.h"

extern "C" {
#include <libavutil/log.h>
}

namespace stagewright::media {

namespace {

thread_local std::string lastComplaint;

void keepErrors(void *source, int level, const char *format, va_list arguments)
{
    (void)source;
    if (level > AV_LOG_ERROR)
        return;
    std::array<char, 256> text{};
    std::vsnprintf(text.data(), text.size(), format, arguments);
    if (const auto line = trimmed(text.data()); !line.empty())
        lastComplaint = line;
}

} // namespace

void quietFfmpeg()
{
    static std::once_flag once;
    std::call_once(once, [] { av_log_set_callback(keepErrors); });
}

std::string takeLastComplaint()
{
    std::string text = std::move(lastComplaint);
    lastComplaint.clear();
    return text;
}

std::string ffmpegError(int code)
{
    std::array<char, AV_ERROR_MAX_STRING_SIZE> text{};
    av_strerror(code, text.data(), text.size());
    return text.data();
}

} // namespace stagewright::media
