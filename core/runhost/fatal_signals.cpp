#include "core/runhost/fatal_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "core/runlog/run_state.h"

namespace stagewright::runhost {

namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
constexpr std::size_t kStackBytes = 64 << 10;

char deathFile[4096];

// Only what may be done in the middle of anything: open, write, close, and the signal's own effect.
void onFatalSignal(int signal)
{
    const int fd = ::open(deathFile, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd >= 0) {
        const char text[3] = {static_cast<char>('0' + signal / 10), static_cast<char>('0' + signal % 10), '\n'};
        [[maybe_unused]] const ssize_t written = ::write(fd, text, sizeof text);
        ::close(fd);
    }
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

} // namespace

void noteFatalSignals(const std::filesystem::path &runFolder)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const std::string file = runlog::deathPath(runFolder).string();
    if (file.size() >= sizeof deathFile)
        return;
    std::memcpy(deathFile, file.c_str(), file.size() + 1);
    static char stack[kStackBytes];                        // a stack that overflowed cannot run a handler
    stack_t alternative{};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    ::sigaltstack(&alternative, nullptr);
    struct sigaction action {};
    action.sa_handler = onFatalSignal;
    action.sa_flags = SA_ONSTACK | SA_NODEFER;
    for (const int signal : kFaults)
        ::sigaction(signal, &action, nullptr);
#else
    (void)runFolder;
#endif
}

} // namespace stagewright::runhost
