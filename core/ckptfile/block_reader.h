// A file read once from its beginning to its end, in large blocks: for hashing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "core/base/result.h"

namespace stagewright::ckptfile {

enum class ReadThrough { Disk, Cache };

// Disk: past the kernel's cache (O_DIRECT), so that what is read is what the disk holds, for a fifth of the processor time (measured: 0.1 s a GB against 0.5 s). Where
// that is refused, cached pages are dropped first. Cache: also from the disk, but the kernel keeps what was read, for somebody who reads it again soon.
// One thread.
class BlockReader
{
public:
    static Result<std::unique_ptr<BlockReader>> open(const std::filesystem::path &path, ReadThrough through = ReadThrough::Disk);
    ~BlockReader();
    BlockReader(const BlockReader &) = delete;
    BlockReader &operator=(const BlockReader &) = delete;

    // The next bytes, valid until the next call; empty at the end of the file.
    Result<std::string_view> next();

private:
    struct FreeAligned { void operator()(char *memory) const; };
    BlockReader(std::filesystem::path path, int file, bool direct);
    std::filesystem::path m_path;
    int m_file;
    bool m_direct;
    std::int64_t m_offset = 0;
    std::unique_ptr<char, FreeAligned> m_block;
};

} // namespace stagewright::ckptfile
