// One clip, from its row to the floats of its place in a batch.
#pragma once

#include <functional>
#include <string>

#include "core/base/result.h"
#include "core/data/source.h"
#include "core/data/transform.h"
#include "core/table/buckets.h"

namespace stagewright::data {

// What a sample must become.
struct SampleShape {
    std::int64_t frames = 1;
    int height = 0, width = 0;
};

// Where the pixels go: asked once the size is known; [3, frames, height, width] float32, contiguous. Null where that size has no place.
using SampleTarget = std::function<float *(int height, int width)>;

// Decodes, chooses frames, transforms. The error's sentence starts with the path and says what is wrong with the file; code data.stopped where stop was set.
// draws: one for the place in time, one before it where randSampleInterval is set, then those of the transform. Any thread.
Status loadSample(const SourceOptions &options, std::int64_t row, const SampleShape &shape, Draws &draws, const SampleTarget &target, const media::Limits &limits);

// Seed of a sample's own draws: the same for the same place in the data order, whoever loads it, different for every place.
table::Pcg64 sampleGenerator(std::int64_t seed, std::int64_t epoch, std::int64_t accessIndex, std::int64_t sample, std::int64_t attempt);

} // namespace stagewright::data
