#include "core/train/parallel.h"

namespace stagewright::train {

void forEachChunk(std::size_t count, int threads, void (*body)(void *context, std::size_t index), void *context)
{
#if defined(__SANITIZE_THREAD__)
    threads = 1;                             // the thread sanitizer does not see OpenMP's barriers
#endif
    if (threads > 1 && count > 1) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (std::size_t i = 0; i < count; ++i)
            body(context, i);
        return;
    }
    for (std::size_t i = 0; i < count; ++i)
        body(context, i);
}

} // namespace stagewright::train
