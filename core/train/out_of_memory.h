// Memory that was refused, as an error that a person can act on.
#pragma once

#include <string>

#include <c10/util/Exception.h>

#include "core/base/result.h"

namespace stagewright::train {

// when: where training was, "in update 12, bucket 256px 17 frames 192x336, batch 2". Code memory.out-of-memory, exit OutOfMemory.
Error outOfMemory(const c10::OutOfMemoryError &error, const std::string &when);

} // namespace stagewright::train
