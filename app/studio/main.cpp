#include "ui/shell/studio.h"

int main(int argc, char **argv)
{
    return stagewright::shell::runStudio(argc, argv);
}
