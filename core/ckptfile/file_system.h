// The few calls through which checkpoints reach a disk. One seam, so that tests can refuse, shorten or lose any single call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include <sys/types.h>

namespace stagewright::ckptfile {

// Every call returns as the system call of its name does: -1 and errno on failure. Safe from several threads.
class FileSystem
{
public:
    virtual ~FileSystem() = default;
    virtual int createFile(const std::filesystem::path &path, bool direct);      // O_WRONLY|O_CREAT|O_EXCL, O_DIRECT where asked
    virtual int setDirect(int file, bool direct);                // switches O_DIRECT of an open file
    virtual ssize_t writeAt(int file, const void *data, std::size_t bytes, off_t offset);
    virtual int reserve(int file, off_t bytes);                  // fallocate: the file is so long, and its blocks are taken
    virtual int truncateFile(int file, off_t bytes);
    virtual int flushFile(int file);
    virtual int closeFile(int file);
    virtual int flushFolder(const std::filesystem::path &path);
    virtual int makeFolder(const std::filesystem::path &path);
    virtual int renameFolder(const std::filesystem::path &from, const std::filesystem::path &to);    // fails where `to` is a folder with content
    virtual int exchangeFolders(const std::filesystem::path &a, const std::filesystem::path &b);     // atomically; ENOSYS or EINVAL where unknown
    virtual int removeTree(const std::filesystem::path &path);
    virtual std::int64_t freeBytes(const std::filesystem::path &path);           // -1: unknown
};

FileSystem &realFileSystem();

} // namespace stagewright::ckptfile
