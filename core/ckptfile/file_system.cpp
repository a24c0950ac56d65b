#include "core/ckptfile/file_system.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "core/base/files.h"

namespace stagewright::ckptfile {

namespace fs = std::filesystem;

int FileSystem::createFile(const fs::path &path, bool direct)
{
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | (direct ? O_DIRECT : 0), 0644);
}

int FileSystem::setDirect(int file, bool direct)
{
    const int flags = ::fcntl(file, F_GETFL);
    return flags < 0 ? -1 : ::fcntl(file, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT);
}

ssize_t FileSystem::writeAt(int file, const void *data, std::size_t bytes, off_t offset) { return ::pwrite(file, data, bytes, offset); }
int FileSystem::reserve(int file, off_t bytes) { return ::fallocate(file, 0, 0, bytes); }
int FileSystem::truncateFile(int file, off_t bytes) { return ::ftruncate(file, bytes); }
int FileSystem::flushFile(int file) { return ::fsync(file); }
int FileSystem::closeFile(int file) { return ::close(file); }

int FileSystem::flushFolder(const fs::path &path)
{
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    const int result = ::fsync(folder);
    const int failed = errno;
    ::close(folder);
    errno = failed;
    return result != 0 && failed == EINVAL ? 0 : result;         // some file systems cannot flush a folder; nothing more could be done
}

int FileSystem::makeFolder(const fs::path &path) { return ::mkdir(path.c_str(), 0755); }
int FileSystem::renameFolder(const fs::path &from, const fs::path &to) { return ::rename(from.c_str(), to.c_str()); }

int FileSystem::exchangeFolders(const fs::path &a, const fs::path &b)
{
    return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE));
}

int FileSystem::removeTree(const fs::path &path)
{
    std::error_code failed;
    fs::remove_all(path, failed);
    if (!failed)
        return 0;
    errno = failed.value();
    return -1;
}

std::int64_t FileSystem::freeBytes(const fs::path &path)
{
    const auto free = freeDiskBytes(path);
    return free ? *free : -1;
}

FileSystem &realFileSystem()
{
    static FileSystem files;
    return files;
}

} // namespace stagewright::ckptfile
