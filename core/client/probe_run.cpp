#include "core/client/probe_run.h"

#include <algorithm>

#include "core/base/host.h"
#include "core/base/scratch_folder.h"
#include "core/client/client.h"

namespace stagewright::client {

namespace {

config::Stage shortened(const config::Stage &stage)
{
    config::Stage probe = stage;
    auto &values = probe.values();
    values.set("ckpt_every", 0);
    values.set("max_train_steps", 1'000'000);          // it is stopped, without a save, long before
    values.remove("load");
    values.set("exp_name", "probe");
    return probe;
}

ProbeOutcome outcomeOf(std::vector<events::Step> steps)
{
    if (steps.size() > 1)
        steps.erase(steps.begin());
    ProbeOutcome outcome;
    outcome.updates = static_cast<std::int64_t>(steps.size());
    std::vector<double> seconds;
    for (const auto &step : steps) {
        outcome.peakBytes = std::max(outcome.peakBytes, step.peakBytes);
        seconds.push_back(step.seconds - step.dataWaitSeconds);
    }
    if (!seconds.empty()) {
        std::sort(seconds.begin(), seconds.end());
        outcome.stepSeconds = seconds[seconds.size() / 2];
    }
    return outcome;
}

} // namespace

Result<ProbeOutcome> probeRun(const config::Stage &stage, std::int64_t updates, double deadlineSeconds, const std::function<bool()> &keepGoing)
{
    const auto folder = ScratchFolder::make("stagewright-probe");
    if (!folder)
        return Error(ExitCode::InputOutput, "env.io", "no temporary folder can be made for a short run; set TMPDIR to a folder that can be written");
    LaunchRequest request;
    request.stage = shortened(stage);
    request.outputs = folder->path();
    auto run = launch(request);
    if (!run)
        return run.error();
    auto follower = RunFollower::follow(*run);
    if (!follower)
        return follower.error();
    std::vector<events::Step> steps;
    const double until = steadySeconds() + deadlineSeconds;
    bool asked = false, late = false, givenUp = false;
    while (true) {
        const auto news = (*follower)->poll(std::chrono::milliseconds(100));
        for (const auto &record : news.records) {
            if (const auto *step = std::get_if<events::Step>(&record.payload))
                steps.push_back(*step);
        }
        late = late || steadySeconds() > until;
        givenUp = givenUp || (keepGoing && !keepGoing());
        const bool enough = static_cast<std::int64_t>(steps.size()) >= updates + 1 || late || givenUp;
        if (enough && !asked) {
            asked = true;
            (*follower)->command(CommandKind::Stop, StopMode::Now);
        }
        if (!news.ending) {
            if (steadySeconds() > until + 30)
                return Error(ExitCode::Other, "run.no-answer", "a short run did not stop within 30 s of being asked; its worker is process " + std::to_string((*follower)->pid()));
            continue;
        }
        if (givenUp)
            return Error(ExitCode::Stopped, "run.stopped", "stopped as asked, in the middle of a measurement");
        auto outcome = outcomeOf(std::move(steps));
        outcome.outOfMemory = news.ending->exit == static_cast<int>(ExitCode::OutOfMemory);
        if (!asked || outcome.updates == 0)
            outcome.sentence = late ? "no update within " + std::to_string(static_cast<int>(deadlineSeconds)) + " s" : news.ending->sentence;
        return outcome;
    }
}

} // namespace stagewright::client
