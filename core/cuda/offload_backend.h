// Activation offload to page-locked memory on a stream of its own.
//
// Forward: the copy to the host waits for an event of the compute stream (the block's input is complete) and runs beside the block's own
// work; the caching allocator keeps the source until the copy is done. Backward: the copy back of the next block starts before the present one
// is computed again; the compute stream waits for its event only when the block needs it. All copies run on one side stream in order, so a
// slice is never overwritten before it was read, nor read before it was written.
#pragma once

#include "core/memory/offload_backend.h"

namespace stagewright::cuda {

// Throws c10::Error.
std::unique_ptr<memory::OffloadBackend> makeBackend(int device, std::int64_t capacityBytes);

} // namespace stagewright::cuda
