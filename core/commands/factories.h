// One factory a command; each is defined in the file named after the command.
#pragma once

#include <memory>

#include "core/commands/command.h"

namespace stagewright::commands {

std::unique_ptr<Command> makeCheck();
std::unique_ptr<Command> makeShow();
std::unique_ptr<Command> makeDiff();
std::unique_ptr<Command> makeConvert();
std::unique_ptr<Command> makeFromCommand();
std::unique_ptr<Command> makePresets();
std::unique_ptr<Command> makeSchema();
std::unique_ptr<Command> makeBuckets();
std::unique_ptr<Command> makeCache();
std::unique_ptr<Command> makePlan();
std::unique_ptr<Command> makeFit();
std::unique_ptr<Command> makeSweep();
std::unique_ptr<Command> makeTrain();
std::unique_ptr<Command> makeRuns();
std::unique_ptr<Command> makeAttach();
std::unique_ptr<Command> makeSave();
std::unique_ptr<Command> makeStop();
std::unique_ptr<Command> makeInspect();
std::unique_ptr<Command> makeResumePlan();
std::unique_ptr<Command> makeRehearse();
std::unique_ptr<Command> makeClean();
std::unique_ptr<Command> makeExport();
std::unique_ptr<Command> makeReport();
std::unique_ptr<Command> makeDemo();

} // namespace stagewright::commands
