// Torch's scalar types and the files' names for them.
#pragma once

#include <optional>

#include "core/torchpch/torch.h"

#include "core/ckptfile/dtype.h"

namespace stagewright::checkpoint {

std::optional<ckptfile::DType> fileType(at::ScalarType type);    // nothing for types that the format does not know
at::ScalarType torchType(ckptfile::DType dtype);

} // namespace stagewright::checkpoint
