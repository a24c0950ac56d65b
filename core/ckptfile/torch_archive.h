// torch.save files: the pickle inside the zip, and its tensors' bytes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/base/result.h"
#include "core/ckptfile/pickle_value.h"
#include "core/ckptfile/zip_reader.h"

namespace stagewright::ckptfile {

// Any thread after open().
class TorchArchive
{
public:
    // Either root folder name (the file's stem or "archive"). Errors say what else the file is: TorchScript or C++ archive, a form older
    // than torch 1.6, no archive at all.
    static Result<std::shared_ptr<const TorchArchive>> open(const std::filesystem::path &path);
    const PickleValue &root() const { return m_root; }
    const InputFile &input() const { return m_zip.input(); }
    // Bytes [offset, offset + bytes) of the tensor in row-major order, whatever its strides.
    Status read(const PickledTensor &tensor, std::int64_t offset, void *into, std::int64_t bytes) const;
    Status checkEverything() const;          // compares the checksum of every entry

private:
    TorchArchive(ZipReader zip) : m_zip(std::move(zip)) {}
    Status checkStorages(const PickleValue &value) const;
    const ZipEntry &storageOf(const PickledTensor &tensor) const { return *m_storages.at(tensor.storage); }
    ZipReader m_zip;
    PickleValue m_root;
    std::unordered_map<std::string, const ZipEntry *> m_storages;
};

// The bytes of a file that torch.load(weights_only=True) reads: plain values, no tensors. stem: of the file's name (the root folder's name).
std::string torchArchive(const PickleValue &value, const std::string &stem);

} // namespace stagewright::ckptfile
