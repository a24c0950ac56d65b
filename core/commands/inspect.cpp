#include "core/ckptfile/inspect.h"

#include <CLI/CLI.hpp>

#include "core/base/units.h"
#include "core/commands/factories.h"

namespace stagewright::commands {

namespace {

class Inspect : public Command
{
public:
    std::string_view name() const override { return "inspect"; }
    std::string_view arguments() const override { return "PATH"; }
    std::string_view summary() const override { return "what a checkpoint, run folder or weights file holds, and whether it is whole"; }
    void declare(CLI::App &app) override { app.add_flag("--verify", m_verify, "Read every byte and compare hashes"); }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        ckptfile::InspectOptions options;
        options.readEverything = m_verify;
        auto found = ckptfile::inspect(invocation.positionals[0], options);
        if (!found)
            return found.error();
        output.problems() = found->problems;
        output.object() = ckptfile::toJson(*found);
        output.line(found->path.string() + ": " + ckptfile::kindName(found->kind) + ", " + ckptfile::badgeName(found->badge) + ", "
                    + formatCount(found->tensors) + " tensors, " + formatBytes(static_cast<double>(found->bytes))
                    + (found->step ? ", step " + std::to_string(*found->step) : "") + (found->epoch ? ", epoch " + std::to_string(*found->epoch) : ""));
        for (const ckptfile::InspectedFile &file : found->files)
            output.line("  " + file.path + "  " + formatBytes(static_cast<double>(file.bytes)) + "  " + ckptfile::stateName(file.state)
                        + (file.sentence.empty() ? "" : ": " + file.sentence));
        for (const auto &checkpoint : found->checkpoints)
            output.line("  " + checkpoint.string());
        const bool broken = found->kind != ckptfile::PathKind::Run && (!found->complete || hasErrors(found->problems));
        return broken ? ExitCode::Checkpoint : ExitCode::Done;
    }

private:
    bool m_verify = false;
};

} // namespace

std::unique_ptr<Command> makeInspect() { return std::make_unique<Inspect>(); }

} // namespace stagewright::commands
