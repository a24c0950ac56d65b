// Which frames of a clip train: a window at a drawn place, thinned out evenly. As Open-Sora 2.0's temporal_random_crop.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "core/table/random.h"

namespace stagewright::data {

// Whole-number draws, from our own generator (one a sample) or from Python's as the original's loader processes use it.
class Draws
{
public:
    explicit Draws(table::Pcg64 generator) : m_generator(std::move(generator)) {}
    explicit Draws(table::PythonRandom *shared) : m_generator(shared) {}
    std::int64_t between(std::int64_t low, std::int64_t high);         // both included

private:
    std::variant<table::Pcg64, table::PythonRandom *> m_generator;
};

// Indices of `frames` out of `total`, from a window of frames × stride at a drawn beginning (the last window is never drawn, as in the original), spaced
// as numpy.linspace truncated. Nothing where the window has fewer than `frames`.
std::optional<std::vector<std::int64_t>> chooseFrames(std::int64_t total, std::int64_t frames, std::int64_t stride, Draws &draws);

// All of a clip that is a little too short, evenly over `frames` places: some frames are there twice. Nothing where it has less than table::kStretchShare
// of them.
std::optional<std::vector<std::int64_t>> stretchFrames(std::int64_t total, std::int64_t frames);

} // namespace stagewright::data
