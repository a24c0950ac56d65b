#include "core/cuda/ledger_tracker.h"

#include "core/torchpch/torch.h"

#include <c10/cuda/CUDACachingAllocator.h>

namespace stagewright::cuda {

// The allocator counts a block as free when it is asked to free it, even where another stream still uses it: so does the ledger.
void attachLedger(int device, const memory::LedgerCallbacks *callbacks)
{
    using Entry = c10::CachingDeviceAllocator::TraceEntry;
    at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
    c10::cuda::CUDACachingAllocator::attachAllocatorTraceTracker([device, callbacks](const Entry &entry) {
        if (entry.device_ != device)
            return;
        const auto *address = reinterpret_cast<const void *>(entry.addr_);
        const auto size = static_cast<std::int64_t>(entry.size_);
        switch (entry.action_) {
        case Entry::ALLOC: callbacks->allocated(callbacks->context, address, size); break;
        case Entry::FREE_REQUESTED: callbacks->released(callbacks->context, address); break;
        case Entry::SEGMENT_ALLOC:
        case Entry::SEGMENT_MAP: callbacks->reserved(callbacks->context, size); break;
        case Entry::SEGMENT_FREE:
        case Entry::SEGMENT_UNMAP: callbacks->reserved(callbacks->context, -size); break;
        default: break;
        }
    });
}

} // namespace stagewright::cuda
