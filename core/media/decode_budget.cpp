#include "core/media/decode_budget.h"

#include <algorithm>

#include "core/base/units.h"

namespace stagewright::media {

namespace {

// Waiting looks this often whether it has been stopped: a stop flag wakes nobody.
constexpr std::chrono::milliseconds kLook{50};

} // namespace

DecodeBudget::Lease::~Lease()
{
    if (!m_budget)
        return;
    const std::lock_guard lock(m_budget->m_mutex);
    m_budget->m_taken -= m_bytes;
    m_budget->m_changed.notify_all();
}

Result<DecodeBudget::Lease> DecodeBudget::take(std::int64_t bytes, const std::filesystem::path &file, const Limits &limits)
{
    if (bytes > m_bytes) {
        return Error(ExitCode::Data, "data.too-large", file.string() + ": decoding it takes about " + formatBytes(double(bytes)) + ", and the decoders of this process may hold "
                     + formatBytes(double(m_bytes)) + "; raise decoder_memory, or make the clip smaller", file.string());
    }
    std::unique_lock lock(m_mutex);
    const std::int64_t ticket = m_nextTicket++;
    const auto isOver = [&] { return (limits.stop && limits.stop->load(std::memory_order_relaxed)) || std::chrono::steady_clock::now() >= limits.deadline; };
    const auto isFree = [&] { return ticket == m_serving && m_taken + bytes <= m_bytes; };
    while (!isFree() && !(ticket == m_serving && isOver()))
        m_changed.wait_for(lock, kLook);
    const bool free = isFree();
    ++m_serving;
    m_changed.notify_all();
    if (!free) {
        const bool stopped = limits.stop && limits.stop->load();
        return Error(ExitCode::Data, stopped ? "data.stopped" : "data.timeout", file.string() + (stopped ? ": stopped while it waited for memory to decode" : ": waited too long for memory to decode; other clips take it"),
                     file.string());
    }
    m_taken += bytes;
    m_highWater = std::max(m_highWater, m_taken);
    return Lease(this, bytes);
}

std::int64_t DecodeBudget::highWater() const
{
    const std::lock_guard lock(m_mutex);
    return m_highWater;
}

} // namespace stagewright::media
