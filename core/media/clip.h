// Video and image files through FFmpeg's libraries: what a file holds, and exactly the frames that are asked for, as RGB.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace stagewright::media {

class DecodeBudget;

// When to give up on a file: at a moment, or when somebody else says so. Asked while FFmpeg waits for the disk and between frames.
struct Limits {
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    const std::atomic<bool> *stop = nullptr;           // may be null; must outlive the call
    DecodeBudget *budget = nullptr;                    // of the memory that decoding takes (decode_budget.h); may be null; must outlive the call
    static Limits within(std::chrono::milliseconds time) { return {std::chrono::steady_clock::now() + time, nullptr, nullptr}; }
};

struct ClipInfo {
    std::string container, codec, pixelFormat;         // FFmpeg's names
    bool isImage = false;                              // a single still picture
    int width = 0, height = 0;                         // as displayed: after rotation
    int rotation = 0;                                  // degrees clockwise that display asks for: 0, 90, 180, 270
    bool mirrored = false;                             // display asks for a left-right flip after the rotation
    int bitDepth = 8;                                  // of a component
    bool hasAlpha = false;                             // dropped when decoded
    std::string transfer;                              // FFmpeg's name of the colour transfer; empty: not said
    bool isHdr() const { return transfer == "smpte2084" || transfer == "arib-std-b67"; }
    double fps = 0;                                    // average; 0 for images
    double seconds = 0;                                // 0: unknown
    std::int64_t headerFrames = 0;                     // what the container claims; 0: nothing
    std::int64_t frames = 0;                           // best knowledge: counted where asked for, else the index, the header, or duration times rate
    bool framesCounted = false;                        // frames is exact: the packets of the whole file were counted, or its index was read
    bool variableRate = false;                         // frames are not equally spaced (known only where counted)
};

// Exactly reads the whole file, without decoding it; IfNoClaim does so only where the container claims no number of frames.
enum class Count { IfCheap, IfNoClaim, Exactly };

// Errors have exit code Data; their sentence starts with the path. Codes: data.file-missing, data.file-folder, data.file-empty, data.not-media,
// data.no-index (cut off or never finished: the index is missing), data.no-video, data.truncated, data.unreadable, data.timeout, data.stopped.
Result<ClipInfo> probe(const std::filesystem::path &path, Count count = Count::IfCheap, const Limits &limits = {});

// One picture, as displayed, 8-bit RGB, row after row without padding. Valid only during the call that hands it over.
struct FrameView {
    const std::uint8_t *pixels = nullptr;              // height × width × 3
    int width = 0, height = 0;
    std::int64_t index = 0;                            // which frame of the file, in display order from 0
};

struct DecodeReport {
    int width = 0, height = 0;                         // of the frames that were handed over
    std::int64_t handedOver = 0;                       // how many of the wanted indices were there
    bool reachedEnd = false;                           // the file ended before the last wanted index
    std::int64_t trueFrames = 0;                       // frames in the file: exact where reachedEnd, else the largest index seen plus one
    std::string damage;                                // empty, or what the decoder complained about
};

// Hands over the frames with these indices (display order, ascending, repeats allowed) one by one. Only one decoded picture and its RGB form are in
// memory at a time, whatever the file's length. A file that ends early is not an error: see reachedEnd. sink returns false to end early.
// Colours: BT.601 matrix and the stream's range, as PyAV's default, whatever the stream's colour tags; alpha is dropped. One thread.
Result<DecodeReport> decodeFrames(const std::filesystem::path &path, std::span<const std::int64_t> indices,
                                  const std::function<bool(const FrameView &)> &sink, const Limits &limits = {});

// The same, but the indices are chosen once the file is open: choose is called once with what probe(path, IfNoClaim) tells.
// An error of choose is returned as it is.
using ChooseFrames = std::function<Result<std::vector<std::int64_t>>(const ClipInfo &)>;
Result<DecodeReport> decodeFrames(const std::filesystem::path &path, const ChooseFrames &choose,
                                  const std::function<bool(const FrameView &)> &sink, const Limits &limits = {});

// The same into memory.
struct DecodedClip {
    int width = 0, height = 0;
    std::vector<std::int64_t> indices;                 // those that were there
    std::vector<std::uint8_t> pixels;                  // indices.size() × height × width × 3
    DecodeReport report;
};
Result<DecodedClip> decode(const std::filesystem::path &path, std::span<const std::int64_t> indices, const Limits &limits = {});

bool isImageFile(const std::filesystem::path &path);   // by extension: .jpg .jpeg .png .ppm .bmp .pgm .tif .tiff .webp

} // namespace stagewright::media
