// Reads a pickle with a whitelist: opcodes and names that a state dict needs, and nothing else. No code of the file is ever run.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/ckptfile/pickle_value.h"

namespace stagewright::ckptfile {

inline constexpr std::size_t kMostPickleValues = 4'000'000;      // an optimizer file of the largest models has some 50 thousand; 64 bytes of text count as one

// Protocols 0 to 5. Understood names: collections.OrderedDict, torch._utils._rebuild_tensor_v2/_v3/_rebuild_parameter, torch.*Storage,
// torch dtypes, torch.Size, _codecs.encode. Any other name is an error that names it, and so is an opcode outside the list, nesting
// deeper than 200 and data that expands beyond the limit (shared parts are copied into the tree).
Result<PickleValue> readPickle(std::string_view bytes, const std::string &file);

} // namespace stagewright::ckptfile
