#include "core/checkpoint/snapshot_copier.h"

#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "core/ckptfile/output_file.h"

namespace stagewright::checkpoint {

namespace {

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
            std::memcpy(destination, static_cast<const char *>(contiguous.const_data_ptr()) + offset, static_cast<std::size_t>(bytes));
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
