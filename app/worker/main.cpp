#include "core/base/openmp_waits.h"
#include "core/service/arguments.h"

int main(int argc, char **argv)
{
    stagewright::ensureShortOpenMpWaits(argv);
    return stagewright::service::runWorker({argv + 1, argv + argc});
}
