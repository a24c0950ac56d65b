// The safetensors format: strict reading, and headers equal to those of the original's asynchronous writer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/dtype.h"
#include "core/ckptfile/input_file.h"

namespace stagewright::ckptfile {

struct TensorInfo {
    std::string name;
    DType dtype = DType::F32;
    std::vector<std::int64_t> shape;
    std::int64_t begin = 0, end = 0;         // byte offsets into the data, which starts after the header
    std::int64_t bytes() const { return end - begin; }
    std::int64_t elements() const;
};
std::string shapeText(const std::vector<std::int64_t> &shape);                       // "[16, 8]"

using Metadata = std::vector<std::pair<std::string, std::string>>;                   // in file order

struct SafetensorsHeader {
    Metadata metadata;
    std::vector<TensorInfo> tensors;         // in header order
    std::int64_t dataBegin = 0;              // 8 + header length
    std::int64_t dataBytes = 0;
};

inline constexpr std::int64_t kLargestHeader = 512ll << 20;

// header: the JSON text alone; fileBytes: size of the whole file. Errors (exit Checkpoint) name the tensor: duplicate names, unknown
// types, sizes that differ from shape and type, gaps, overlaps, data missing or left over.
Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view header, std::int64_t fileBytes, const std::string &file);

// Any thread after open().
class SafetensorsFile
{
public:
    static Result<std::shared_ptr<const SafetensorsFile>> open(const std::filesystem::path &path);
    const SafetensorsHeader &header() const { return m_header; }
    const InputFile &input() const { return *m_input; }
    std::string file() const { return m_input->path().string(); }
    // Bytes [offset, offset+bytes) of tensor `index`.
    Status read(std::size_t index, std::int64_t offset, void *into, std::int64_t bytes) const;

private:
    SafetensorsHeader m_header;
    std::shared_ptr<const InputFile> m_input;
};

// Length field and padded JSON as ColossalAI's asynchronous writer makes them: Python's json.dumps, __metadata__ ({"format": "pt"} first)
// before the tensors in the given order, spaces up to a multiple of 8. begin and end of the tensors are computed here, in order, no gaps.
std::string safetensorsHeader(std::vector<TensorInfo> &tensors, const Metadata &extraMetadata = {});

} // namespace stagewright::ckptfile
