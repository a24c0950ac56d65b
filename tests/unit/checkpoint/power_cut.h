// A file system on which the power fails at a chosen call: what was not flushed until then may be there, in part, or not at all.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/ckptfile/file_system.h"

namespace stagewright::tests {

// Works on the real one and remembers what is durable: a file's content after flushFile, a name after flushFolder of its folder.
class PowerCut : public ckptfile::FileSystem
{
public:
    std::int64_t cutAt = -1;                     // call at which nothing happens any more; -1: never
    std::int64_t calls() const { return m_calls; }
    // After the program ended: each thing that was not durable is lost, torn or kept, by chance.
    void lose(std::uint64_t seed);

    int createFile(const std::filesystem::path &path, bool direct) override;
    ssize_t writeAt(int file, const void *data, std::size_t bytes, off_t offset) override;
    int truncateFile(int file, off_t bytes) override;
    int flushFile(int file) override;
    int closeFile(int file) override;
    int flushFolder(const std::filesystem::path &path) override;
    int makeFolder(const std::filesystem::path &path) override;
    int renameFolder(const std::filesystem::path &from, const std::filesystem::path &to) override;
    int exchangeFolders(const std::filesystem::path &a, const std::filesystem::path &b) override;
    int removeTree(const std::filesystem::path &path) override;

private:
    struct Rename { std::filesystem::path from, to; bool exchange = false; };
    bool isDead();                               // counts a call
    void follow(const std::filesystem::path &from, const std::filesystem::path &to, bool exchange);

    std::mutex m_mutex;
    std::int64_t m_calls = 0;
    std::map<int, std::filesystem::path> m_open;
    std::set<std::filesystem::path> m_soft;      // files whose content is not flushed
    std::set<std::filesystem::path> m_softNames; // files and folders whose name is not flushed
    std::vector<Rename> m_softRenames;
};

} // namespace stagewright::tests
