// How the time of a piece of work grows with its size: tells linear from quadratic on any machine, busy, slow or under a sanitizer.
#pragma once

#include <algorithm>
#include <ctime>

namespace stagewright::tests {

// Processor time of work(large) over that of work(small), the shortest of several runs of each. The work must be the calling thread's own.
template <class Work>
double growth(int small, int large, Work work)
{
    const auto shortest = [&](int size) {
        double best = 1e9;
        for (int i = 0; i < 5; ++i) {
            timespec start{}, end{};
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
            work(size);
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
            best = std::min(best, double(end.tv_sec - start.tv_sec) + 1e-9 * double(end.tv_nsec - start.tv_nsec));
        }
        return best;
    };
    const double base = shortest(small);
    return shortest(large) / std::max(base, 1e-9);
}

} // namespace stagewright::tests
