#include "core/cuda/pinned_arena.h"

#include <algorithm>

#include <cuda_runtime_api.h>
#include <sys/resource.h>

#include "core/torchpch/torch.h"

#include "core/base/units.h"

namespace stagewright::cuda {

static std::string lockLimit()
{
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return "no limit of this process's own (a container or the system may have one)";
    return "the process's limit is " + formatBytes(static_cast<double>(limit.rlim_cur)) + " (ulimit -l)";
}

std::int64_t PinnedArena::pieceBytes(std::size_t piece) const { return std::min(kPiece, m_arena.capacity() - static_cast<std::int64_t>(piece) * kPiece); }

PinnedArena::~PinnedArena()
{
    for (std::size_t piece = 0; piece < m_locked.size(); ++piece) {
        if (m_locked[piece])
            cudaHostUnregister(m_arena.at(static_cast<std::int64_t>(piece) * kPiece));
    }
}

void PinnedArena::touch(std::int64_t end)
{
    m_arena.touch(end);
    while (static_cast<std::int64_t>(m_locked.size()) * kPiece < end) {
        const std::size_t piece = m_locked.size();
        const std::int64_t bytes = pieceBytes(piece);
        const cudaError_t error = m_refused ? cudaErrorMemoryAllocation : cudaHostRegister(m_arena.at(static_cast<std::int64_t>(piece) * kPiece), static_cast<std::size_t>(bytes), cudaHostRegisterPortable);
        m_locked.push_back(error == cudaSuccess);
        if (error == cudaSuccess) {
            m_pinned += bytes;
        } else if (!m_refused) {
            m_refused = true;
            cudaGetLastError();                // this failure is dealt with here
            m_note = "the system refuses to page-lock more host memory for the activation buffer (" + formatBytes(static_cast<double>(bytes)) + " more beside "
                     + formatBytes(static_cast<double>(m_pinned)) + " already locked; " + lockLimit() + "; " + cudaGetErrorString(error)
                     + "): the rest stays pageable and its copies are slower. Raise the limit or lower grad_ckpt_buffer_size. This is about host memory, not the GPU's";
        }
    }
}

std::string PinnedArena::takeNote() { return std::exchange(m_note, {}); }

} // namespace stagewright::cuda
