#include "core/ckptfile/python_text.h"
#include "core/ckptfile/safetensors.h"

namespace stagewright::ckptfile {

std::string safetensorsHeader(std::vector<TensorInfo> &tensors, const Metadata &extraMetadata)
{
    std::string json = "{\"__metadata__\": {\"format\": \"pt\"";
    for (const auto &[key, value] : extraMetadata)
        json += ", " + pythonJsonString(key) + ": " + pythonJsonString(value);
    json += "}";
    std::int64_t offset = 0;
    for (TensorInfo &tensor : tensors) {
        tensor.begin = offset;
        offset += tensor.elements() * bytesOf(tensor.dtype);
        tensor.end = offset;
        json += ", " + pythonJsonString(tensor.name) + ": {\"dtype\": \"" + std::string(nameOf(tensor.dtype)) + "\", \"shape\": " + shapeText(tensor.shape)
            + ", \"data_offsets\": [" + std::to_string(tensor.begin) + ", " + std::to_string(tensor.end) + "]}";
    }
    json += "}";
    json.append((8 - json.size() % 8) % 8, ' ');
    std::string out;
    for (int byte = 0; byte < 8; ++byte)
        out += static_cast<char>(json.size() >> (8 * byte) & 0xff);
    return out + json;
}

} // namespace stagewright::ckptfile
