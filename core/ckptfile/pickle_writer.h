// Writes the few pickles that the layout asks for, opcode by opcode as Python's pickler does.
#pragma once

#include <cstdint>
#include <string>

#include "core/ckptfile/pickle_value.h"

namespace stagewright::ckptfile {

// Protocol 2 with memo numbers, as torch.save writes data.pkl. None, bool, int, float, str, list, tuple, dict; no tensors.
std::string pickle2(const PickleValue &value);

// Protocol 4 of one Python int: how the asynchronous optimizer files hold `step`.
std::string pickledInt4(std::int64_t value);

} // namespace stagewright::ckptfile
