#include "core/ckptfile/torch_archive.h"

#include <algorithm>
#include <cstring>

#include "core/ckptfile/pickle_reader.h"

namespace stagewright::ckptfile {

namespace {

Error damaged(const std::string &file, const std::string &what)
{
    return Error(ExitCode::Checkpoint, "checkpoint.bad-archive", file + ": " + what, file);
}

bool isContiguous(const PickledTensor &tensor)
{
    std::int64_t stride = 1;
    for (std::size_t at = tensor.shape.size(); at-- > 0;) {
        if (tensor.shape[at] != 1 && tensor.strides[at] != stride)
            return false;
        stride *= tensor.shape[at];
    }
    return true;
}

// The storage's element under row-major index `index`.
std::int64_t elementAt(const PickledTensor &tensor, std::int64_t index)
{
    std::int64_t element = tensor.offset;
    for (std::size_t at = tensor.shape.size(); at-- > 0;) {
        element += index % tensor.shape[at] * tensor.strides[at];
        index /= tensor.shape[at];
    }
    return element;
}

// What a file that is no torch.save archive may be instead.
Error notAnArchive(const InputFile &input)
{
    const std::string file = input.path().string();
    const std::int64_t bytes = std::min<std::int64_t>(input.size(), 64);
    const auto head = input.textAt(0, bytes);
    if (head && head->size() > 4 && head->substr(0, 2) == "\x80\x02" && head->find("\x8a\x0a" "l\xfc\x9c" "F\xf9 j\xa8P\x19") != std::string::npos)
        return damaged(file, "this is the form that torch.save wrote before version 1.6; load it in Python and save it again");
    return damaged(file, "this is not a torch.save archive; if it is a safetensors file, give it that extension");
}

} // namespace

Result<std::shared_ptr<const TorchArchive>> TorchArchive::open(const std::filesystem::path &path)
{
    auto input = InputFile::open(path);
    if (!input)
        return input.error();
    std::uint32_t magic = 0;
    if ((*input)->size() >= 4) {
        if (Status read = (*input)->readAt(0, &magic, 4); !read)
            return read.error();
    }
    if ((*input)->size() >= 22 && magic != 0x04034b50)
        return notAnArchive(**input);
    auto zip = ZipReader::open(*input);
    if (!zip)
        return zip.error();
    auto archive = std::shared_ptr<TorchArchive>(new TorchArchive(std::move(*zip)));
    const std::string file = path.string();
    const ZipEntry *pickle = nullptr;
    std::string root;
    for (const ZipEntry &entry : archive->m_zip.entries()) {
        const std::size_t slash = entry.name.find('/');
        if (slash == std::string::npos)
            continue;
        const std::string_view inner = std::string_view(entry.name).substr(slash + 1);
        if (inner == "data.pkl") {
            pickle = &entry;
            root = entry.name.substr(0, slash);
        }
        if (inner == "constants.pkl" || inner.starts_with("code/"))
            return damaged(file, "this was written by C++ LibTorch or TorchScript, not by Python's torch.save; save the tensors as safetensors instead");
    }
    if (!pickle)
        return damaged(file, "the archive has no data.pkl; it was not written by torch.save");
    if (const ZipEntry *order = archive->m_zip.find(root + "/byteorder")) {
        auto text = archive->m_zip.read(*order);
        if (!text)
            return text.error();
        if (*text != "little")
            return damaged(file, "its numbers are stored \"" + *text + "\"-endian, only little-endian is read");
    }
    auto bytes = archive->m_zip.read(*pickle);
    if (!bytes)
        return bytes.error();
    auto value = readPickle(*bytes, file);
    if (!value)
        return value.error();
    archive->m_root = std::move(*value);
    const std::string prefix = root + "/data/";
    for (const ZipEntry &entry : archive->m_zip.entries()) {
        if (entry.name.starts_with(prefix))
            archive->m_storages[entry.name.substr(prefix.size())] = &entry;
    }
    if (Status storages = archive->checkStorages(archive->m_root); !storages)
        return storages.error();
    return std::shared_ptr<const TorchArchive>(std::move(archive));
}

Status TorchArchive::checkStorages(const PickleValue &value) const
{
    if (value.kind == PickleValue::Kind::Tensor) {
        const PickledTensor &tensor = value.tensor;
        const auto found = m_storages.find(tensor.storage);
        if (found == m_storages.end())
            return damaged(input().path().string(), "the archive lacks data/" + tensor.storage + ", which a tensor needs");
        if (tensor.storageElements > found->second->bytes / bytesOf(tensor.dtype))
            return damaged(input().path().string(), "data/" + tensor.storage + " has " + std::to_string(found->second->bytes) + " bytes, "
                + std::to_string(tensor.storageElements) + " elements of " + std::string(nameOf(tensor.dtype)) + " need more");
    }
    for (const PickleValue &item : value.items) {
        if (Status status = checkStorages(item); !status)
            return status;
    }
    return Done{};
}

Status TorchArchive::read(const PickledTensor &tensor, std::int64_t offset, void *into, std::int64_t bytes) const
{
    const ZipEntry &storage = storageOf(tensor);
    const std::int64_t width = bytesOf(tensor.dtype);
    if (isContiguous(tensor))
        return input().readAt(storage.offset + tensor.offset * width + offset, into, bytes);
    auto all = input().textAt(storage.offset, tensor.storageElements * width);
    if (!all)
        return all.error();
    char *out = static_cast<char *>(into);
    for (std::int64_t byte = offset; byte < offset + bytes; ++byte)
        *out++ = (*all)[static_cast<std::size_t>(elementAt(tensor, byte / width) * width + byte % width)];
    return Done{};
}

Status TorchArchive::checkEverything() const
{
    for (const ZipEntry &entry : m_zip.entries()) {
        if (auto text = m_zip.read(entry); !text)
            return text.error();
    }
    return Done{};
}

} // namespace stagewright::ckptfile
