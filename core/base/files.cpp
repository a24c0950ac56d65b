#include "core/base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stagewright {

namespace fs = std::filesystem;

namespace {

const char *nextStep(int errorNumber)
{
    switch (errorNumber) {
    case ENOSPC:
    case EDQUOT: return "free some disk space";
    case EACCES:
    case EPERM: return "check the permissions";
    case EROFS: return "the file system is read-only; choose another folder";
    case ENOENT: return "check the path";
    case ENAMETOOLONG: return "choose a shorter path";
    case EMFILE:
    case ENFILE: return "too many files are open; raise the limit with ulimit -n";
    default: return "check the disk";
    }
}

// Owns a file descriptor.
class Descriptor
{
public:
    explicit Descriptor(int fd) : m_fd(fd) {}
    ~Descriptor() { if (m_fd >= 0) ::close(m_fd); }
    Descriptor(const Descriptor &) = delete;
    Descriptor &operator=(const Descriptor &) = delete;
    int get() const { return m_fd; }
    int release() { return std::exchange(m_fd, -1); }

private:
    int m_fd;
};

} // namespace

int writeAll(int fd, std::string_view content)
{
    while (!content.empty()) {
        const ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

Error ioError(const std::string &doing, const fs::path &path, int errorNumber)
{
    const char *code = errorNumber == ENOSPC || errorNumber == EDQUOT ? "env.disk-full"
        : errorNumber == ENOENT ? "env.missing-file" : errorNumber == EACCES || errorNumber == EPERM || errorNumber == EROFS ? "env.permission"
                                                                                                                            : "env.io";
    return Error(ExitCode::InputOutput, code,
                 "cannot " + doing + " " + path.string() + ": " + std::strerror(errorNumber) + "; " + nextStep(errorNumber), path.string());
}

Result<std::string> readFile(const fs::path &path, std::int64_t maxBytes)
{
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0)
        return ioError("open", path, errno);
    struct stat info {};
    if (::fstat(file.get(), &info) != 0)
        return ioError("read", path, errno);
    if (S_ISDIR(info.st_mode))
        return Error(ExitCode::InputOutput, "env.not-a-file", path.string() + " is a folder, a file is needed", path.string());
    std::string content;
    char buffer[65536];
    for (;;) {
        const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ioError("read", path, errno);
        if (got == 0)
            return content;
        content.append(buffer, static_cast<std::size_t>(got));
        if (static_cast<std::int64_t>(content.size()) > maxBytes)
            return Error(ExitCode::InputOutput, "env.file-too-large",
                         path.string() + " is larger than " + std::to_string(maxBytes) + " bytes, the most that is read of such a file", path.string());
    }
}

Status replaceFile(const fs::path &path, std::string_view content)
{
    const fs::path temporary = path.string() + ".tmp-" + std::to_string(::getpid());
    {
        Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
        if (file.get() < 0)
            return ioError("write", temporary, errno);
        int failed = writeAll(file.get(), content);
        if (failed == 0 && ::fsync(file.get()) != 0)
            failed = errno;
        if (::close(file.release()) != 0 && failed == 0)
            failed = errno;
        if (failed != 0) {
            ::unlink(temporary.c_str());
            return ioError("write", path, failed);
        }
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        const int failed = errno;
        ::unlink(temporary.c_str());
        return ioError("write", path, failed);
    }
    return flushFolder(path.parent_path().empty() ? fs::path(".") : path.parent_path());
}

Status ensureFolder(const fs::path &path)
{
    std::error_code failed;
    fs::create_directories(path, failed);
    if (failed && !fs::is_directory(path))
        return ioError("create the folder", path, failed.value());
    return Done{};
}

Status flushFolder(const fs::path &path)
{
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0)
        return ioError("open the folder", path, errno);
    // Some file systems refuse to flush a folder; then there is nothing more that a program could do.
    if (::fsync(folder.get()) != 0 && errno != EINVAL && errno != EROFS)
        return ioError("flush the folder", path, errno);
    return Done{};
}

Result<std::int64_t> freeDiskBytes(const fs::path &path)
{
    std::error_code ignored;
    fs::path existing = fs::absolute(path, ignored);
    while (!existing.empty() && !fs::exists(existing, ignored) && existing != existing.parent_path())
        existing = existing.parent_path();
    struct statvfs info {};
    if (::statvfs(existing.c_str(), &info) != 0)
        return ioError("ask the free space of", existing, errno);
    return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

} // namespace stagewright
