// A bound on the memory that decoders hold at once.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <mutex>

#include "core/base/result.h"
#include "core/media/clip.h"

namespace stagewright::media {

// Of one process. The bound holds for all processes of a machine where each has its share from the beginning: nothing is shared between them, so none can
// die with another's part. Any thread; who asked first is served first.
class DecodeBudget
{
public:
    explicit DecodeBudget(std::int64_t bytes) : m_bytes(bytes) {}

    // A process's part of a machine's bytes.
    static std::int64_t share(std::int64_t machineBytes, std::int64_t processes) { return machineBytes / (processes > 0 ? processes : 1); }

    // Bytes that are taken for as long as it lives.
    class Lease
    {
    public:
        Lease() = default;
        ~Lease();
        Lease(Lease &&other) noexcept : m_budget(other.m_budget), m_bytes(other.m_bytes) { other.m_budget = nullptr; }
        Lease &operator=(Lease &&) = delete;

    private:
        friend class DecodeBudget;
        Lease(DecodeBudget *budget, std::int64_t bytes) : m_budget(budget), m_bytes(bytes) {}
        DecodeBudget *m_budget = nullptr;
        std::int64_t m_bytes = 0;
    };
    // Waits until they are free. Errors (Data): data.too-large, more than there ever will be; data.timeout, data.stopped.
    Result<Lease> take(std::int64_t bytes, const std::filesystem::path &file, const Limits &limits);

    std::int64_t bytes() const { return m_bytes; }
    std::int64_t highWater() const;                    // most that was taken at once

private:
    const std::int64_t m_bytes;
    mutable std::mutex m_mutex;                        // guards the rest
    std::condition_variable m_changed;
    std::int64_t m_taken = 0, m_highWater = 0;
    std::int64_t m_nextTicket = 0, m_serving = 0;
};

} // namespace stagewright::media
