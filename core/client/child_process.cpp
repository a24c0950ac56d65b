#include "core/client/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>

#include "core/base/openmp_waits.h"

extern char **environ;

namespace stagewright::client {

namespace {

constexpr int kFirstForeignDescriptor = 3;

std::vector<std::string> environmentWith(const std::vector<std::pair<std::string, std::string>> &additions)
{
    std::map<std::string, std::string> variables;
    for (char **entry = environ; entry && *entry; ++entry) {
        const std::string_view text = *entry;
        if (const auto equals = text.find('='); equals != std::string_view::npos)
            variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
    if (const auto variable = shortOpenMpWaits())
        variables.insert(*variable);
    for (const auto &[name, value] : additions)
        variables[name] = value;
    std::vector<std::string> entries;
    for (const auto &[name, value] : variables)
        entries.push_back(name + "=" + value);
    return entries;
}

std::vector<char *> pointers(std::vector<std::string> &texts)
{
    std::vector<char *> all;
    for (std::string &text : texts)
        all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

// What posix_spawn is told besides the program: a session of its own, signals as at a program's start, no descriptor of ours.
class SpawnSettings
{
public:
    explicit SpawnSettings(const SpawnRequest &request)
    {
        const int output = request.output;
        ::posix_spawn_file_actions_init(&actions);
        if (request.input >= 0)
            ::posix_spawn_file_actions_adddup2(&actions, request.input, 0);
        else
            ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        if (output >= 0)
            ::posix_spawn_file_actions_adddup2(&actions, output, 1);
        else
            ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
        if (request.silentErrors)
            ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        else
            ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
        ::posix_spawn_file_actions_addclosefrom_np(&actions, kFirstForeignDescriptor);
        ::posix_spawnattr_init(&attributes);
        ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        sigset_t usual, none;
        ::sigemptyset(&none);
        ::sigemptyset(&usual);
        for (const int signal : {SIGINT, SIGTERM, SIGPIPE, SIGHUP, SIGQUIT, SIGCHLD})
            ::sigaddset(&usual, signal);
        ::posix_spawnattr_setsigdefault(&attributes, &usual);
        ::posix_spawnattr_setsigmask(&attributes, &none);
    }
    ~SpawnSettings()
    {
        ::posix_spawn_file_actions_destroy(&actions);
        ::posix_spawnattr_destroy(&attributes);
    }
    SpawnSettings(const SpawnSettings &) = delete;
    SpawnSettings &operator=(const SpawnSettings &) = delete;

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
};

} // namespace

Result<std::shared_ptr<ChildProcess>> ChildProcess::spawn(const SpawnRequest &request)
{
    std::vector<std::string> arguments = request.arguments;
    std::vector<std::string> environment = environmentWith(request.environment);
    const SpawnSettings settings(request);
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, arguments[0].c_str(), &settings.actions, &settings.attributes, pointers(arguments).data(),
                                     pointers(environment).data());
    if (failed != 0)
        return Error(ExitCode::Other, "env.cannot-start", "cannot start " + arguments[0] + ": " + std::strerror(failed) + "; reinstall or rebuild Stagewright",
                     arguments[0]);
    return std::shared_ptr<ChildProcess>(new ChildProcess(pid));
}

std::optional<int> ChildProcess::status()
{
    const std::lock_guard lock(m_mutex);
    int status = 0;
    if (!m_status && ::waitpid(m_pid, &status, WNOHANG) == m_pid)
        m_status = status;
    return m_status;
}

void ChildProcess::kill()
{
    const std::lock_guard lock(m_mutex);
    if (!m_status)                                         // not reaped: the pid is still this child's
        ::kill(m_pid, SIGKILL);
}

ChildProcess::~ChildProcess()
{
    if (status())
        return;
    std::thread([pid = m_pid] {
        int ignored = 0;
        while (::waitpid(pid, &ignored, 0) < 0 && errno == EINTR) { }
    }).detach();
}

} // namespace stagewright::client
