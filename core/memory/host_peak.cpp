#include "core/memory/host_peak.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

#include <c10/core/Allocator.h>
#include <c10/core/alignment.h>

namespace stagewright::memory {

namespace {

// Memory of its own, so that what is freed later still finds its way. Torch requires data and context of a CPU allocation to be the same: the size lies in front.
class WatchingAllocator final : public c10::Allocator
{
public:
    static WatchingAllocator &instance()
    {
        static auto *allocator = new WatchingAllocator;      // what it allocated may outlive main()
        return *allocator;
    }

    c10::DataPtr allocate(std::size_t bytes) override
    {
        char *memory = static_cast<char *>(std::aligned_alloc(c10::gAlignment, (bytes + 2 * c10::gAlignment - 1) / c10::gAlignment * c10::gAlignment));
        if (!memory)
            throw std::bad_alloc();
        new (memory) std::size_t(bytes);
        add(static_cast<std::int64_t>(bytes));
        void *data = memory + c10::gAlignment;
        return {data, data, &release, c10::Device(c10::kCPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void *destination, const void *source, std::size_t count) const override { default_copy_data(destination, source, count); }

    void restart()
    {
        const std::lock_guard lock(m_mutex);
        m_now = m_peak = 0;
    }
    std::int64_t peak() const
    {
        const std::lock_guard lock(m_mutex);
        return m_peak;
    }

private:
    static void release(void *data)
    {
        if (!data)
            return;
        char *memory = static_cast<char *>(data) - c10::gAlignment;
        instance().add(-static_cast<std::int64_t>(*reinterpret_cast<std::size_t *>(memory)));
        std::free(memory);
    }
    void add(std::int64_t bytes)
    {
        const std::lock_guard lock(m_mutex);
        m_now += bytes;
        m_peak = std::max(m_peak, m_now);
    }

    mutable std::mutex m_mutex;
    std::int64_t m_now = 0, m_peak = 0;
};

} // namespace

std::int64_t hostPeakDuring(const std::function<void()> &work)
{
    constexpr std::uint8_t kPriority = 255;                  // the highest: a lower one does not replace what is set
    c10::Allocator *before = c10::GetAllocator(c10::kCPU);
    auto &watching = WatchingAllocator::instance();
    watching.restart();
    struct Restore {
        c10::Allocator *allocator;
        ~Restore() { c10::SetAllocator(c10::kCPU, allocator, kPriority); }
    } restore{before};
    c10::SetAllocator(c10::kCPU, &watching, kPriority);
    work();
    return watching.peak();
}

} // namespace stagewright::memory
