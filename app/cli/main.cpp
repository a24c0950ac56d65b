#include "core/commands/command_line.h"

int main(int argc, char **argv)
{
    return stagewright::commands::runCommandLine(argc, argv);
}
