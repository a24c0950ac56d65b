// The caption that a row trains with: its text, then frame rate and motion score as Open-Sora 2.0 words them (opensora/datasets/datasets.py).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/table/buckets.h"

namespace stagewright::table {

struct CaptionRules {
    double fpsMax = 16;                // as BucketRules; from 999 on no rate is said
    bool motionScore = false;          // dataset.vmaf
};

// "A dog. 15 FPS, 7 motion score." A missing or infinite score says nothing.
std::string captionOf(const Table &table, const CaptionRules &rules, std::int64_t row);
// With the rate that it is really shown at, and one of its captions.
std::string captionOf(const Table &table, const CaptionRules &rules, std::int64_t row, const std::optional<FrameRate> &rate, std::int64_t which);

// As Python prints a float: "15.0", "23.976", "1e+16".
std::string pythonFloat(double value);

} // namespace stagewright::table
