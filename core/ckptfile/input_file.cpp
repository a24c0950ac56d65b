#include "core/ckptfile/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/base/files.h"
#include "core/ckptfile/output_file.h"

namespace stagewright::ckptfile {

namespace {

constexpr std::int64_t kDirectFrom = 256 << 10;      // smaller reads are better served by the kernel's read-ahead

} // namespace

InputFile::InputFile(std::filesystem::path path, int file, std::int64_t size) : m_path(std::move(path)), m_file(file), m_size(size) {}
InputFile::~InputFile()
{
    ::close(m_file);
    if (m_direct >= 0)
        ::close(m_direct);
}

Result<std::shared_ptr<const InputFile>> InputFile::open(const std::filesystem::path &path)
{
    // Not blocking: a FIFO with the name of a checkpoint file must not hang a browser.
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return ioError("open", path, errno);
    struct stat info {};
    if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
        ::close(file);
        return Error(ExitCode::InputOutput, "env.not-a-file", path.string() + " is not a regular file, one is needed", path.string());
    }
    return std::shared_ptr<const InputFile>(new InputFile(path, file, info.st_size));
}

Status InputFile::readAt(std::int64_t offset, void *into, std::int64_t bytes) const
{
    char *at = static_cast<char *>(into);
    if (bytes >= kDirectFrom) {
        const std::int64_t resident = readResident(offset, at, bytes);
        offset += resident;
        at += resident;
        bytes -= resident;
        if (bytes == 0 || readDirect(offset, at, bytes))
            return Done{};
    }
    return readCached(offset, at, bytes);
}

// What the kernel's cache holds of it already, up to the first page that it does not; waits for no disk. Returns the bytes.
std::int64_t InputFile::readResident(std::int64_t offset, char *into, std::int64_t bytes) const
{
    std::int64_t done = 0;
    while (done < bytes) {
        const iovec part{into + done, static_cast<std::size_t>(std::min<std::int64_t>(bytes - done, 1 << 30))};
        const ssize_t got = ::preadv2(m_file, &part, 1, offset + done, RWF_NOWAIT);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += got;
    }
    return done;
}

int InputFile::directFile() const
{
    std::call_once(m_directOpened, [this] { m_direct = ::open(m_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECT); });
    return m_direct;
}

bool InputFile::readDirect(std::int64_t offset, char *into, std::int64_t bytes) const
{
    const int file = directFile();
    // The name may mean another file by now.
    struct stat opened {}, direct {};
    if (file < 0 || ::fstat(m_file, &opened) != 0 || ::fstat(file, &direct) != 0 || opened.st_ino != direct.st_ino || opened.st_dev != direct.st_dev)
        return false;
    struct FreeAligned { void operator()(char *memory) const { std::free(memory); } };
    static thread_local const std::unique_ptr<char, FreeAligned> block(static_cast<char *>(std::aligned_alloc(kAlignment, kBlockBytes)));
    if (!block)
        return false;
    while (bytes > 0) {
        const std::int64_t from = offset / kAlignment * kAlignment, skip = offset - from;
        const ssize_t got = ::pread(file, block.get(), static_cast<std::size_t>(std::min(kBlockBytes, alignedUp(skip + bytes))), from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= skip)
            return false;
        const std::int64_t part = std::min<std::int64_t>(got - skip, bytes);
        std::memcpy(into, block.get() + skip, static_cast<std::size_t>(part));
        into += part;
        offset += part;
        bytes -= part;
    }
    return true;
}

Status InputFile::readCached(std::int64_t offset, char *at, std::int64_t bytes) const
{
    while (bytes > 0) {
        const ssize_t got = ::pread(m_file, at, static_cast<std::size_t>(std::min<std::int64_t>(bytes, 1 << 30)), offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ioError("read", m_path, errno);
        if (got == 0)
            return Error(ExitCode::Checkpoint, "checkpoint.truncated",
                         m_path.string() + " ends at byte " + std::to_string(offset) + ", " + std::to_string(bytes) + " bytes too early", m_path.string());
        at += got;
        offset += got;
        bytes -= got;
    }
    return Done{};
}

Result<std::string> InputFile::textAt(std::int64_t offset, std::int64_t bytes) const
{
    std::string text(static_cast<std::size_t>(bytes), '\0');
    if (Status read = readAt(offset, text.data(), bytes); !read)
        return read.error();
    return text;
}

void InputFile::forgetCached() const { ::posix_fadvise(m_file, 0, 0, POSIX_FADV_DONTNEED); }

} // namespace stagewright::ckptfile
