// A file opened for reading at positions. Read calls rather than a memory map: a disk error or a file cut short while it is read is an
// error with a sentence here, where a map would end the process with SIGBUS.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/result.h"

namespace stagewright::ckptfile {

// Immutable after open(); readAt() may be called from several threads. Large reads go past the kernel's cache where the file system allows: several of them
// at once reach the disk's rate, and training's own memory is not pushed out for pages that nobody reads twice.
class InputFile
{
public:
    static Result<std::shared_ptr<const InputFile>> open(const std::filesystem::path &path);
    ~InputFile();
    InputFile(const InputFile &) = delete;
    InputFile &operator=(const InputFile &) = delete;

    const std::filesystem::path &path() const { return m_path; }
    std::int64_t size() const { return m_size; }                 // when it was opened
    // Exactly `bytes` bytes, looping over the 2 GiB that one call moves at most and over interruptions.
    Status readAt(std::int64_t offset, void *into, std::int64_t bytes) const;
    Result<std::string> textAt(std::int64_t offset, std::int64_t bytes) const;   // bytes must have been checked against size()
    void forgetCached() const;                                   // asks the kernel to drop its cached pages: the next read comes from the disk

private:
    InputFile(std::filesystem::path path, int file, std::int64_t size);
    Status readCached(std::int64_t offset, char *into, std::int64_t bytes) const;
    int directFile() const;                                      // -1 where it is refused
    // Whether all of it was read past the cache; false leaves it to readCached(), which also names what is wrong.
    std::int64_t readResident(std::int64_t offset, char *into, std::int64_t bytes) const;
    bool readDirect(std::int64_t offset, char *into, std::int64_t bytes) const;
    std::filesystem::path m_path;
    int m_file;
    std::int64_t m_size;
    mutable std::once_flag m_directOpened;
    mutable int m_direct = -1;
};

} // namespace stagewright::ckptfile
