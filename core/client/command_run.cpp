// One command, from the sending to its effect.
#include <set>

#include "core/base/host.h"
#include "core/client/client.h"
#include "core/runlog/lease.h"

namespace stagewright::client {

namespace {

// Watches records for the end of a save that began after the command was taken.
class SaveWatch
{
public:
    void take(std::int64_t number, const events::Record &record, std::int64_t commandTakenAt)
    {
        const auto *checkpoint = std::get_if<events::Checkpoint>(&record.payload);
        if (!checkpoint)
            return;
        const bool isNew = commandTakenAt >= 0 && number >= commandTakenAt;
        if (!isNew && checkpoint->phase != "done" && checkpoint->phase != "failed")
            m_underWay.insert(checkpoint->path);
        const bool ours = isNew && !m_underWay.count(checkpoint->path);
        if (checkpoint->phase != "done" && checkpoint->phase != "failed")
            return;
        m_underWay.erase(checkpoint->path);
        if (checkpoint->phase == "done")
            lastSaved = checkpoint->path;
        if (ours)
            ended = *checkpoint;
    }

    std::optional<events::Checkpoint> ended;
    std::string lastSaved;

private:
    std::set<std::string> m_underWay;      // saves that were being made before
};

Error tooLate(CommandKind kind, std::chrono::milliseconds deadline)
{
    const std::string what = kind == CommandKind::Save ? "no checkpoint has been committed" : kind == CommandKind::Stop ? "the run has not ended" : "there is no answer";
    return Error(ExitCode::Other, "run.no-answer", what + " within " + std::to_string(deadline.count() / 1000)
                     + " s; the command was sent and stays in force, follow the run with stagewright-cli attach");
}

} // namespace

Result<CommandOutcome> commandRun(const std::filesystem::path &runFolder, CommandKind kind, StopMode mode, std::chrono::milliseconds deadline)
{
    RunFollower::Options options;
    if (auto lease = runlog::readLease(runFolder))
        options.fromRecord = std::max<std::int64_t>(0, lease->records - 256);      // enough to see a save that is under way
    auto follower = RunFollower::attach(runFolder, options);
    if (!follower)
        return follower.error();
    const double until = steadySeconds() + static_cast<double>(deadline.count()) / 1000;
    CommandOutcome outcome;
    outcome.run = (*follower)->folder();
    SaveWatch save;
    std::int64_t id = -1, takenAt = -1;
    while (true) {
        const double left = until - steadySeconds();
        if (left <= 0)
            return tooLate(kind, deadline);
        const News news = (*follower)->poll(std::chrono::milliseconds(static_cast<std::int64_t>(std::min(left, 0.5) * 1000) + 1));
        if (id < 0 && news.ending && kind != CommandKind::Ping)
            return Error(ExitCode::Other, "run.over", outcome.run.string() + " is over (" + runlog::runStateName(news.ending->state) + "); nothing can be asked of it");
        if (id < 0 && news.connection != Connection::Replaying)
            id = (*follower)->command(kind, mode);
        for (const protocol::Reply &reply : news.replies) {
            if (reply.id != id)
                continue;
            if (reply.error)
                return *reply.error;
            outcome.state = reply.state;
            takenAt = reply.records;
        }
        std::int64_t number = news.first;
        for (const events::Record &record : news.records)
            save.take(number++, record, takenAt);
        outcome.checkpoint = save.lastSaved;
        if (takenAt >= 0 && kind == CommandKind::Ping)
            return outcome;
        if (takenAt >= 0 && kind == CommandKind::Save && save.ended) {
            outcome.checkpoint = save.ended->path;
            if (save.ended->phase == "failed")
                return Error(ExitCode::InputOutput, "checkpoint.save-failed", save.ended->sentence.empty() ? "the save failed" : save.ended->sentence);
            return outcome;
        }
        if (news.ending) {
            outcome.state = runlog::runStateName(news.ending->state);
            const bool obeyed = news.ending->state == RunState::Stopped || news.ending->state == RunState::Finished;
            outcome.exit = obeyed ? 0 : news.ending->exit;
            outcome.sentence = news.ending->sentence;
            return outcome;
        }
    }
}

} // namespace stagewright::client
