// Which pixel sizes a resolution name of a bucket table stands for, and how many tokens a clip of such a size becomes.
// Formulas: Open-Sora 2.0, its table of aspect ratios (opensora/datasets/aspect.py) and its packing of latents. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stagewright::config {

// "256px" (256 x 256 pixels), "480p" (480 * 480 / 9 * 16 pixels), with "_max" (only the aspect with most pixels) or "_ar16:9" (only that one).
struct Resolution {
    std::string name;                  // as written
    std::int64_t pixels = 0;           // nominal area
    bool maxOnly = false;              // "_max"
    std::string aspectOnly;            // "16:9" for "_ar16:9", else empty
};

// The sentence of the error lists the accepted forms and, where one is near, the spelling that was meant ("256P" -> "256p").
// Whether an aspect of "_ar" exists depends on the granularity: aspectTable() is then empty.
Result<Resolution> parseResolution(std::string_view name);
// The spelling that was probably meant ("256" -> "256px"), or empty.
std::string resolutionSuggestion(std::string_view name);

struct AspectSize {
    std::string name;                  // width:height, "16:9"
    int height = 0, width = 0;         // pixels
    bool operator==(const AspectSize &) const = default;
};

// The sizes of a resolution in the original's order (ties in the choice of an aspect go to the first). `granularity` is
// ae_spatial_compression (pixels, 16 or 32). `training`: sizes are moved to the nearest area and duplicates dropped.
// Empty where the name is no resolution or no size of it is at least one granule; ratios whose side would be 0 are left out.
std::vector<AspectSize> aspectTable(std::string_view resolutionName, int granularity, bool training = true);
std::vector<AspectSize> aspectTable(const Resolution &resolution, int granularity, bool training = true);

// How an autoencoder and the packing shrink a clip.
struct LatentGeometry {
    int timeRatio = 4;                 // frames per latent frame
    int spaceRatio = 8;                // pixels per latent pixel
    int patch = 2;                     // latent pixels per token side
    int channels = 16;                 // latent channels
};
inline int latentFrames(int frames, const LatentGeometry &g) { return (frames - 1) / g.timeRatio + 1; }
inline int latentSide(int pixels, const LatentGeometry &g) { return (pixels - 1) / g.spaceRatio + 1; }
inline int tokensPerLatentFrame(int height, int width, const LatentGeometry &g)
{
    return ((latentSide(height, g) + g.patch - 1) / g.patch) * ((latentSide(width, g) + g.patch - 1) / g.patch);
}
// Image tokens of one clip; `frames` at least 1.
inline std::int64_t imageTokens(int frames, int height, int width, const LatentGeometry &g)
{
    return static_cast<std::int64_t>(latentFrames(frames, g)) * tokensPerLatentFrame(height, width, g);
}

} // namespace stagewright::config
