// What was thrown or returned, as one error that a person can act on.
#pragma once

#include <functional>

#include "core/base/result.h"
#include "core/events/record.h"

namespace stagewright::service {

// The boundary: calls, and turns every exception into an error. Memory that was refused has exit code OutOfMemory.
Result<events::Summary> guarded(const std::function<Result<events::Summary>()> &call);

// The exit code that a problem found by validation stands for, by its code's group.
ExitCode exitOf(const Problem &problem);

} // namespace stagewright::service
