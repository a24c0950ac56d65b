#include "core/commands/factories.h"
#include "core/demo/demo_stage.h"

namespace stagewright::commands {

namespace {

class Demo : public Command
{
public:
    std::string_view name() const override { return "demo"; }
    std::string_view arguments() const override { return "DIR"; }
    std::string_view summary() const override { return "make the demo dataset and its stage, DIR/demo.yaml"; }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto made = demo::makeDemoStage(invocation.positionals[0]);
        if (!made)
            return made.error();
        output.object()["files"] = nlohmann::json::array();
        for (const auto &file : made->files)
            output.object()["files"].push_back(file.string());
        output.line(std::to_string(made->files.size()) + " files; train it with: stagewright-cli train " + made->stage.string());
        return ExitCode::Done;
    }
};

} // namespace

std::unique_ptr<Command> makeDemo() { return std::make_unique<Demo>(); }

} // namespace stagewright::commands
