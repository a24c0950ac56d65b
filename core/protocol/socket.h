// Unix domain sockets of ours: bound with mode 0600 in a private folder, connected without waiting.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/base/result.h"

namespace stagewright::protocol {

// Owns a file descriptor.
class Descriptor
{
public:
    explicit Descriptor(int fd = -1) : m_fd(fd) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor &&other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
    Descriptor &operator=(Descriptor &&other) noexcept
    {
        std::swap(m_fd, other.m_fd);
        return *this;
    }
    int get() const { return m_fd; }
    int release() { return std::exchange(m_fd, -1); }
    void reset();

private:
    int m_fd;
};

// Error: path too long, a living process listens there, something that is no socket lies there. A dead process's socket is replaced.
Result<Descriptor> listenAt(const std::filesystem::path &socket);
// Error: nobody listens (code run.no-socket).
Result<Descriptor> connectTo(const std::filesystem::path &socket);
bool isPeerTrusted(int fd);                                // the same user, or root

// Bytes sent or received; 0: would block; -1: the connection is over.
long sendSome(int fd, const char *bytes, std::size_t size);
long receiveSome(int fd, char *bytes, std::size_t size);

} // namespace stagewright::protocol
