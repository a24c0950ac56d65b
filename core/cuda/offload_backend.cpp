#include "core/cuda/offload_backend.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "core/cuda/pinned_arena.h"

namespace stagewright::cuda {

namespace {

using memory::ArenaSlice;
using torch::Tensor;

class Event
{
public:
    explicit Event(bool timed) { C10_CUDA_CHECK(cudaEventCreateWithFlags(&m_event, timed ? cudaEventDefault : cudaEventDisableTiming)); }
    ~Event() { cudaEventDestroy(m_event); }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    void record(const c10::cuda::CUDAStream &stream) { C10_CUDA_CHECK(cudaEventRecord(m_event, stream.stream())); }
    void holdBack(const c10::cuda::CUDAStream &stream) const { C10_CUDA_CHECK(cudaStreamWaitEvent(stream.stream(), m_event, 0)); }
    cudaEvent_t get() const { return m_event; }

private:
    cudaEvent_t m_event = nullptr;
};

// Around a wait of the compute stream: how long it really waited is known once both events have passed.
struct Stall {
    Event before{true}, after{true};
};

class Backend : public memory::OffloadBackend
{
public:
    Backend(int device, std::int64_t capacityBytes)
        : m_device(static_cast<c10::DeviceIndex>(device)), m_arena(capacityBytes), m_side(c10::cuda::getStreamFromPool(true, m_device))
    {
    }
    ~Backend() override
    {
        cudaStreamSynchronize(m_side.stream());        // the arena must outlive its copies
    }

    std::string name() const override { return "cuda"; }

    void store(const Tensor &tensor, const ArenaSlice &slice) override
    {
        c10::cuda::CUDAGuard guard(m_device);
        m_arena.touch(slice.offset + slice.bytes);
        waitForCompute();
        const auto *source = static_cast<const char *>(tensor.const_data_ptr());
        m_arena.forEachPart(slice.offset, slice.bytes, [&](char *host, std::int64_t done, std::int64_t bytes) {
            C10_CUDA_CHECK(cudaMemcpyAsync(host, source + done, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, m_side.stream()));
        });
        c10::cuda::CUDACachingAllocator::recordStream(tensor.storage().data_ptr(), m_side);
    }

    std::unique_ptr<memory::PendingLoad> load(const ArenaSlice &slice) override
    {
        c10::cuda::CUDAGuard guard(m_device);
        Tensor target = torch::empty(slice.sizes, torch::TensorOptions(slice.dtype).device(slice.device));
        waitForCompute();                      // the memory may have been freed by work that still runs
        auto *destination = static_cast<char *>(target.mutable_data_ptr());
        m_arena.forEachPart(slice.offset, slice.bytes, [&](char *host, std::int64_t done, std::int64_t bytes) {
            C10_CUDA_CHECK(cudaMemcpyAsync(destination + done, host, static_cast<std::size_t>(bytes), cudaMemcpyHostToDevice, m_side.stream()));
        });
        c10::cuda::CUDACachingAllocator::recordStream(target.storage().data_ptr(), m_side);
        auto arrived = std::make_unique<Event>(false);
        arrived->record(m_side);
        return std::make_unique<Pending>(*this, std::move(target), std::move(arrived));
    }

    int prefetchDepth() const override { return 1; }
    std::int64_t touchedBytes() const override { return m_arena.touchedBytes(); }
    std::int64_t pinnedBytes() const override { return m_arena.pinnedBytes(); }
    std::string takeNote() override { return m_arena.takeNote(); }

    double takeStallSeconds() override
    {
        c10::cuda::CUDAGuard guard(m_device);
        double seconds = 0;
        for (const std::unique_ptr<Stall> &stall : m_stalls) {
            float milliseconds = 0;
            C10_CUDA_CHECK(cudaEventSynchronize(stall->after.get()));
            C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, stall->before.get(), stall->after.get()));
            seconds += milliseconds / 1000.0;
        }
        m_stalls.clear();
        return seconds;
    }

    void synchronize() override { C10_CUDA_CHECK(cudaStreamSynchronize(m_side.stream())); }

private:
    struct Pending : memory::PendingLoad {
        Pending(Backend &owner, Tensor target, std::unique_ptr<Event> event) : backend(owner), tensor(std::move(target)), arrived(std::move(event)) {}
        Backend &backend;
        Tensor tensor;
        std::unique_ptr<Event> arrived;

        Tensor finish() override
        {
            c10::cuda::CUDAGuard guard(backend.m_device);
            const auto compute = c10::cuda::getCurrentCUDAStream(backend.m_device);
            auto stall = std::make_unique<Stall>();
            stall->before.record(compute);
            arrived->holdBack(compute);
            stall->after.record(compute);
            backend.m_stalls.push_back(std::move(stall));
            return std::move(tensor);
        }
    };

    void waitForCompute()
    {
        Event ready(false);
        ready.record(c10::cuda::getCurrentCUDAStream(m_device));
        ready.holdBack(m_side);                // an event may be destroyed while it is waited for
    }

    c10::DeviceIndex m_device;
    PinnedArena m_arena;
    c10::cuda::CUDAStream m_side;
    std::vector<std::unique_ptr<Stall>> m_stalls;
};

} // namespace

std::unique_ptr<memory::OffloadBackend> makeBackend(int device, std::int64_t capacityBytes) { return std::make_unique<Backend>(device, capacityBytes); }

} // namespace stagewright::cuda
