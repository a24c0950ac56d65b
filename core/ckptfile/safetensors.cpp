#include "core/ckptfile/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "core/base/units.h"

namespace stagewright::ckptfile {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

std::int64_t TensorInfo::elements() const
{
    std::int64_t count = 1;
    for (const std::int64_t extent : shape)
        count *= extent;
    return count;
}

std::string shapeText(const std::vector<std::int64_t> &shape)
{
    std::string text = "[";
    for (std::size_t at = 0; at < shape.size(); ++at)
        text += (at > 0 ? ", " : "") + std::to_string(shape[at]);
    return text + "]";
}

namespace {

Error damaged(const std::string &file, const std::string &what, const char *code = "checkpoint.bad-safetensors")
{
    return Error(ExitCode::Checkpoint, code, file + ": " + what, file);
}

// Walks the header as it is parsed, so that a name that comes twice is seen (a JSON object would keep the last one silently).
class HeaderReader
{
public:
    SafetensorsHeader header;
    std::string failure;

    bool null() { return fail("a null where a value is needed"); }
    bool boolean(bool) { return fail("a boolean where a value is needed"); }
    bool number_integer(std::int64_t value) { return fail("the negative number " + std::to_string(value)); }
    bool number_unsigned(std::uint64_t value)
    {
        if (m_place != Place::Shape && m_place != Place::Offsets)
            return fail("a number in a wrong place");
        if (value > std::uint64_t(1) << 62)
            return fail("the number " + std::to_string(value) + ", which is too large");
        auto &numbers = m_place == Place::Shape ? m_tensor.shape : m_offsets;
        if (numbers.size() >= 64)
            return fail("more than 64 dimensions");
        numbers.push_back(static_cast<std::int64_t>(value));
        return true;
    }
    bool number_float(double, const std::string &text) { return fail("the number " + text + " where a whole number is needed"); }
    bool string(std::string &text)
    {
        if (m_place == Place::Metadata) {
            header.metadata.emplace_back(m_key, text);
            return true;
        }
        if (m_place != Place::Tensor || m_key != "dtype")
            return fail("a text in a wrong place");
        const auto dtype = dtypeOf(text);
        if (!dtype)
            return fail("the unknown type \"" + text + "\"");
        m_tensor.dtype = *dtype;
        return true;
    }
    bool binary(nlohmann::json::binary_t &) { return fail("binary data"); }
    bool start_object(std::size_t)
    {
        if (m_place == Place::Outside) {
            m_place = Place::Top;
            return true;
        }
        if (m_place != Place::Top)
            return fail("an object in a wrong place");
        m_place = m_topKey == "__metadata__" ? Place::Metadata : Place::Tensor;
        m_inner.clear();
        m_tensor = {};
        m_tensor.name = m_topKey;
        m_offsets.clear();
        return true;
    }
    bool key(std::string &text)
    {
        m_key = text;
        if (m_place == Place::Top) {
            m_topKey = text;
            if (m_names.insert(text).second)
                return true;
            return m_topKey == "__metadata__" ? fail("duplicate __metadata__") : failPlain("duplicate tensor name \"" + text + "\"; the file was written by a faulty program, make it again");
        }
        if (!m_inner.insert(text).second)
            return fail("the key \"" + text + "\" twice");
        if (m_place == Place::Tensor && text != "dtype" && text != "shape" && text != "data_offsets")
            return fail("the unknown key \"" + text + "\"");
        return true;
    }
    bool end_object()
    {
        if (m_place == Place::Top) {
            m_place = Place::Outside;
            return true;
        }
        if (m_place == Place::Tensor) {
            if (m_inner.size() != 3)
                return fail("not all of dtype, shape and data_offsets");
            if (m_offsets.size() != 2)
                return fail("data_offsets of " + std::to_string(m_offsets.size()) + " numbers instead of 2");
            m_tensor.begin = m_offsets[0];
            m_tensor.end = m_offsets[1];
            header.tensors.push_back(std::move(m_tensor));
        }
        m_place = Place::Top;
        return true;
    }
    bool start_array(std::size_t)
    {
        if (m_place != Place::Tensor || (m_key != "shape" && m_key != "data_offsets"))
            return fail("a list in a wrong place");
        m_place = m_key == "shape" ? Place::Shape : Place::Offsets;
        return true;
    }
    bool end_array()
    {
        m_place = Place::Tensor;
        return true;
    }
    bool parse_error(std::size_t position, const std::string &, const nlohmann::json::exception &)
    {
        return failPlain("the header is not valid JSON at byte " + std::to_string(position) + "; the file is damaged or not a safetensors file");
    }

private:
    enum class Place { Outside, Top, Metadata, Tensor, Shape, Offsets };

    bool failPlain(std::string sentence)
    {
        failure = std::move(sentence);
        return false;
    }
    bool fail(const std::string &what)
    {
        return failPlain((m_topKey.empty() ? std::string("the header") : "the header entry of \"" + m_topKey + "\"") + " has " + what);
    }

    Place m_place = Place::Outside;
    std::string m_topKey, m_key;
    std::unordered_set<std::string> m_names, m_inner;
    TensorInfo m_tensor;
    std::vector<std::int64_t> m_offsets;
};

// Shape and type against the byte range; products are checked for overflow.
std::string sizeFault(const TensorInfo &tensor)
{
    std::int64_t bytes = bytesOf(tensor.dtype);
    for (const std::int64_t extent : tensor.shape) {
        if (__builtin_mul_overflow(bytes, extent, &bytes))
            return "tensor \"" + tensor.name + "\" has the shape " + shapeText(tensor.shape) + ", which overflows";
    }
    if (tensor.end < tensor.begin)
        return "tensor \"" + tensor.name + "\" ends before it begins";
    if (tensor.bytes() != bytes)
        return "tensor \"" + tensor.name + "\" of type " + std::string(nameOf(tensor.dtype)) + " and shape " + shapeText(tensor.shape) + " needs "
            + std::to_string(bytes) + " bytes, but has " + std::to_string(tensor.bytes());
    return {};
}

// Every byte of the data belongs to exactly one tensor.
std::string coverageFault(const std::vector<TensorInfo> &tensors)
{
    std::vector<const TensorInfo *> order;
    order.reserve(tensors.size());
    for (const TensorInfo &tensor : tensors)
        order.push_back(&tensor);
    std::sort(order.begin(), order.end(), [](const TensorInfo *a, const TensorInfo *b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
    const TensorInfo *before = nullptr;
    std::int64_t at = 0;
    for (const TensorInfo *tensor : order) {
        if (tensor->begin < at)
            return "tensors \"" + before->name + "\" and \"" + tensor->name + "\" overlap at byte " + std::to_string(tensor->begin) + " of the data";
        if (tensor->begin > at)
            return "there is a hole of " + std::to_string(tensor->begin - at) + " bytes in front of tensor \"" + tensor->name + "\""
                + (before ? " after \"" + before->name + "\"" : std::string());
        at = tensor->end;
        before = tensor;
    }
    return {};
}

} // namespace

Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view text, std::int64_t fileBytes, const std::string &file)
{
    if (text.empty() || text.front() != '{')
        return damaged(file, "the header does not begin with {; this is not a safetensors file");
    HeaderReader reader;
    if (!nlohmann::json::sax_parse(text.begin(), text.end(), &reader)) {
        return damaged(file, reader.failure);
    }
    SafetensorsHeader header = std::move(reader.header);
    header.dataBegin = 8 + static_cast<std::int64_t>(text.size());
    for (const TensorInfo &tensor : header.tensors) {
        if (std::string fault = sizeFault(tensor); !fault.empty())
            return damaged(file, fault);
        header.dataBytes = std::max(header.dataBytes, tensor.end);
    }
    if (std::string fault = coverageFault(header.tensors); !fault.empty())
        return damaged(file, fault);
    const std::int64_t expected = header.dataBegin + header.dataBytes;
    if (fileBytes < expected)
        return damaged(file, "the file has " + std::to_string(fileBytes) + " bytes, its header promises " + std::to_string(expected)
                                 + "; it was cut short (an interrupted copy, download or save), make it again", "checkpoint.truncated");
    if (fileBytes > expected)
        return damaged(file, "the file has " + std::to_string(fileBytes) + " bytes, its header accounts for " + std::to_string(expected)
                                 + "; something was written over an older, longer file", "checkpoint.trailing-bytes");
    return header;
}

Result<std::shared_ptr<const SafetensorsFile>> SafetensorsFile::open(const std::filesystem::path &path)
{
    auto input = InputFile::open(path);
    if (!input)
        return input.error();
    const std::int64_t size = (*input)->size();
    if (size < 8)
        return damaged(path.string(), "the file has " + std::to_string(size) + " bytes, a safetensors file has at least 10; it was cut short or never written", "checkpoint.truncated");
    std::uint64_t length = 0;
    if (Status read = (*input)->readAt(0, &length, 8); !read)
        return read.error();
    if (length > static_cast<std::uint64_t>(size) - 8)
        return damaged(path.string(), "the header should have " + std::to_string(length) + " bytes, but the whole file has " + std::to_string(size)
                                          + "; it was cut short or is not a safetensors file", "checkpoint.truncated");
    if (length > static_cast<std::uint64_t>(kLargestHeader))
        return damaged(path.string(), "the header has " + formatBytes(static_cast<double>(length)) + ", more than the " + formatBytes(static_cast<double>(kLargestHeader)) + " that are read");
    auto text = (*input)->textAt(8, static_cast<std::int64_t>(length));
    if (!text)
        return text.error();
    auto header = parseSafetensorsHeader(*text, size, path.string());
    if (!header)
        return header.error();
    auto file = std::make_shared<SafetensorsFile>();
    file->m_header = std::move(*header);
    file->m_input = std::move(*input);
    return std::shared_ptr<const SafetensorsFile>(std::move(file));
}

Status SafetensorsFile::read(std::size_t index, std::int64_t offset, void *into, std::int64_t bytes) const
{
    return m_input->readAt(m_header.dataBegin + m_header.tensors[index].begin + offset, into, bytes);
}

} // namespace stagewright::ckptfile
