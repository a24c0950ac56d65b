#include "core/ckptfile/block_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "core/base/files.h"
#include "core/ckptfile/output_file.h"

namespace stagewright::ckptfile {

void BlockReader::FreeAligned::operator()(char *memory) const { std::free(memory); }

BlockReader::BlockReader(std::filesystem::path path, int file, bool direct)
    : m_path(std::move(path)), m_file(file), m_direct(direct), m_block(static_cast<char *>(std::aligned_alloc(kAlignment, kBlockBytes)))
{
}

BlockReader::~BlockReader() { ::close(m_file); }

Result<std::unique_ptr<BlockReader>> BlockReader::open(const std::filesystem::path &path, ReadThrough through)
{
    // Not blocking: a FIFO with the name of a checkpoint file must not hang a browser.
    constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    bool direct = through == ReadThrough::Disk;
    int file = ::open(path.c_str(), direct ? kFlags | O_DIRECT : kFlags);
    if (file < 0 && errno == EINVAL && direct) {                 // tmpfs and some network file systems
        direct = false;
        file = ::open(path.c_str(), kFlags);
    }
    if (file < 0)
        return ioError("open", path, errno);
    std::unique_ptr<BlockReader> reader(new BlockReader(path, file, direct));
    struct stat info {};
    if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return Error(ExitCode::InputOutput, "env.not-a-file", path.string() + " is not a regular file, one is needed", path.string());
    if (!direct) {
        ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
        ::posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return reader;
}

Result<std::string_view> BlockReader::next()
{
    if (!m_block)
        return Error(ExitCode::OutOfMemory, "memory.host", "there is no memory for a block of 8 MiB to read " + m_path.string(), m_path.string());
    std::int64_t filled = 0;
    while (filled < kBlockBytes) {
        const ssize_t got = ::pread(m_file, m_block.get() + filled, static_cast<std::size_t>(kBlockBytes - filled), m_offset + filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EINVAL && m_direct) {            // a file system that takes the flag but not these reads
            m_direct = false;
            ::fcntl(m_file, F_SETFL, ::fcntl(m_file, F_GETFL) & ~O_DIRECT);
            continue;
        }
        if (got < 0)
            return ioError("read", m_path, errno);
        filled += got;
        if (got == 0 || (m_direct && got % kAlignment != 0))     // the end; a direct read stops short of a block only there
            break;
    }
    m_offset += filled;
    return std::string_view(m_block.get(), static_cast<std::size_t>(filled));
}

} // namespace stagewright::ckptfile
