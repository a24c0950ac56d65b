#include "core/model/row_kernels.inl"

const RowKernelSet &avx2RowKernels() { return kSet; }

} // namespace stagewright::model
