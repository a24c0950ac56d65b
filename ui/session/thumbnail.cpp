#include "ui/session/thumbnail.h"

#include <array>

#include "core/media/clip.h"

namespace stagewright::session {

Result<QImage> thumbnail(const std::filesystem::path &file, std::int64_t frame, int side, const std::atomic<bool> *stop)
{
    constexpr std::chrono::seconds kDeadline{10};
    media::Limits limits = media::Limits::within(kDeadline);
    limits.stop = stop;
    QImage picture;
    const std::array<std::int64_t, 1> wanted{frame};
    const auto decoded = media::decodeFrames(file, wanted, [&](const media::FrameView &view) {
        const QImage whole(view.pixels, view.width, view.height, view.width * 3, QImage::Format_RGB888);
        picture = whole.scaled(side, side, Qt::KeepAspectRatio, Qt::SmoothTransformation);
        return false;
    }, limits);
    if (!decoded)
        return decoded.error();
    if (picture.isNull())
        return Error(ExitCode::Data, "data.truncated", file.string() + ": has no frames");
    return picture;
}

} // namespace stagewright::session
