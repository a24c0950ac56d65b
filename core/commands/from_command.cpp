#include "core/config/from_command.h"

#include "core/commands/factories.h"

namespace stagewright::commands {

namespace {

class FromCommandLine : public Command
{
public:
    std::string_view name() const override { return "from-command"; }
    std::string_view arguments() const override { return "\"torchrun … train.py CONFIG …\""; }
    std::string_view summary() const override { return "what a pasted training command of the Python projects stands for"; }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto found = config::fromCommand(invocation.positionals[0]);
        if (!found)
            return found.error();
        output.object()["config"] = found->config ? nlohmann::json(found->config->string()) : nlohmann::json();
        output.object()["program"] = found->program;
        output.line("config: " + (found->config ? found->config->string() : "none: this project has only flags"));
        tellOverrides(*found, output);
        tellLaunch(found->launch, output);
        auto notes = nlohmann::json::array();
        for (const config::FlagNote &note : found->notes) {
            notes.push_back({{"flag", note.flag}, {"became", note.became}, {"applied", note.applied}});
            output.line("  " + note.flag + " → " + note.became);
        }
        output.object()["notes"] = std::move(notes);
        return ExitCode::Done;
    }

private:
    static void tellOverrides(const config::FromCommand &found, Output &output)
    {
        auto overrides = nlohmann::json::array();
        for (const config::Override &override : found.overrides) {
            overrides.push_back({{"path", override.path}, {"value", override.text}});
            output.line("  --" + override.path + " " + override.text);
        }
        output.object()["overrides"] = std::move(overrides);
    }

    static void tellLaunch(const config::LaunchSettings &launch, Output &output)
    {
        auto environment = nlohmann::json::object();
        for (const auto &[name, value] : launch.environment)
            environment[name] = value;
        output.object()["launch"] = {{"nproc", launch.nproc}, {"nodes", launch.nodes}, {"node_rank", launch.nodeRank},
                                     {"master_addr", launch.masterAddress}, {"master_port", launch.masterPort}, {"hostfile", launch.hostFile},
                                     {"environment", environment}};
        output.line("processes: " + std::to_string(launch.nproc) + " on each of " + std::to_string(launch.nodes) + (launch.nodes == 1 ? " machine" : " machines"));
    }
};

} // namespace

std::unique_ptr<Command> makeFromCommand() { return std::make_unique<FromCommandLine>(); }

} // namespace stagewright::commands
