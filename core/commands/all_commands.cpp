#include "core/commands/factories.h"

namespace stagewright::commands {

std::vector<std::unique_ptr<Command>> allCommands()
{
    std::vector<std::unique_ptr<Command>> commands;
    for (const auto make : {makeCheck, makeShow, makeDiff, makeConvert, makeFromCommand, makePresets, makeSchema, makeBuckets, makeCache, makePlan, makeFit, makeSweep, makeTrain, makeRuns,
                            makeAttach, makeSave, makeStop, makeInspect, makeResumePlan, makeRehearse, makeClean, makeExport, makeReport, makeDemo})
        commands.push_back(make());
    return commands;
}

} // namespace stagewright::commands
