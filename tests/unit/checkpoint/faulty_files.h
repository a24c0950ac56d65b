// A file system that fails on command: the n-th call of a kind, or every one, with a given errno; short writes; flipped bytes.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "core/ckptfile/file_system.h"

namespace stagewright::tests {

class FaultyFiles : public ckptfile::FileSystem
{
public:
    // Calls are counted over all kinds, from 0. -1: never.
    std::atomic<std::int64_t> failAt{-1};
    std::atomic<int> failWith{5};                // errno
    std::atomic<bool> failOnwards{false};        // also every later call that writes (a full disk stays full)
    std::atomic<std::int64_t> flipInWrite{-1};   // the n-th write gets one wrong byte on its way
    std::atomic<bool> withoutExchange{false};    // as on file systems that cannot exchange two names
    std::atomic<bool> stubborn{false};           // short writes and interruptions
    std::atomic<std::int64_t> freeNow{-2};       // what freeBytes says; -2: the truth
    std::int64_t calls() const { return m_calls; }
    void reset();

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
    std::int64_t freeBytes(const std::filesystem::path &path) override;

private:
    bool fails();                                // counts a call; true: errno is set
    std::atomic<std::int64_t> m_calls{0}, m_writes{0};
};

} // namespace stagewright::tests
