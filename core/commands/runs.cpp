#include <CLI/CLI.hpp>

#include <ctime>

#include "core/client/client.h"
#include "core/commands/factories.h"

namespace stagewright::commands {

namespace {

class Runs : public Command
{
public:
    std::string_view name() const override { return "runs"; }
    std::string_view arguments() const override { return "[DIR]"; }
    std::string_view summary() const override { return "list the runs in an outputs folder, newest first"; }
    std::size_t fewestPositionals() const override { return 0; }
    std::size_t mostPositionals() const override { return 1; }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto found = client::listRuns(invocation.positionals.empty() ? "outputs" : invocation.positionals[0]);
        if (!found)
            return found.error();
        auto runs = nlohmann::json::array();
        for (const client::RunListing &run : *found) {
            const std::string state = runlog::runStateName(run.state);
            runs.push_back({{"path", run.folder.string()}, {"state", state}, {"step", run.step}, {"pid", run.pid}, {"started", run.started}});
            output.line(startedText(run.started) + "  " + state + std::string(state.size() < 9 ? 9 - state.size() : 0, ' ') + "  step "
                        + (run.step < 0 ? "—" : std::to_string(run.step)) + "  " + run.folder.string() + (run.sentence.empty() ? "" : "  (" + run.sentence + ")"));
        }
        if (found->empty())
            output.line("no runs here; stagewright-cli train CONFIG starts one");
        output.object()["runs"] = std::move(runs);
        return ExitCode::Done;
    }

private:
    static std::string startedText(double seconds)
    {
        const auto whole = static_cast<std::time_t>(seconds);
        std::tm local{};
        localtime_r(&whole, &local);
        char text[32];
        std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
        return text;
    }
};

// save and stop: one command to a run, waited for until it is done.
class CommandRun : public Command
{
public:
    explicit CommandRun(client::CommandKind kind) : m_kind(kind) {}
    std::string_view name() const override { return m_kind == client::CommandKind::Save ? "save" : "stop"; }
    std::string_view arguments() const override { return "RUN"; }
    std::string_view summary() const override
    {
        return m_kind == client::CommandKind::Save ? "save a checkpoint of a run now" : "stop a run after its step, with a save";
    }

    void declare(CLI::App &app) override
    {
        app.add_option("--outputs", m_outputs, "Folder in which runs are named (outputs)");
        app.add_option("--timeout", m_seconds, "How long to wait for it, in seconds (600)")->check(CLI::PositiveNumber);
        if (m_kind == client::CommandKind::Stop) {
            auto *noSave = app.add_flag("--no-save", m_noSave, "Finish the step, do not save");
            app.add_flag("--now", m_now, "End at once")->excludes(noSave);
        }
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto folder = client::findRun(invocation.positionals[0], m_outputs);
        if (!folder)
            return folder.error();
        const auto mode = m_now ? client::StopMode::Now : m_noSave ? client::StopMode::WithoutSaving : client::StopMode::SaveAndStop;
        auto done = client::commandRun(*folder, m_kind, mode, std::chrono::milliseconds(static_cast<std::int64_t>(m_seconds * 1000)));
        if (!done)
            return done.error();
        output.object()["run"] = done->run.string();
        output.object()["state"] = done->state;
        output.object()["checkpoint"] = done->checkpoint.empty() ? nlohmann::json() : nlohmann::json(done->checkpoint);
        output.line(done->run.string() + ": " + done->state + (done->checkpoint.empty() ? "" : ", saved " + done->checkpoint));
        if (!done->sentence.empty())
            output.message(done->sentence);
        return static_cast<ExitCode>(done->exit);
    }

private:
    client::CommandKind m_kind;
    std::string m_outputs = "outputs";
    double m_seconds = 600;
    bool m_noSave = false, m_now = false;
};

} // namespace

std::unique_ptr<Command> makeRuns() { return std::make_unique<Runs>(); }
std::unique_ptr<Command> makeSave() { return std::make_unique<CommandRun>(client::CommandKind::Save); }
std::unique_ptr<Command> makeStop() { return std::make_unique<CommandRun>(client::CommandKind::Stop); }

} // namespace stagewright::commands
