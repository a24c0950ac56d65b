#include "core/train/out_of_memory.h"

#include "core/memory/ledger.h"

namespace stagewright::train {

namespace {

constexpr const char *kAdvice = "; checkpoint more blocks (model.grad_ckpt_settings), offload their inputs (grad_ckpt_buffer_size), take a smaller batch or fewer frames in "
                                "bucket_config, or a larger memory_limit";

} // namespace

Error outOfMemory(const c10::OutOfMemoryError &error, const std::string &when)
{
    const auto *known = dynamic_cast<const memory::OutOfMemory *>(&error);
    const std::string what = known ? memory::describe(known->facts()) : std::string("the device has no more memory: ") + error.what_without_backtrace();
    return Error(ExitCode::OutOfMemory, "memory.out-of-memory", "out of memory " + when + ": " + what + kAdvice);
}

} // namespace stagewright::train
