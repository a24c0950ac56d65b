#include "core/service/arguments.h"

int main(int argc, char **argv)
{
    return stagewright::service::runWorker({argv + 1, argv + argc});
}
