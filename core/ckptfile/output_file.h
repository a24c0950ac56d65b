// A file being written in aligned blocks, past the kernel's cache where the file system allows; every result is looked at.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "core/base/result.h"
#include "core/ckptfile/file_system.h"

namespace stagewright::ckptfile {

inline constexpr std::int64_t kBlockBytes = 8 << 20;             // one write: 8 MiB reached the disk's full rate with O_DIRECT
inline constexpr std::int64_t kAlignment = 4096;                 // of offsets, lengths and memory under O_DIRECT

// write() may be called from several threads for different parts; finish() from one, after them.
class OutputFile
{
public:
    // Creates it; it must not exist. direct: tries O_DIRECT, and takes buffered writes where that is refused.
    static Result<std::unique_ptr<OutputFile>> create(FileSystem &files, const std::filesystem::path &path, bool direct);
    ~OutputFile();                           // closes without looking, for the case of a failure
    OutputFile(const OutputFile &) = delete;
    OutputFile &operator=(const OutputFile &) = delete;

    // Takes the disk's blocks for `bytes` bytes at once: writes that do not lengthen a file can be under way side by side (ext4, xfs), and a full disk shows
    // before the first of them. Nothing happens where a file system cannot.
    Status reserve(std::int64_t bytes);
    // Writes all `bytes` bytes at `offset`, over short writes and interruptions. For a direct file offset, memory and length are aligned (the
    // last block's length rounded up: finish() cuts the rest off).
    Status write(std::int64_t offset, const void *data, std::int64_t bytes);
    // Cuts to `size`, flushes to the disk, closes.
    Status finish(std::int64_t size);
    bool isDirect() const { return m_direct; }
    const std::filesystem::path &path() const { return m_path; }

private:
    OutputFile(FileSystem &files, std::filesystem::path path, int file, bool direct);
    FileSystem &m_files;
    std::filesystem::path m_path;
    int m_file;
    std::atomic<bool> m_direct;
};

inline std::int64_t alignedUp(std::int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

} // namespace stagewright::ckptfile
