#include "core/protocol/socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/files.h"
#include "core/base/paths.h"
#include "core/protocol/viewer_server.h"

namespace stagewright::protocol {

namespace fs = std::filesystem;

namespace {

constexpr int kBacklog = 64;

bool fits(const fs::path &socket) { return socket.native().size() < sizeof(sockaddr_un::sun_path); }

sockaddr_un addressOf(const fs::path &socket)
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, socket.c_str(), socket.native().size());
    return address;
}

Descriptor newSocket()
{
    return Descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Error tooLong(const fs::path &socket)
{
    return Error(ExitCode::InputOutput, "run.socket-path-too-long",
                 "the socket path " + socket.string() + " is longer than the system allows; set XDG_RUNTIME_DIR to a shorter folder", socket.string());
}

// Whoever can write to the folder could put a socket of their own there.
bool isPrivate(const fs::path &folder)
{
    struct stat info {};
    return ::lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 022) == 0;
}

} // namespace

void Descriptor::reset()
{
    if (m_fd >= 0)
        ::close(m_fd);
    m_fd = -1;
}

Result<Descriptor> listenAt(const fs::path &socket)
{
    if (!fits(socket))
        return tooLong(socket);
    struct stat info {};
    if (::lstat(socket.c_str(), &info) == 0) {
        if (!S_ISSOCK(info.st_mode))
            return Error(ExitCode::InputOutput, "run.socket-taken", socket.string() + " is not a socket and in the way; remove it", socket.string());
        if (connectTo(socket))
            return Error(ExitCode::InputOutput, "run.socket-taken", "another process listens at " + socket.string(), socket.string());
        ::unlink(socket.c_str());
    }
    Descriptor listener = newSocket();
    if (listener.get() < 0)
        return ioError("make the socket", socket, errno);
    // On an unbound socket this sets the mode that bind() gives the file: there is no moment at which others could connect.
    ::fchmod(listener.get(), 0600);
    const sockaddr_un address = addressOf(socket);
    if (::bind(listener.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) != 0)
        return ioError("make the socket", socket, errno);
    if (::listen(listener.get(), kBacklog) != 0)
        return ioError("listen at", socket, errno);
    return listener;
}

Result<Descriptor> connectTo(const fs::path &socket)
{
    if (!fits(socket))
        return tooLong(socket);
    Descriptor connection = newSocket();
    const sockaddr_un address = addressOf(socket);
    if (connection.get() >= 0 && ::connect(connection.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0)
        return connection;
    return Error(ExitCode::Other, "run.no-socket", "no worker answers at " + socket.string() + ": " + std::strerror(errno), socket.string());
}

bool isPeerTrusted(int fd)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == ::geteuid() || peer.uid == 0);
}

long sendSome(int fd, const char *bytes, std::size_t size)
{
    while (true) {
        const ssize_t sent = ::send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0)
            return sent;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return 0;
        if (errno != EINTR)
            return -1;
    }
}

long receiveSome(int fd, char *bytes, std::size_t size)
{
    while (true) {
        const ssize_t got = ::recv(fd, bytes, size, MSG_DONTWAIT);
        if (got > 0)
            return got;
        if (got == 0)
            return -1;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return 0;
        if (errno != EINTR)
            return -1;
    }
}

Result<fs::path> socketPathFor(const std::string &runId)
{
    const fs::path usual = runtimeFolder();
    for (const fs::path &folder : {usual, fs::path("/tmp/stagewright-" + std::to_string(::getuid()))}) {
        const fs::path socket = folder / (runId + ".sock");
        if (!fits(socket))
            continue;
        if (folder != usual)
            ::mkdir(folder.c_str(), 0700);
        if (isPrivate(folder))
            return socket;
    }
    return Error(ExitCode::InputOutput, "run.no-private-folder",
                 "there is no private folder for the run's socket: " + usual.string() + " is missing, belongs to somebody else or is open to others; "
                     "set XDG_RUNTIME_DIR to a folder of your own with mode 0700", usual.string());
}

} // namespace stagewright::protocol
