#include "core/commands/follow.h"

#include <algorithm>

#include "core/base/host.h"
#include "core/base/priority.h"
#include "core/base/units.h"
#include "core/commands/step_line.h"
#include "core/commands/stop_signals.h"

namespace stagewright::commands {

namespace {

constexpr auto kPoll = std::chrono::milliseconds(100);

// Puts together what a worker that died could no longer say.
class Tally
{
public:
    void take(const events::Record &record)
    {
        if (m_began == 0)
            m_began = record.time;
        m_last = std::max(m_last, record.time);
        if (const auto *summary = std::get_if<events::Summary>(&record.payload)) {
            m_summary = *summary;
            m_told = true;
        } else if (const auto *step = std::get_if<events::Step>(&record.payload); step && !m_told) {
            ++m_summary.steps;
            m_summary.loss = step->loss;
            m_summary.peakBytes = std::max(m_summary.peakBytes, step->peakBytes);
        } else if (const auto *save = std::get_if<events::Checkpoint>(&record.payload); save && !m_told && save->phase == "done") {
            m_summary.checkpoints.push_back({save->path, save->totalBytes, save->blockedSeconds, save->seconds});
        }
    }
    events::Summary summary(const client::RunFollower &follower, int exit) const
    {
        events::Summary summary = m_summary;
        if (!m_told) {
            summary.run = follower.folder().string();
            summary.seconds = m_last - m_began;
        }
        summary.exit = exit;
        return summary;
    }

private:
    events::Summary m_summary;
    bool m_told = false;
    double m_began = 0, m_last = 0;
};

} // namespace

FollowOutcome followRun(client::RunFollower &follower, Output &output, const std::function<bool(client::RunFollower &, int)> &onSignal)
{
    giveWay(kViewerNiceness);                              // the training threads go first
    StopSignals signals;
    RunDisplay display(output.isJson() ? RunDisplay::Style::Silent : RunDisplay::styleForTerminal());
    Tally tally;
    FollowOutcome outcome;
    int signalsSeen = 0;
    bool wasSilent = false;
    for (;;) {
        const client::News news = follower.poll(kPoll);
        for (const events::Record &record : news.records) {
            tally.take(record);
            // The summary closes the stream, with the exit code that only the end knows.
            if (output.isJson() && !std::holds_alternative<events::Summary>(record.payload))
                output.streamLine(events::toJsonLine(record));
            display.show(record);
        }
        for (const std::string &notice : news.notices)
            output.isJson() ? output.message(notice) : display.say(notice);
        for (const auto &reply : news.replies) {
            if (reply.error)
                output.isJson() ? output.message(reply.error->message()) : display.say(reply.error->message());
        }
        if (news.silent && !wasSilent)
            display.say("the worker has given no sign of life for a while; it may be busy with a very long step, or stopped");
        wasSilent = news.silent;
        display.refresh();
        if (news.ending) {
            outcome.summary = tally.summary(follower, news.ending->exit);
            outcome.sentence = news.ending->sentence;
            return outcome;
        }
        if (const int count = signals.count(); count > signalsSeen) {
            signalsSeen = count;
            if (onSignal(follower, count)) {
                outcome.summary = tally.summary(follower, 0);
                outcome.detached = true;
                return outcome;
            }
            if (!output.isJson())
                display.say(count == 1 ? "stopping after this step, with a save; press Ctrl-C again to stop at once" : "stopping at once");
        }
    }
}

void printSummary(const FollowOutcome &outcome, std::string_view command, Output &output)
{
    if (output.isJson()) {
        events::Record record{wallSeconds(), -1, outcome.summary};
        auto line = nlohmann::json::parse(events::toJsonLine(record));
        line["command"] = command;
        line["problems"] = toJson(output.problems());
        if (!outcome.sentence.empty())
            line["sentence"] = outcome.sentence;
        output.streamObject(line);
        output.setStreams();
        return;
    }
    const events::Summary &summary = outcome.summary;
    if (!outcome.sentence.empty())
        output.message(outcome.sentence);
    if (summary.steps == 0)
        output.line("no step was made");
    else
        output.line(std::to_string(summary.steps) + (summary.steps == 1 ? " step in " : " steps in ") + formatDuration(summary.seconds) + ", last loss "
                    + formatNumber(summary.loss) + ", peak " + formatBytes(static_cast<double>(summary.peakBytes)));
    if (!summary.checkpoints.empty())
        output.line("newest checkpoint: " + summary.checkpoints.back().path);
    output.line("run folder: " + summary.run);
}

} // namespace stagewright::commands
