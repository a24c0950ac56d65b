// The state of the default random generators around a piece of work, so that it can be run again with the same draws.
#pragma once

#include <optional>

#include "core/torchpch/torch.h"

namespace stagewright::memory {

// Undefined tensors where the work drew nothing.
struct RandomState {
    torch::Tensor cpu, device;
    bool drewNothing() const { return !cpu.defined() && !device.defined(); }
};

// Remembers the generators of the CPU and of `device` when made; used() afterwards answers that state, as far as it was drawn from since.
class RandomWatch
{
public:
    explicit RandomWatch(torch::Device device);
    RandomState used() const;

private:
    std::optional<torch::Device> m_device;     // absent where it has no generator of its own
    RandomState m_before;
};

// Puts a remembered state in place while it lives, then the one found before.
class RandomReplay
{
public:
    RandomReplay(const RandomState &state, torch::Device device);
    ~RandomReplay();
    RandomReplay(const RandomReplay &) = delete;
    RandomReplay &operator=(const RandomReplay &) = delete;

private:
    torch::Device m_device;
    RandomState m_found;
};

} // namespace stagewright::memory
