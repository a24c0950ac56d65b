#include "core/memory/random_state.h"

#include <ATen/CPUGeneratorImpl.h>
#include <cstring>

namespace stagewright::memory {

static at::Generator generatorOf(torch::Device device)
{
    return device.is_cpu() ? at::detail::getDefaultCPUGenerator() : at::globalContext().defaultGenerator(device);
}

static torch::Tensor stateOf(torch::Device device)
{
    at::Generator generator = generatorOf(device);
    std::lock_guard lock(generator.mutex());
    return generator.get_state();
}

static void setState(torch::Device device, const torch::Tensor &state)
{
    at::Generator generator = generatorOf(device);
    std::lock_guard lock(generator.mutex());
    generator.set_state(state);
}

static bool same(const torch::Tensor &a, const torch::Tensor &b)
{
    return a.nbytes() == b.nbytes() && std::memcmp(a.const_data_ptr(), b.const_data_ptr(), a.nbytes()) == 0;
}

RandomWatch::RandomWatch(torch::Device device)
{
    m_before.cpu = stateOf(torch::kCPU);
    if (!device.is_cpu() && !device.is_meta()) {
        m_device = device;
        m_before.device = stateOf(device);
    }
}

RandomState RandomWatch::used() const
{
    RandomState drawn;
    if (!same(m_before.cpu, stateOf(torch::kCPU)))
        drawn.cpu = m_before.cpu;
    if (m_device && !same(m_before.device, stateOf(*m_device)))
        drawn.device = m_before.device;
    return drawn;
}

RandomReplay::RandomReplay(const RandomState &state, torch::Device device) : m_device(device)
{
    if (state.cpu.defined()) {
        m_found.cpu = stateOf(torch::kCPU);
        setState(torch::kCPU, state.cpu);
    }
    if (state.device.defined()) {
        m_found.device = stateOf(device);
        setState(device, state.device);
    }
}

RandomReplay::~RandomReplay()
{
    if (m_found.cpu.defined())
        setState(torch::kCPU, m_found.cpu);
    if (m_found.device.defined())
        setState(m_device, m_found.device);
}

} // namespace stagewright::memory
