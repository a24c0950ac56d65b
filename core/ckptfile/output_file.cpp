#include "core/ckptfile/output_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/files.h"

namespace stagewright::ckptfile {

OutputFile::OutputFile(FileSystem &files, std::filesystem::path path, int file, bool direct)
    : m_files(files), m_path(std::move(path)), m_file(file), m_direct(direct)
{
}

OutputFile::~OutputFile()
{
    if (m_file >= 0)
        m_files.closeFile(m_file);
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(FileSystem &files, const std::filesystem::path &path, bool direct)
{
    int file = files.createFile(path, direct);
    if (file < 0 && direct && errno == EINVAL) {                 // tmpfs and some network file systems
        direct = false;
        file = files.createFile(path, false);
    }
    if (file < 0)
        return ioError("create", path, errno);
    return std::unique_ptr<OutputFile>(new OutputFile(files, path, file, direct));
}

Status OutputFile::reserve(std::int64_t bytes)
{
    if (m_files.reserve(m_file, bytes) != 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
        return ioError("write", m_path, errno);
    return Done{};
}

Status OutputFile::write(std::int64_t offset, const void *data, std::int64_t bytes)
{
    const char *at = static_cast<const char *>(data);
    const std::int64_t end = offset + bytes;
    int fruitless = 0;
    while (offset < end) {
        // One call moves at most 0x7ffff000 bytes on Linux; blocks are far below.
        const ssize_t written = m_files.writeAt(m_file, at, static_cast<std::size_t>(std::min<std::int64_t>(end - offset, 1 << 30)), offset);
        if (written < 0 && errno == EINTR && ++fruitless < 1000)
            continue;
        if (written < 0 && errno == EINVAL && m_direct) {        // a file system that takes the flag but not these writes
            m_direct = false;
            if (m_files.setDirect(m_file, false) == 0)
                continue;
        }
        if (written < 0)
            return ioError("write", m_path, errno);
        if (written == 0 && ++fruitless >= 3)
            return ioError("write", m_path, ENOSPC);
        std::int64_t moved = written;
        if (m_direct && moved % kAlignment != 0 && offset + moved < end)
            moved -= moved % kAlignment;                         // go on from an aligned place; the part in between is written again
        if (m_direct && moved == 0 && written > 0 && ++fruitless >= 3) {
            m_direct = false;
            m_files.setDirect(m_file, false);
        }
        at += moved;
        offset += moved;
    }
    return Done{};
}

Status OutputFile::finish(std::int64_t size)
{
    int failed = 0;
    if (m_files.truncateFile(m_file, size) != 0)
        failed = errno;
    if (failed == 0) {
        int result = 0;
        for (int tries = 0; (result = m_files.flushFile(m_file)) != 0 && errno == EINTR && tries < 100; ++tries) {}
        failed = result != 0 ? errno : 0;
    }
    if (m_files.closeFile(std::exchange(m_file, -1)) != 0 && failed == 0 && errno != EINTR)
        failed = errno;
    if (failed != 0)
        return ioError("write", m_path, failed);
    return Done{};
}

} // namespace stagewright::ckptfile
