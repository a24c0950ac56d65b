#include "core/service/worker.h"

#include <unistd.h>

#include <iostream>
#include <limits>

#include "core/base/host.h"
#include "core/base/log.h"
#include "core/protocol/frame.h"
#include "core/service/failure.h"
#include "core/service/last_resort.h"
#include "core/service/run_setup.h"

namespace stagewright::service {

namespace {

constexpr double kAtOnceSeconds = 5;                   // from "stop at once" to the end of the process

ExitCode complain(const Error &error)
{
    std::cerr << oneLine(error.problem) << std::endl;
    return error.exit;
}

Status checkLauncher(const WorkerOptions &options)
{
    if (!options.wire || *options.wire == protocol::kWireVersion)
        return Done{};
    return protocol::otherVersion(*options.wire);
}

// Everything that stands between a run that exists and its training.
Status checkBefore(const WorkerOptions &options, const Result<config::Stage> &stage)
{
    if (auto same = checkLauncher(options); !same)
        return same;
    if (auto alone = checkWorldSize(); !alone)
        return alone;
    if (!stage)
        return stage.error();
    return Done{};
}

events::Summary failedSummary(const Error &error, const runhost::RunHost &host, double began)
{
    events::Summary summary;
    summary.exit = static_cast<int>(error.exit);
    summary.loss = std::numeric_limits<double>::quiet_NaN();
    summary.seconds = steadySeconds() - began;
    summary.run = host.folder().string();
    return summary;
}

// The training thread does not come back: the run says how it ended, and the process goes.
void endAtOnce(runhost::RunHost &host)
{
    events::Summary summary;
    summary.exit = static_cast<int>(ExitCode::Stopped);
    summary.loss = std::numeric_limits<double>::quiet_NaN();
    host.finish(summary, "stopped at once, as asked, in the middle of what it was doing; nothing was saved");
    ::_exit(static_cast<int>(ExitCode::Stopped));
}

} // namespace

ExitCode runTraining(const WorkerOptions &options, const TrainFunction &train)
{
    const double began = steadySeconds();
    auto run = setUpRun(options);
    if (!run)
        return complain(run.error());
    runhost::RunHost &host = *run->host;
    const LastResort lastResort([&host] { return host.stopsAtOnce(); }, kAtOnceSeconds, [&host] { endAtOnce(host); });

    const Status before = checkBefore(options, run->stage);
    auto summary = before ? guarded([&] { return train(*run->stage, host); }) : Result<events::Summary>(before.error());
    if (!summary) {
        if (summary.error().exit != ExitCode::Stopped) {
            host.report({0, -1, events::ProblemRecord{summary.error().problem}});
            logger("core.service")->error("{}", summary.error().message());
        }
        host.finish(failedSummary(summary.error(), host, began), summary.error().message());
        return summary.error().exit;
    }
    const auto exit = static_cast<ExitCode>(summary->exit);
    host.finish(std::move(*summary), {});
    return exit;
}

ExitCode runTraining(const WorkerOptions &options)
{
    return runTraining(options, trainStage);
}

} // namespace stagewright::service
