// The demo dataset: small clips made on the spot from FFmpeg's own synthetic sources, so that nobody needs a download to see training work.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "core/base/result.h"

namespace stagewright::media {

struct DemoFiles {
    std::filesystem::path table;                       // FOLDER/meta.csv
    std::vector<std::filesystem::path> files;          // everything that was written, the table last
};

// Makes 48 clips (several sizes, lengths, rates and containers), two images and one broken file under folder/clips, and folder/meta.csv with Open-Sora's
// columns. Captions name colours, patterns and motion that are in the pictures. Same bytes every time on one version of FFmpeg. A few seconds.
// The smaller side of every picture is at least 144 pixels. A folder that holds anything but an earlier demo is refused (InputOutput).
Result<DemoFiles> makeDemo(const std::filesystem::path &folder, const std::function<void(int done, int total)> &progress = {});

} // namespace stagewright::media
