// Tells a ledger what the caching allocator does.
#pragma once

#include "core/memory/device_module.h"

namespace stagewright::cuda {

// From now on; the callbacks must stay for the process's life. Throws c10::Error.
void attachLedger(int device, const memory::LedgerCallbacks *callbacks);

} // namespace stagewright::cuda
