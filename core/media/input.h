// A media file that is open for reading: its picture stream, with failures told apart.
#pragma once

#include <filesystem>

#include "core/media/clip.h"
#include "core/media/ffmpeg.h"

namespace stagewright::media {

// Knows when to give up; FFmpeg asks it while it waits.
class Patience
{
public:
    explicit Patience(const Limits &limits) : m_limits(limits) {}
    bool isOver() const { return isStopped() || std::chrono::steady_clock::now() >= m_limits.deadline; }
    const Limits &limits() const { return m_limits; }
    bool isStopped() const { return m_limits.stop && m_limits.stop->load(std::memory_order_relaxed); }

private:
    Limits m_limits;
};

// Movable only before use by FFmpeg, so held by unique_ptr; one thread. Reads local files only, whatever a playlist says.
class Input
{
public:
    static Result<std::unique_ptr<Input>> open(const std::filesystem::path &path, const Limits &limits);

    AVFormatContext *context() const { return m_context.get(); }
    AVStream *stream() const { return m_stream; }
    const Patience &patience() const { return m_patience; }
    const std::filesystem::path &path() const { return m_path; }
    bool isImage() const { return m_isImage; }
    int rotation() const;                              // degrees clockwise for display, a multiple of 90
    bool isMirrored() const;                           // left and right change places after that

    // The next packet of the picture stream. False at the end of the file, or where reading fails (failure() is then not 0).
    bool read(AVPacket *packet);
    int failure() const { return m_failure; }
    Error error(const char *code, const std::string &what) const;      // data.timeout or data.stopped where patience is over
    Status rewind();

private:
    Input(std::filesystem::path path, const Limits &limits) : m_path(std::move(path)), m_patience(limits) {}
    Status openContainer();
    Status findStream();
    Error classify(int code) const;

    std::filesystem::path m_path;
    Patience m_patience;
    InputPtr m_context;
    AVStream *m_stream = nullptr;
    bool m_isImage = false;
    int m_failure = 0;
};

// A decoder for the input's stream, single-threaded.
Result<CodecPtr> openDecoder(const Input &input);

} // namespace stagewright::media
