// Ctrl-C and SIGTERM as requests: counted, never acted on inside the handler.
#pragma once

namespace stagewright::commands {

// While one exists, SIGINT and SIGTERM are counted instead of ending the process. One at a time.
class StopSignals
{
public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals &) = delete;
    StopSignals &operator=(const StopSignals &) = delete;
    int count() const;                             // since construction
};

} // namespace stagewright::commands
