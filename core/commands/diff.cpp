#include "core/config/diff.h"
#include "core/commands/factories.h"

namespace stagewright::commands {

namespace {

class Diff : public Command
{
public:
    std::string_view name() const override { return "diff"; }
    std::string_view arguments() const override { return "A B"; }
    std::string_view summary() const override { return "what differs between two stages, option by option"; }
    std::size_t fewestPositionals() const override { return 2; }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto a = openStage(invocation.positionals[0], invocation, output);
        if (!a)
            return a.error();
        auto b = openStage(invocation.positionals[1], invocation, output);
        if (!b)
            return b.error();
        auto changes = nlohmann::json::array();
        for (const config::Change &change : config::diff(*a, *b)) {
            changes.push_back({{"path", change.path},
                               {"a", change.a ? config::toJson(*change.a) : nlohmann::json()},
                               {"b", change.b ? config::toJson(*change.b) : nlohmann::json()}});
            output.line(change.path + ": " + (change.a ? config::toPython(*change.a) : "—") + " → " + (change.b ? config::toPython(*change.b) : "—"));
        }
        if (changes.empty())
            output.line("no difference");
        output.object()["changes"] = std::move(changes);
        return ExitCode::Done;
    }
};

} // namespace

std::unique_ptr<Command> makeDiff() { return std::make_unique<Diff>(); }

} // namespace stagewright::commands
