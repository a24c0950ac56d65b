// What the optimizer takes for its own work on a device, where it goes through the whole model's parameters in slices.
#pragma once

#include "core/plan/compose.h"

namespace stagewright::plan {

// Bytes above what is in use when the update begins, for the whole model that `plan` stands for. 0 on the CPU, whose loops need none. Remembered
// for models that it has been asked about.
std::int64_t updateWorkspace(const Reduced &plan, const DryRun &run);

} // namespace stagewright::plan
