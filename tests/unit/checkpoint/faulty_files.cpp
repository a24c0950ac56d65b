#include "faulty_files.h"

#include <cerrno>
#include <cstring>

namespace stagewright::tests {

void FaultyFiles::reset()
{
    failAt = flipInWrite = -1;
    failOnwards = withoutExchange = stubborn = false;
    freeNow = -2;
    m_calls = m_writes = 0;
}

bool FaultyFiles::fails()
{
    const std::int64_t call = m_calls++;
    const std::int64_t at = failAt;
    if (at < 0 || (call != at && !(failOnwards && call > at)))
        return false;
    errno = failWith;
    return true;
}

int FaultyFiles::createFile(const std::filesystem::path &path, bool direct) { return fails() ? -1 : FileSystem::createFile(path, direct); }
int FaultyFiles::truncateFile(int file, off_t bytes) { return fails() ? -1 : FileSystem::truncateFile(file, bytes); }
int FaultyFiles::flushFile(int file) { return fails() ? -1 : FileSystem::flushFile(file); }

int FaultyFiles::closeFile(int file)
{
    const bool failed = fails();
    const int error = errno, closed = FileSystem::closeFile(file);       // a failed close has closed all the same
    errno = error;
    return failed ? -1 : closed;
}

int FaultyFiles::flushFolder(const std::filesystem::path &path) { return fails() ? -1 : FileSystem::flushFolder(path); }
int FaultyFiles::makeFolder(const std::filesystem::path &path) { return fails() ? -1 : FileSystem::makeFolder(path); }
int FaultyFiles::renameFolder(const std::filesystem::path &from, const std::filesystem::path &to) { return fails() ? -1 : FileSystem::renameFolder(from, to); }
int FaultyFiles::removeTree(const std::filesystem::path &path) { return FileSystem::removeTree(path); }

int FaultyFiles::exchangeFolders(const std::filesystem::path &a, const std::filesystem::path &b)
{
    if (withoutExchange) {
        errno = EINVAL;
        return -1;
    }
    return fails() ? -1 : FileSystem::exchangeFolders(a, b);
}

ssize_t FaultyFiles::writeAt(int file, const void *data, std::size_t bytes, off_t offset)
{
    if (fails())
        return -1;
    const std::int64_t number = m_writes++;
    if (stubborn && number % 3 == 0) {
        errno = EINTR;
        return -1;
    }
    if (stubborn)
        bytes = std::min<std::size_t>(bytes, 4096);
    if (number != flipInWrite || bytes == 0)
        return FileSystem::writeAt(file, data, bytes, offset);
    std::string wrong(static_cast<const char *>(data), bytes);
    wrong[bytes / 2] = static_cast<char>(wrong[bytes / 2] ^ 1);
    setDirect(file, false);
    return FileSystem::writeAt(file, wrong.data(), bytes, offset);
}

std::int64_t FaultyFiles::freeBytes(const std::filesystem::path &path) { return freeNow == -2 ? FileSystem::freeBytes(path) : freeNow.load(); }

} // namespace stagewright::tests
