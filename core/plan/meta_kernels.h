// Operators of the training step that Torch registers for meta in Python only.
#pragma once

namespace stagewright::plan {

// Gives them kernels that make the shapes; once a process, any thread.
void ensureMetaKernels();

} // namespace stagewright::plan
