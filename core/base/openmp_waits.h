// How long OpenMP's threads spin before they sleep. GNU's runtime lets them spin for milliseconds, so that a step holds every core from its first
// operation to its last, also while its threads wait for each other; writers of checkpoints, decoders and viewers then take their time from working
// threads, and a step waits for the slowest of them. Threads that spin for tens of microseconds leave the rest of each wait to the others. Measured on two
// cores: the plain step takes as long (0.99 to 1.01), an asynchronous save costs half as much, the first save finds its memory ready.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace stagewright {

// The environment variable that makes a program's waits short, for whoever starts one; none where the user has chosen (OMP_WAIT_POLICY, GOMP_SPINCOUNT).
// The runtime reads it once, while the program is loaded.
std::optional<std::pair<std::string, std::string>> shortOpenMpWaits();

// First in main() of a program with OpenMP: starts this program anew in this process with the variable, unless it is there. Where that cannot be
// done the program goes on as it is.
void ensureShortOpenMpWaits(char **argv);

} // namespace stagewright
