// SIGTERM and SIGINT as requests to stop.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace stagewright::runhost {

// While it lives, the first signal calls back with 1, the next with 2, and so on, on a thread of its own. One at a time in a process.
class StopSignals
{
public:
    explicit StopSignals(std::function<void(int count)> callback);
    ~StopSignals();                        // the signals do what they did before
    StopSignals(const StopSignals &) = delete;
    StopSignals &operator=(const StopSignals &) = delete;

private:
    void run();
    std::function<void(int)> m_callback;
    int m_pipe[2] = {-1, -1};
    std::thread m_thread;
};

} // namespace stagewright::runhost
