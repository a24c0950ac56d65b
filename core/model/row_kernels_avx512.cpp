#include "core/model/row_kernels.inl"

const RowKernelSet &avx512RowKernels() { return kSet; }

} // namespace stagewright::model
