// Watching a run from the command line until it ends: what train and attach share.
#pragma once

#include <functional>

#include "core/client/client.h"
#include "core/commands/command.h"

namespace stagewright::commands {

struct FollowOutcome {
    events::Summary summary;                       // the run's own, or put together from its records where it died before telling one
    std::string sentence;                          // how it ended, empty for a run that simply finished
    bool detached = false;
};

// Streams the run's records (JSON Lines with --json, else progress) until it ends or onSignal says to let go.
// onSignal is called with the number of Ctrl-C or SIGTERM so far whenever it grows; true detaches.
FollowOutcome followRun(client::RunFollower &follower, Output &output, const std::function<bool(client::RunFollower &, int)> &onSignal);

// The last line of --json: the summary with how the run ended, and the problems of the command.
void printSummary(const FollowOutcome &outcome, std::string_view command, Output &output);

} // namespace stagewright::commands
