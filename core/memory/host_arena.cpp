#include "core/memory/host_arena.h"

#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "core/torchpch/torch.h"

#include "core/base/host.h"
#include "core/base/units.h"

namespace stagewright::memory {

HostArena::HostArena(std::int64_t capacityBytes) : m_capacity(capacityBytes)
{
    void *base = mmap(nullptr, static_cast<std::size_t>(capacityBytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    TORCH_CHECK(base != MAP_FAILED, "the activation buffer of ", formatBytes(static_cast<double>(capacityBytes)), " cannot be reserved in host memory (", std::strerror(errno),
                "): lower grad_ckpt_buffer_size");
    m_base = static_cast<char *>(base);
}

HostArena::~HostArena() { munmap(m_base, static_cast<std::size_t>(m_capacity)); }

void HostArena::touch(std::int64_t end)
{
    const std::int64_t page = sysconf(_SC_PAGESIZE);
    const std::int64_t wanted = std::min((end + page - 1) / page * page, (m_capacity + page - 1) / page * page);
    if (wanted <= m_touched)
        return;
    constexpr std::int64_t kWorthAsking = 16 << 20;       // below this a full machine is noticed elsewhere
    const std::int64_t more = wanted - m_touched;
    TORCH_CHECK(more < kWorthAsking || more < hostAvailableBytes(), "the activation buffer needs ", formatBytes(static_cast<double>(more)), " more host memory, but only ",
                formatBytes(static_cast<double>(hostAvailableBytes())), " are available: lower grad_ckpt_buffer_size or the batch size");
    m_touched = wanted;
}

} // namespace stagewright::memory
