// The device module: libstagewright-cuda.so, which alone links CUDA, loaded at run time where there is a GPU. This is the whole
// interface between it and us: one C function that answers a table of functions.
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/memory/offload_backend.h"

namespace stagewright::memory {

inline constexpr std::int32_t kDeviceModuleVersion = 1;

struct DeviceModuleDevice {
    char name[256];
    std::int64_t totalBytes;
};

struct DeviceMemory {
    std::int64_t allocated, allocatedPeak;     // caching allocator: handed out
    std::int64_t reserved, reservedPeak;       // held from the driver
    std::int64_t inactiveSplit;                // reserved but unusable pieces: fragmentation
    std::int64_t driverFree, driverTotal;      // the device's own figures, all processes
};

// Called by the caching allocator, with its lock held: must not allocate on the device.
struct LedgerCallbacks {
    void *context;
    void (*allocated)(void *context, const void *address, std::int64_t bytes);
    void (*released)(void *context, const void *address);
    void (*reserved)(void *context, std::int64_t changeBytes);     // by how much what is held from the driver changed
};

// Every function returns 0, or -1 with a sentence in lastError() (valid until the thread's next call).
struct DeviceModule {
    std::int32_t version;                      // kDeviceModuleVersion of the module
    const char *(*lastError)();
    int (*deviceCount)(int *count);
    int (*describe)(int device, DeviceModuleDevice *description);
    int (*memory)(int device, DeviceMemory *figures);
    int (*resetPeak)(int device);
    int (*setLimit)(int device, std::int64_t bytes);               // 0: none; rounds to the allocator's fraction of total memory
    int (*attachLedger)(int device, const LedgerCallbacks *callbacks);
    int (*makeOffloadBackend)(int device, std::int64_t capacityBytes, OffloadBackend **backend);    // the caller deletes it
    int (*synchronize)(int device);
    int (*emptyCache)();
};

// The name of the module's one exported function.
inline constexpr const char *kDeviceModuleEntry = "stagewright_device_module";
using DeviceModuleEntry = const DeviceModule *(*)();

// Loads the module once; a second call answers the same. The error's sentence says why there is no GPU to use: no driver, no device, the
// module is not beside the program, another version. Looks in the program's folder, its ../lib and STAGEWRIGHT_DEVICE_MODULE.
Result<const DeviceModule *> loadDeviceModule();

} // namespace stagewright::memory
