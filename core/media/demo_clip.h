// Writes one scene of the demo as a media file.
#pragma once

#include <filesystem>

#include "core/base/result.h"
#include "core/media/demo_scenes.h"

namespace stagewright::media {

// The container and codec follow from the extension: .png, .jpg, or MPEG-4 part 2 in anything else, since every FFmpeg can write that.
// Bit-exact for one version of FFmpeg. Any thread.
Status writeScene(const DemoScene &scene, const std::filesystem::path &file);

} // namespace stagewright::media
