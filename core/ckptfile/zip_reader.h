// The zip form of torch.save: stored entries, also with the 64-bit extensions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ckptfile/input_file.h"

namespace stagewright::ckptfile {

struct ZipEntry {
    std::string name;
    std::int64_t offset = 0;                 // of the data in the file
    std::int64_t bytes = 0;
    std::uint32_t crc = 0;
};

class ZipReader
{
public:
    // Errors (exit Checkpoint): no end record (cut short), entries outside the file, compressed or encrypted entries (named).
    static Result<ZipReader> open(std::shared_ptr<const InputFile> file);
    const std::vector<ZipEntry> &entries() const { return m_entries; }
    const ZipEntry *find(std::string_view name) const;
    Result<std::string> read(const ZipEntry &entry) const;       // whole, checksum compared
    const InputFile &input() const { return *m_file; }

private:
    std::shared_ptr<const InputFile> m_file;
    std::vector<ZipEntry> m_entries;
};

} // namespace stagewright::ckptfile
