#include "core/base/priority.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace stagewright {

void giveWay(int niceness)
{
    const auto thread = static_cast<id_t>(::gettid());
    ::setpriority(PRIO_PROCESS, thread, std::max(::getpriority(PRIO_PROCESS, thread), niceness));
}

} // namespace stagewright
