#include "core/commands/stop_signals.h"

#include <atomic>
#include <csignal>

namespace stagewright::commands {

namespace {

std::atomic<int> s_count{0};
struct sigaction s_oldInterrupt, s_oldTerminate;

void countSignal(int)
{
    s_count.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

StopSignals::StopSignals()
{
    s_count = 0;
    struct sigaction action {};
    action.sa_handler = countSignal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &s_oldInterrupt);
    sigaction(SIGTERM, &action, &s_oldTerminate);
}

StopSignals::~StopSignals()
{
    sigaction(SIGINT, &s_oldInterrupt, nullptr);
    sigaction(SIGTERM, &s_oldTerminate, nullptr);
}

int StopSignals::count() const
{
    return s_count.load(std::memory_order_relaxed);
}

} // namespace stagewright::commands
