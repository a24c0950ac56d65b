// A crash leaves a word: which signal it was, in the run's folder, for whoever looks later.
#pragma once

#include <filesystem>

namespace stagewright::runhost {

// From now on SIGSEGV, SIGBUS, SIGABRT, SIGFPE and SIGILL write their number to the run's death file (core/runlog/run_state.h) before they do what
// they always do. For the rest of the process's life; the last call's folder counts. Not where a sanitizer has handlers of its own.
void noteFatalSignals(const std::filesystem::path &runFolder);

} // namespace stagewright::runhost
