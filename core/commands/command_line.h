// The command line as a whole: picks the command, separates its flags from a stage's overrides, prints the answer.
#pragma once

namespace stagewright::commands {

// Never throws; the return value is the process's exit code (core/base/exit_code.h).
int runCommandLine(int argc, char **argv);

} // namespace stagewright::commands
