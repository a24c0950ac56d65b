#include "core/model/row_kernels.h"

namespace stagewright::model {

const RowKernelSet &rowKernels()
{
    static const RowKernelSet &chosen = []() -> const RowKernelSet & {
#if defined(__x86_64__)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
            return avx512RowKernels();
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
            return avx2RowKernels();
#endif
        return baselineRowKernels();
    }();
    return chosen;
}

} // namespace stagewright::model
