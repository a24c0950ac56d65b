// Element types of tensors in files, by their safetensors names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stagewright::ckptfile {

enum class DType { F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8, Bool, F8E4M3, F8E5M2 };

std::string_view nameOf(DType dtype);                            // "BF16", "F8_E4M3"
std::optional<DType> dtypeOf(std::string_view name);
std::int64_t bytesOf(DType dtype);                               // of one element
bool isFloating(DType dtype);

} // namespace stagewright::ckptfile
