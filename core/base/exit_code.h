// The exit codes of every program of ours; scripts depend on them.
#pragma once

namespace stagewright {

enum class ExitCode : int {
    Done = 0,
    Other = 1,           // anything that has no code of its own
    Usage = 2,           // the command line or the config is wrong
    Data = 3,            // table unreadable, no batch
    Checkpoint = 4,      // incomplete, damaged, or its resume not possible
    OutOfMemory = 5,     // also: fit without a solution
    InputOutput = 6,     // disk full, permission
    Stopped = 7,         // stopped on request
    WorkerDied = 8,      // a kill by the kernel for memory is named in the sentence
};

} // namespace stagewright
