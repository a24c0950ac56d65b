#include "core/base/openmp_waits.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace stagewright {

namespace {

constexpr const char *kSpins = "GOMP_SPINCOUNT", *kPolicy = "OMP_WAIT_POLICY";
constexpr const char *kFewSpins = "10000";       // turns of an idle loop: tens of microseconds

} // namespace

std::optional<std::pair<std::string, std::string>> shortOpenMpWaits()
{
    if (std::getenv(kSpins) || std::getenv(kPolicy))
        return {};
    return std::pair<std::string, std::string>(kSpins, kFewSpins);
}

void ensureShortOpenMpWaits(char **argv)
{
    const auto variable = shortOpenMpWaits();
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);     // by its own name, which is what ps shows
    if (variable && !error && ::setenv(variable->first.c_str(), variable->second.c_str(), 1) == 0)
        ::execv(program.c_str(), argv);
}

} // namespace stagewright
