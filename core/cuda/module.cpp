// The module's table of functions (core/memory/device_module.h). No exception leaves it.
#include "core/memory/device_module.h"

#include <cstring>

#include "core/torchpch/torch.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include "core/cuda/ledger_tracker.h"
#include "core/cuda/offload_backend.h"

namespace stagewright::cuda {

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

thread_local std::string t_error;

template <class Work>
int guarded(const Work &work)
{
    try {
        work();
        return 0;
    } catch (const c10::Error &error) {
        t_error = error.what_without_backtrace();
    } catch (const std::exception &error) {
        t_error = error.what();
    }
    return -1;
}

const char *lastError() { return t_error.c_str(); }

int deviceCount(int *count)
{
    return guarded([&] {
        const cudaError_t error = cudaGetDeviceCount(count);
        if (error == cudaErrorNoDevice) {
            cudaGetLastError();
            *count = 0;
            return;
        }
        C10_CUDA_CHECK(error);
    });
}

int describe(int device, memory::DeviceModuleDevice *description)
{
    return guarded([&] {
        cudaDeviceProp properties{};
        C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
        std::strncpy(description->name, properties.name, sizeof description->name - 1);
        description->totalBytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    });
}

int memoryFigures(int device, memory::DeviceMemory *figures)
{
    return guarded([&] {
        at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
        c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
        const auto stats = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
        constexpr auto kAll = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
        figures->allocated = stats.allocated_bytes[kAll].current;
        figures->allocatedPeak = stats.allocated_bytes[kAll].peak;
        figures->reserved = stats.reserved_bytes[kAll].current;
        figures->reservedPeak = stats.reserved_bytes[kAll].peak;
        figures->inactiveSplit = stats.inactive_split_bytes[kAll].current;
        std::size_t free = 0, total = 0;
        C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
        figures->driverFree = static_cast<std::int64_t>(free);
        figures->driverTotal = static_cast<std::int64_t>(total);
    });
}

int resetPeak(int device)
{
    return guarded([&] {
        at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
        allocator::resetPeakStats(static_cast<c10::DeviceIndex>(device));
    });
}

int setLimit(int device, std::int64_t bytes)
{
    return guarded([&] {
        at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
        c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
        std::size_t free = 0, total = 0;
        C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
        allocator::setMemoryFraction(bytes > 0 ? std::min(1.0, static_cast<double>(bytes) / static_cast<double>(total)) : 1.0, static_cast<c10::DeviceIndex>(device));
    });
}

int attach(int device, const memory::LedgerCallbacks *callbacks)
{
    return guarded([&] { attachLedger(device, callbacks); });
}

int makeOffloadBackend(int device, std::int64_t capacityBytes, memory::OffloadBackend **backend)
{
    return guarded([&] {
        at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
        *backend = makeBackend(device, capacityBytes).release();
    });
}

int synchronize(int device)
{
    return guarded([&] {
        c10::cuda::CUDAGuard guard(static_cast<c10::DeviceIndex>(device));
        C10_CUDA_CHECK(cudaDeviceSynchronize());
    });
}

int emptyCache()
{
    return guarded([] { allocator::emptyCache(); });
}

constexpr memory::DeviceModule kModule{memory::kDeviceModuleVersion, lastError, deviceCount, describe,          memoryFigures, resetPeak,
                                       setLimit,                     attach,    makeOffloadBackend, synchronize, emptyCache};

} // namespace

} // namespace stagewright::cuda

extern "C" __attribute__((visibility("default"))) const stagewright::memory::DeviceModule *stagewright_device_module() { return &stagewright::cuda::kModule; }
