#include <CLI/CLI.hpp>

#include <algorithm>

#include "core/commands/factories.h"
#include "core/commands/follow.h"
#include "core/commands/report.h"
#include "core/config/validate.h"

namespace stagewright::commands {

namespace {

// First signal: finish the step, save, stop. Second: at once.
bool stopOnSignal(client::RunFollower &follower, int count)
{
    follower.command(client::CommandKind::Stop, count == 1 ? client::StopMode::SaveAndStop : client::StopMode::Now);
    return false;
}

class Train : public Command
{
public:
    std::string_view name() const override { return "train"; }
    std::string_view arguments() const override { return "CONFIG"; }
    std::string_view summary() const override { return "train a stage in a worker process and watch it"; }
    bool takesOverrides() const override { return true; }

    void declare(CLI::App &app) override
    {
        app.add_flag("--detach", m_detach, "Start the worker, print its run folder and return");
        app.add_flag("--report", m_report, "Leave report.html in the run folder at the end");
        app.footer("--load PATH|GLOB resumes: the newest complete checkpoint that matches. Ctrl-C stops after the step, with a save; twice: at once.");
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto exit = launchAndFollow(invocation, output);
        // A stream that ends before it began still has its last line.
        if (!exit && output.isJson()) {
            output.problems().push_back(exit.error().problem);
            FollowOutcome outcome;
            outcome.summary.exit = static_cast<int>(exit.error().exit);
            outcome.sentence = exit.error().message();
            printSummary(outcome, name(), output);
            return exit.error().exit;
        }
        return exit;
    }

private:
    Result<ExitCode> launchAndFollow(const Invocation &invocation, Output &output)
    {
        auto stage = config::loadStage(invocation.positionals[0], invocation.overrides);
        if (!stage)
            return stage.error();
        output.problems() = config::validate(*stage, config::surroundingsOfThisMachine(*stage));
        if (hasErrors(output.problems()))
            return refuse(output);
        client::LaunchRequest request;
        request.stage = std::move(*stage);
        request.stageFile = invocation.positionals[0];
        request.detach = m_detach;
        auto run = client::launch(request);
        if (!run)
            return run.error();
        if (m_detach) {
            output.object()["run"] = run->folder.string();
            output.object()["pid"] = run->pid;
            output.line(run->folder.string());
            return ExitCode::Done;
        }
        auto follower = client::RunFollower::follow(*run);
        if (!follower)
            return follower.error();
        const FollowOutcome outcome = followRun(**follower, output, stopOnSignal);
        if (m_report)
            leaveReport(run->folder, output);
        printSummary(outcome, name(), output);
        return static_cast<ExitCode>(outcome.summary.exit);
    }

    Result<ExitCode> refuse(Output &output) const
    {
        if (output.isJson()) {
            FollowOutcome outcome;
            outcome.summary.exit = static_cast<int>(exitOf(output.problems()));
            printSummary(outcome, name(), output);
        }
        return exitOf(output.problems());
    }

    // The code of what stands in the way: data or checkpoint where nothing else is wrong, otherwise the config.
    static ExitCode exitOf(const Problems &problems)
    {
        const auto all = [&](std::string_view group) {
            return std::all_of(problems.begin(), problems.end(),
                               [&](const Problem &p) { return p.severity != Severity::Error || p.code.starts_with(group); });
        };
        return all("data.") ? ExitCode::Data : all("checkpoint.") ? ExitCode::Checkpoint : ExitCode::Usage;
    }

    static void leaveReport(const std::filesystem::path &run, Output &output)
    {
        if (auto written = writeReport(run, run / "report.html"); written)
            output.line("report: " + (run / "report.html").string());
        else
            output.problems().push_back(written.error().problem);
    }

    bool m_detach = false, m_report = false;
};

} // namespace

std::unique_ptr<Command> makeTrain() { return std::make_unique<Train>(); }

} // namespace stagewright::commands
