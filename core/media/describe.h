// What an open file holds.
#pragma once

#include "core/media/input.h"

namespace stagewright::media {

// Leaves the input at its beginning.
Result<ClipInfo> describe(Input &input, Count count);

} // namespace stagewright::media
