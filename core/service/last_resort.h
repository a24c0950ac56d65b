// "At once" must mean it, also while the training thread sits in a long kernel, a slow file or a lock.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace stagewright::service {

// A thread that looks several times a second whether stopping at once was asked for. If so, and this object still lives `seconds` later,
// it calls back, once.
class LastResort
{
public:
    LastResort(std::function<bool()> isAsked, double seconds, std::function<void()> callback);
    ~LastResort();
    LastResort(const LastResort &) = delete;
    LastResort &operator=(const LastResort &) = delete;

private:
    void run();
    bool waitFor(double seconds);          // true: this object is ending

    const std::function<bool()> m_isAsked;
    const double m_seconds;
    const std::function<void()> m_callback;
    std::mutex m_mutex;
    std::condition_variable m_wake;
    bool m_end = false;
    std::thread m_thread;
};

} // namespace stagewright::service
