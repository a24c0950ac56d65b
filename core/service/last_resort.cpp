#include "core/service/last_resort.h"

#include <chrono>

namespace stagewright::service {

LastResort::LastResort(std::function<bool()> isAsked, double seconds, std::function<void()> callback)
    : m_isAsked(std::move(isAsked)), m_seconds(seconds), m_callback(std::move(callback))
{
    m_thread = std::thread([this] { run(); });
}

LastResort::~LastResort()
{
    {
        const std::lock_guard lock(m_mutex);
        m_end = true;
    }
    m_wake.notify_one();
    m_thread.join();
}

bool LastResort::waitFor(double seconds)
{
    std::unique_lock lock(m_mutex);
    return m_wake.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return m_end; });
}

void LastResort::run()
{
    while (!m_isAsked()) {
        if (waitFor(0.2))
            return;
    }
    if (!waitFor(m_seconds))
        m_callback();
}

} // namespace stagewright::service
