#include <CLI/CLI.hpp>

#include "core/base/units.h"
#include "core/ckptfile/leftovers.h"
#include "core/client/client.h"
#include "core/commands/factories.h"

namespace stagewright::commands {

namespace {

class Clean : public Command
{
public:
    std::string_view name() const override { return "clean"; }
    std::string_view arguments() const override { return "RUN"; }
    std::string_view summary() const override { return "list, and with --write remove, what a crash left in a run folder"; }

    void declare(CLI::App &app) override
    {
        app.add_flag("--write", m_write, "Remove them, or put back what is the only whole copy");
        app.add_option("--outputs", m_outputs, "Folder in which runs are named (outputs)");
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto folder = folderNamed(invocation.positionals[0]);
        if (!folder)
            return folder.error();
        auto leftovers = ckptfile::findLeftovers(*folder);
        if (!leftovers)
            return leftovers.error();
        auto list = nlohmann::json::array();
        for (const ckptfile::Leftover &leftover : *leftovers) {
            list.push_back({{"path", leftover.path.string()}, {"kind", ckptfile::leftoverName(leftover.kind)}, {"bytes", leftover.bytes}, {"alive", leftover.alive}});
            output.line(leftover.path.string() + "  " + formatBytes(static_cast<double>(leftover.bytes)) + "  " + leftover.sentence);
        }
        output.object()["leftovers"] = std::move(list);
        if (leftovers->empty())
            output.line("nothing is left over");
        if (m_write) {
            auto cleaned = ckptfile::cleanLeftovers(*leftovers);
            if (!cleaned)
                return cleaned.error();
            output.object()["removed"] = nlohmann::json::array();
            for (const auto &path : *cleaned)
                output.object()["removed"].push_back(path.string());
        }
        return ExitCode::Done;
    }

private:
    // Checkpoints that were copied away from their run leave their leftovers in any folder.
    Result<std::filesystem::path> folderNamed(const std::string &named) const
    {
        auto run = client::findRun(named, m_outputs);
        std::error_code ignored;
        if (!run && std::filesystem::is_directory(named, ignored))
            return std::filesystem::path(named);
        return run;
    }

    bool m_write = false;
    std::string m_outputs = "outputs";
};

} // namespace

std::unique_ptr<Command> makeClean() { return std::make_unique<Clean>(); }

} // namespace stagewright::commands
