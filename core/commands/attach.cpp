#include <CLI/CLI.hpp>

#include "core/commands/factories.h"
#include "core/commands/follow.h"

namespace stagewright::commands {

namespace {

class Attach : public Command
{
public:
    std::string_view name() const override { return "attach"; }
    std::string_view arguments() const override { return "RUN"; }
    std::string_view summary() const override { return "watch a run from its first record on; Ctrl-C detaches and the run goes on"; }
    void declare(CLI::App &app) override { app.add_option("--outputs", m_outputs, "Folder in which runs are named (outputs)"); }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto folder = client::findRun(invocation.positionals[0], m_outputs);
        if (!folder)
            return folder.error();
        auto follower = client::RunFollower::attach(*folder);
        if (!follower)
            return follower.error();
        const FollowOutcome outcome = followRun(**follower, output, [](client::RunFollower &, int) { return true; });
        if (outcome.detached)
            output.message("detached; the run goes on");
        printSummary(outcome, name(), output);
        return static_cast<ExitCode>(outcome.summary.exit);
    }

private:
    std::string m_outputs = "outputs";
};

} // namespace

std::unique_ptr<Command> makeAttach() { return std::make_unique<Attach>(); }

} // namespace stagewright::commands
