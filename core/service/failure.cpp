#include "core/service/failure.h"

#include <new>

#include "core/torchpch/torch.h"

#include "core/base/text.h"

namespace stagewright::service {

namespace {

// The first line: what follows is a stack trace, which goes to the log only.
std::string firstLine(const std::string &text)
{
    return std::string(trimmed(std::string_view(text).substr(0, text.find('\n'))));
}

Error unexpected(const std::string &what)
{
    return Error(ExitCode::Other, "run.unexpected",
                 "training ended by an error that Stagewright did not expect: " + firstLine(what) + "; train.log has more, please report it");
}

Error refusedMemory(const std::string &what)
{
    return Error(ExitCode::OutOfMemory, "memory.out-of-memory",
                 "memory was refused: " + firstLine(what) + "; take a smaller batch, checkpoint more blocks (model.grad_ckpt_settings) or offload activations "
                     "(grad_ckpt_buffer_size), stagewright-cli plan says how much each takes");
}

} // namespace

Result<events::Summary> guarded(const std::function<Result<events::Summary>()> &call)
{
    try {
        return call();
    } catch (const c10::OutOfMemoryError &error) {
        return refusedMemory(error.what_without_backtrace());
    } catch (const c10::Error &error) {
        spdlog::default_logger()->error("{}", error.what());
        const std::string what = error.what_without_backtrace();
        // The CPU allocator has no exception type of its own.
        if (what.find("DefaultCPUAllocator") != std::string::npos || what.find("out of memory") != std::string::npos)
            return refusedMemory(what);
        return unexpected(what);
    } catch (const std::bad_alloc &error) {
        return refusedMemory(error.what());
    } catch (const std::exception &error) {
        return unexpected(error.what());
    } catch (...) {
        return unexpected("an exception of an unknown kind");
    }
}

ExitCode exitOf(const Problem &problem)
{
    const auto isOf = [&](const char *group) { return problem.code.rfind(group, 0) == 0; };
    return isOf("data.") ? ExitCode::Data : isOf("checkpoint.") ? ExitCode::Checkpoint : ExitCode::Usage;
}

} // namespace stagewright::service
