#include "core/ckptfile/dtype.h"

#include <array>

namespace stagewright::ckptfile {

namespace {

struct Row {
    std::string_view name;
    std::int64_t bytes;
    bool floating;
};

constexpr std::array<Row, 15> kRows{{{"F64", 8, true}, {"F32", 4, true}, {"F16", 2, true}, {"BF16", 2, true}, {"I64", 8, false},
    {"I32", 4, false}, {"I16", 2, false}, {"I8", 1, false}, {"U64", 8, false}, {"U32", 4, false}, {"U16", 2, false}, {"U8", 1, false},
    {"BOOL", 1, false}, {"F8_E4M3", 1, true}, {"F8_E5M2", 1, true}}};

const Row &rowOf(DType dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

} // namespace

std::string_view nameOf(DType dtype) { return rowOf(dtype).name; }
std::int64_t bytesOf(DType dtype) { return rowOf(dtype).bytes; }
bool isFloating(DType dtype) { return rowOf(dtype).floating; }

std::optional<DType> dtypeOf(std::string_view name)
{
    for (std::size_t at = 0; at < kRows.size(); ++at) {
        if (kRows[at].name == name)
            return static_cast<DType>(at);
    }
    return std::nullopt;
}

} // namespace stagewright::ckptfile
