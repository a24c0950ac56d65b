#include "core/train/parallel.h"

namespace stagewright::train {

void forEachChunk(std::size_t count, [[maybe_unused]] int threads, void (*body)(void *context, std::size_t index), void *context)
{
#if defined(_OPENMP)
    if (threads > 1 && count > 1) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (std::size_t i = 0; i < count; ++i)
            body(context, i);
        return;
    }
#endif
    for (std::size_t i = 0; i < count; ++i)
        body(context, i);
}

} // namespace stagewright::train
