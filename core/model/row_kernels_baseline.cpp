#include "core/model/row_kernels.inl"

const RowKernelSet &baselineRowKernels() { return kSet; }

} // namespace stagewright::model
