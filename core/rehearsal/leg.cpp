#include "core/rehearsal/leg.h"

#include "core/base/host.h"

namespace stagewright::rehearsal {

namespace {

constexpr auto kPoll = std::chrono::milliseconds(100);
constexpr double kSilentSeconds = 600;       // a worker without a sign of life is given up after this
constexpr double kEndSeconds = 30;           // for a worker that was told to stop at once

void set(config::Stage &stage, const char *key, config::Value value)
{
    value.origin.kind = config::OriginKind::Override;
    stage.values().set(key, std::move(value));
}

// The same training in a place of its own: one save, at the end, and nothing pruned.
config::Stage stageFor(const Leg &leg, config::Stage stage, const std::filesystem::path &scratch)
{
    set(stage, "outputs", config::Value(scratch.string()));
    set(stage, "exp_name", config::Value(leg.name));
    set(stage, "load", config::Value(leg.load));
    set(stage, "ckpt_every", config::Value(std::int64_t(0)));
    set(stage, "keep_n_latest", config::Value(std::int64_t(-1)));
    set(stage, "keep_every", config::Value(std::int64_t(0)));
    set(stage, "on_low_disk", config::Value(std::string("stop")));
    if (leg.resumes) {
        for (const char *key : {"start_step", "start_epoch", "update_warmup_steps"})
            stage.values().remove(key);
    }
    return stage;
}

void stopAtOnce(client::RunFollower &follower)
{
    follower.command(client::CommandKind::Stop, client::StopMode::Now);
    for (const double until = steadySeconds() + kEndSeconds; steadySeconds() < until;) {
        if (follower.poll(kPoll).ending)
            return;
    }
}

class Watch
{
public:
    Watch(const Leg &leg, client::RunFollower &follower) : m_leg(leg), m_follower(follower) {}

    Result<Walked> untilEnd(const std::function<bool(std::int64_t)> &tick)
    {
        double silentSince = -1;
        for (;;) {
            const client::News news = m_follower.poll(kPoll);
            for (const events::Record &record : news.records)
                take(record);
            if (news.ending)
                return judge(*news.ending);
            silentSince = !news.silent ? -1 : silentSince < 0 ? steadySeconds() : silentSince;
            if (silentSince >= 0 && steadySeconds() - silentSince > kSilentSeconds) {
                stopAtOnce(m_follower);
                return Error(ExitCode::Other, "run.silent", m_leg.name + ": the worker has given no sign of life for ten minutes");
            }
            if (!tick(static_cast<std::int64_t>(m_walked.steps.size()))) {
                stopAtOnce(m_follower);
                return Error(ExitCode::Stopped, "run.stopped", "the rehearsal was stopped; nothing of it remains");
            }
        }
    }

private:
    void take(const events::Record &record)
    {
        if (const auto *started = std::get_if<events::RunStarted>(&record.payload))
            m_walked.device = started->device;
        else if (std::holds_alternative<events::Step>(record.payload))
            m_walked.steps.push_back(record);
        else if (const auto *summary = std::get_if<events::Summary>(&record.payload); summary && !summary->checkpoints.empty())
            m_walked.checkpoint = summary->checkpoints.back().path;
        else if (const auto *problem = std::get_if<events::ProblemRecord>(&record.payload); problem && problem->problem.severity == Severity::Error)
            m_problem = problem->problem;
    }

    Result<Walked> judge(const client::Ending &ending)
    {
        if (ending.exit != static_cast<int>(ExitCode::Done) && ending.exit != static_cast<int>(ExitCode::Stopped)) {
            const auto exit = static_cast<ExitCode>(ending.exit);
            return (m_problem ? Error(exit, *m_problem) : Error(exit, "run.failed", ending.sentence)).during(m_leg.name);
        }
        const auto made = static_cast<std::int64_t>(m_walked.steps.size());
        if (made < m_leg.steps || m_walked.checkpoint.empty())
            return Error(ExitCode::Checkpoint, "checkpoint.rehearsal-too-short", m_leg.name + ": the training ended after " + std::to_string(made) + " of " + std::to_string(m_leg.steps)
                             + " updates, so there is nothing to rehearse; raise max_train_steps or epochs for it");
        return std::move(m_walked);
    }

    const Leg &m_leg;
    client::RunFollower &m_follower;
    Walked m_walked;
    std::optional<Problem> m_problem;
};

} // namespace

Result<Walked> walk(const Leg &leg, const config::Stage &stage, const std::filesystem::path &scratch, const std::filesystem::path &worker,
                    const std::function<bool(std::int64_t)> &tick)
{
    client::LaunchRequest request;
    request.stage = stageFor(leg, stage, scratch);
    request.worker = worker;
    request.stopAfterSteps = leg.steps;
    auto run = client::launch(request);
    if (!run)
        return run.error().during(leg.name);
    auto follower = client::RunFollower::follow(*run);
    if (!follower)
        return follower.error().during(leg.name);
    return Watch(leg, **follower).untilEnd(tick);
}

} // namespace stagewright::rehearsal
