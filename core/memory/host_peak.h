// What an operator takes in host memory while it runs, by trying it.
#pragma once

#include <cstdint>
#include <functional>

namespace stagewright::memory {

// Bytes of Torch's CPU allocator that are in use at once because of `work`, at the most: what it allocates and frees. Other threads must not allocate meanwhile. The ledger
// does not see it.
std::int64_t hostPeakDuring(const std::function<void()> &work);

} // namespace stagewright::memory
