#include "core/rehearsal/rehearsal.h"

#include <CLI/CLI.hpp>

#include "core/base/host.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/listing.h"
#include "core/commands/factories.h"
#include "core/commands/stop_signals.h"
#include "core/config/validate.h"

namespace stagewright::commands {

namespace {

constexpr double kTellSeconds = 1;          // between two lines of progress

class Rehearse : public Command
{
public:
    std::string_view name() const override { return "rehearse"; }
    std::string_view arguments() const override { return "CHECKPOINT [CONFIG]"; }
    std::string_view summary() const override { return "stop and resume a few steps in a throw-away folder and prove that nothing differs"; }
    std::size_t mostPositionals() const override { return 2; }
    bool takesOverrides() const override { return true; }

    void declare(CLI::App &app) override
    {
        app.add_option("--steps", m_steps, "Updates between two stops")->check(CLI::PositiveNumber);
        app.add_option("--scratch", m_scratch, "Folder below which the throw-away folder is made (the system's one for temporary files)");
        app.footer("Trains 3 x STEPS updates at a stretch, and again with two stops and resumes. Without CONFIG the checkpoint's own is used. The checkpoint and its run are only read.");
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto stage = stageOf(invocation, output);
        if (!stage)
            return stage.error();
        const Problems problems = config::validate(*stage, config::surroundingsOfThisMachine(*stage));
        if (hasErrors(problems)) {
            output.problems() = problems;
            return ExitCode::Usage;
        }
        StopSignals signals;
        rehearsal::Request request;
        request.checkpoint = invocation.positionals[0];
        request.stage = std::move(*stage);
        request.steps = m_steps;
        request.scratch = m_scratch;
        request.progress = [&, last = std::string(), next = 0.0](const std::string &sentence) mutable {
            if (sentence != last && steadySeconds() >= next) {
                output.message(last = sentence);
                next = steadySeconds() + kTellSeconds;
            }
            return signals.count() == 0;
        };
        auto rehearsed = rehearsal::rehearse(request);
        if (!rehearsed)
            return rehearsed.error();
        output.problems().insert(output.problems().end(), rehearsed->problems.begin(), rehearsed->problems.end());
        output.object() = rehearsal::toJson(*rehearsed);
        print(*rehearsed, output);
        return rehearsed->possible ? ExitCode::Done : ExitCode::Checkpoint;
    }

private:
    // Named, or the one that the checkpoint was saved with; overrides apply to either.
    static Result<config::Stage> stageOf(const Invocation &invocation, Output &output)
    {
        if (invocation.positionals.size() == 2)
            return openStage(invocation.positionals[1], invocation, output);
        auto newest = ckptfile::newestComplete(invocation.positionals[0]);
        if (!newest)
            return newest.error();
        const auto own = newest->path / ckptfile::kConfigFile;
        if (std::error_code ignored; !std::filesystem::exists(own, ignored))
            return Error(ExitCode::Usage, "checkpoint.no-config", newest->path.string() + " holds no config (it was not written by Stagewright); name the stage that should go on from it", newest->path.string());
        return openStage(own.string(), invocation, output);
    }

    static void print(const rehearsal::Rehearsal &rehearsed, const Output &output)
    {
        output.line(rehearsed.checkpoint.string());
        for (const ckptfile::ResumeItem &item : rehearsed.items)
            output.line("  " + item.what + ": " + item.outcome + (item.inCheckpoint == item.inConfig ? " (" + item.inCheckpoint + ")" : " (" + item.inCheckpoint + " | " + item.inConfig + ")"));
        output.line(rehearsed.equal ? "stopped and resumed twice: equal to training on, bit for bit" : "stopped and resumed twice: not equal to training on");
    }

    std::int64_t m_steps = 1;
    std::string m_scratch;
};

} // namespace

std::unique_ptr<Command> makeRehearse() { return std::make_unique<Rehearse>(); }

} // namespace stagewright::commands
