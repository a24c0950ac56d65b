// The first picture of a clip or image, small: for lists of rows.
#pragma once

#include <QImage>
#include <atomic>
#include <filesystem>

#include "core/base/result.h"

namespace stagewright::session {

// At most `side` pixels in either direction, shape kept; gives up after ten seconds. Never call it on the GUI thread.
Result<QImage> thumbnail(const std::filesystem::path &file, std::int64_t frame, int side, const std::atomic<bool> *stop = nullptr);

} // namespace stagewright::session
