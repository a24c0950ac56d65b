#include "core/checkpoint/snapshot_copier.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <sys/mman.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/ckptfile/output_file.h"

namespace stagewright::checkpoint {

namespace {

// A snapshot is written once and next read by the writers, long after the processor's cache has turned over. Stores past the cache neither fetch what they
// overwrite nor push the step's own data out (measured on two cores of an EPYC, blocks of 8 MiB: 15 GB/s against 9 GB/s of memcpy).
void copyPastCache(void *into, const void *from, std::size_t bytes)
{
#if defined(__SSE2__)
    constexpr std::size_t kLine = 64;
    char *to = static_cast<char *>(into);
    const char *source = static_cast<const char *>(from);
    const std::size_t head = std::min(bytes, (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine);
    std::memcpy(to, source, head);
    std::size_t at = head;
    for (; at + kLine <= bytes; at += kLine) {
        __m128i parts[4];
        std::memcpy(parts, source + at, kLine);
        for (std::size_t part = 0; part < 4; ++part)
            _mm_stream_si128(reinterpret_cast<__m128i *>(to + at) + part, parts[part]);
    }
    std::memcpy(to + at, source + at, bytes - at);
    _mm_sfence();
#else
    std::memcpy(into, from, bytes);
#endif
}

class HostCopier : public SnapshotCopier
{
public:
    // Large blocks in huge pages where the kernel has them: fewer faults at the first touch, fewer pages to pin for each direct write.
    void *allocate(std::int64_t bytes) override
    {
        constexpr std::int64_t kHugePage = 2 << 20;
        const bool large = bytes >= kHugePage;
        const std::int64_t size = large ? (bytes + kHugePage - 1) / kHugePage * kHugePage : ckptfile::alignedUp(bytes);
        void *block = std::aligned_alloc(static_cast<std::size_t>(large ? kHugePage : ckptfile::kAlignment), static_cast<std::size_t>(size));
        if (block && large)
            ::madvise(block, static_cast<std::size_t>(size), MADV_HUGEPAGE);
        return block;
    }
    void release(void *block, std::int64_t) override { std::free(block); }

    // What was queued on another device is waited for here, so that the copies, which run on another thread's stream, see it.
    void begin(const torch::Device &device) override
    {
        if (device.is_cpu())
            return;
        const c10::impl::VirtualGuardImpl guard(device.type());
        guard.synchronizeDevice(device.has_index() ? device.index() : guard.getDevice().index());
    }
    void copy(const torch::Tensor &contiguous, std::int64_t offset, std::int64_t bytes, void *destination) override
    {
        if (contiguous.device().is_cpu()) {
            copyPastCache(destination, static_cast<const char *>(contiguous.const_data_ptr()) + offset, static_cast<std::size_t>(bytes));
            return;
        }
        const torch::NoGradGuard noGrad;
        const torch::Tensor part = contiguous.view({-1}).view(at::kByte).slice(0, offset, offset + bytes).to(at::kCPU);
        std::memcpy(destination, part.const_data_ptr(), static_cast<std::size_t>(bytes));
    }
    void settle() override {}
    bool copiesHostAtOnce() const override { return true; }
};

} // namespace

SnapshotCopier &hostCopier()
{
    static HostCopier copier;
    return copier;
}

} // namespace stagewright::checkpoint
