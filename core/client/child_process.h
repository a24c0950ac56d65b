// A worker that this process started. It runs in a session of its own and is reaped, whatever becomes of this object.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace stagewright::client {

struct SpawnRequest {
    std::vector<std::string> arguments;                    // the program first: a list, never a line for a shell
    std::vector<std::pair<std::string, std::string>> environment;
    int output = -1;                                       // descriptor for its standard output and error; -1: /dev/null
    int input = -1;                                        // descriptor for its standard input; -1: /dev/null
    bool silentErrors = false;                             // standard error to /dev/null instead of output
};

// Any thread.
class ChildProcess
{
public:
    static Result<std::shared_ptr<ChildProcess>> spawn(const SpawnRequest &request);
    ~ChildProcess();                                       // lets it live; it is reaped on a thread when it ends
    ChildProcess(const ChildProcess &) = delete;
    ChildProcess &operator=(const ChildProcess &) = delete;

    int pid() const { return m_pid; }
    std::optional<int> status();                           // as waitpid() tells it, once it has ended; returns at once
    void kill();                                           // SIGKILL, if it still lives

private:
    explicit ChildProcess(int pid) : m_pid(pid) {}
    const int m_pid;
    std::mutex m_mutex;
    std::optional<int> m_status;
};

} // namespace stagewright::client
