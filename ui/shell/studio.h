// The window program: options, look, first page.
#pragma once

namespace stagewright::shell {

// Runs the window; the return value is the process's exit code.
int runStudio(int argc, char **argv);

} // namespace stagewright::shell
