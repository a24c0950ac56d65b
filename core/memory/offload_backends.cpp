// Offload on the CPU (a real copy between two arenas, so that what is tested without a GPU is the same path) and on meta (figures only).
#include <cstring>

#include <ATen/Parallel.h>

#include "core/base/host.h"
#include "core/memory/device_module.h"
#include "core/memory/host_arena.h"
#include "core/memory/offload.h"

namespace stagewright::memory {

namespace {

void copyBytes(char *destination, const char *source, std::int64_t bytes)
{
    constexpr std::int64_t kGrain = 1 << 20;
    at::parallel_for(0, bytes, kGrain, [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(destination + begin, source + begin, static_cast<std::size_t>(end - begin));
    });
}

class Loaded : public PendingLoad
{
public:
    explicit Loaded(torch::Tensor tensor) : m_tensor(std::move(tensor)) {}
    torch::Tensor finish() override { return std::move(m_tensor); }

private:
    torch::Tensor m_tensor;
};

class CpuBackend : public OffloadBackend
{
public:
    explicit CpuBackend(std::int64_t capacityBytes) : m_arena(capacityBytes) {}
    std::string name() const override { return "cpu"; }

    void store(const torch::Tensor &tensor, const ArenaSlice &slice) override
    {
        const double began = steadySeconds();
        m_arena.touch(slice.offset + slice.bytes);
        copyBytes(m_arena.at(slice.offset), static_cast<const char *>(tensor.const_data_ptr()), slice.bytes);
        m_stall += steadySeconds() - began;
    }

    std::unique_ptr<PendingLoad> load(const ArenaSlice &slice) override
    {
        const double began = steadySeconds();
        torch::Tensor tensor = torch::empty(slice.sizes, torch::TensorOptions(slice.dtype).device(slice.device));
        copyBytes(static_cast<char *>(tensor.mutable_data_ptr()), m_arena.at(slice.offset), slice.bytes);
        m_stall += steadySeconds() - began;
        return std::make_unique<Loaded>(std::move(tensor));
    }

    int prefetchDepth() const override { return 0; }           // a copy ahead of need would only take memory earlier
    std::int64_t touchedBytes() const override { return m_arena.touched(); }
    std::int64_t pinnedBytes() const override { return 0; }
    double takeStallSeconds() override { return std::exchange(m_stall, 0.0); }
    std::string takeNote() override { return {}; }
    void synchronize() override {}

private:
    HostArena m_arena;
    double m_stall = 0;
};

class MetaBackend : public OffloadBackend
{
public:
    std::string name() const override { return "meta"; }
    void store(const torch::Tensor &, const ArenaSlice &slice) override { m_touched = std::max(m_touched, slice.offset + slice.bytes); }
    std::unique_ptr<PendingLoad> load(const ArenaSlice &slice) override
    {
        return std::make_unique<Loaded>(torch::empty(slice.sizes, torch::TensorOptions(slice.dtype).device(slice.device)));
    }
    int prefetchDepth() const override { return 0; }
    std::int64_t touchedBytes() const override { return m_touched; }
    std::int64_t pinnedBytes() const override { return 0; }
    double takeStallSeconds() override { return 0; }
    std::string takeNote() override { return {}; }
    void synchronize() override {}

private:
    std::int64_t m_touched = 0;
};

} // namespace

Result<std::unique_ptr<OffloadBackend>> makeOffloadBackend(torch::Device device, std::int64_t capacityBytes)
{
    if (capacityBytes <= 0)
        return Error(ExitCode::Usage, "memory.buffer-size", "an activation buffer needs a size above 0");
    if (device.is_meta())
        return std::unique_ptr<OffloadBackend>(std::make_unique<MetaBackend>());
    if (device.is_cpu()) {
        try {
            return std::unique_ptr<OffloadBackend>(std::make_unique<CpuBackend>(capacityBytes));
        } catch (const c10::Error &error) {
            return Error(ExitCode::OutOfMemory, "memory.buffer-size", error.what_without_backtrace());
        }
    }
    auto module = loadDeviceModule();
    if (!module)
        return module.error();
    OffloadBackend *backend = nullptr;
    if ((*module)->makeOffloadBackend(device.has_index() ? device.index() : 0, capacityBytes, &backend) != 0)
        return Error(ExitCode::OutOfMemory, "memory.buffer-size", (*module)->lastError());
    return std::unique_ptr<OffloadBackend>(backend);
}

} // namespace stagewright::memory
