#include "core/checkpoint/tensor_type.h"

#include <array>

namespace stagewright::checkpoint {

using ckptfile::DType;

namespace {

constexpr std::array<std::pair<at::ScalarType, DType>, 15> kTypes{{{at::kDouble, DType::F64}, {at::kFloat, DType::F32}, {at::kHalf, DType::F16},
    {at::kBFloat16, DType::BF16}, {at::kLong, DType::I64}, {at::kInt, DType::I32}, {at::kShort, DType::I16}, {at::kChar, DType::I8},
    {at::ScalarType::UInt64, DType::U64}, {at::ScalarType::UInt32, DType::U32}, {at::ScalarType::UInt16, DType::U16}, {at::kByte, DType::U8},
    {at::kBool, DType::Bool}, {at::ScalarType::Float8_e4m3fn, DType::F8E4M3}, {at::ScalarType::Float8_e5m2, DType::F8E5M2}}};

} // namespace

std::optional<DType> fileType(at::ScalarType type)
{
    for (const auto &[torchSide, fileSide] : kTypes) {
        if (torchSide == type)
            return fileSide;
    }
    return std::nullopt;
}

at::ScalarType torchType(DType dtype)
{
    for (const auto &[torchSide, fileSide] : kTypes) {
        if (fileSide == dtype)
            return torchSide;
    }
    return at::ScalarType::Undefined;        // not reached: the table has every DType
}

} // namespace stagewright::checkpoint
