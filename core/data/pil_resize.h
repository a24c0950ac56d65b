// Resizing of 8-bit pictures bit for bit as Pillow does it (antialiased, two passes in fixed point), which Open-Sora uses for images.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace stagewright::data {

// The horizontal pass comes first, as in all versions up to 12; Pillow 13 turns that round for very tall images, which changes single levels of 255.
enum class PilFilter { Box, Bicubic };

struct Picture {
    int height = 0, width = 0;
    std::vector<std::uint8_t> pixels;                  // height × width × 3
};

// `pixels`: height × width × 3. The same size returns the same bytes.
Picture pilResize(std::span<const std::uint8_t> pixels, int height, int width, int toHeight, int toWidth, PilFilter filter);

} // namespace stagewright::data
