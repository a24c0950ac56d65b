#include "core/commands/command.h"

namespace stagewright::commands {

Result<config::Stage> openStage(const std::string &file, const Invocation &invocation, Output &output)
{
    auto stage = config::loadStage(file, invocation.overrides);
    if (stage)
        output.problems().insert(output.problems().end(), stage->problems().begin(), stage->problems().end());
    return stage;
}

} // namespace stagewright::commands
