#include <CLI/CLI.hpp>

#include "core/commands/factories.h"
#include "core/config/option.h"
#include "core/config/validate.h"

namespace stagewright::commands {

namespace {

class Show : public Command
{
public:
    std::string_view name() const override { return "show"; }
    std::string_view arguments() const override { return "CONFIG"; }
    std::string_view summary() const override { return "print the resolved stage; --origin: and where each value came from"; }
    bool takesOverrides() const override { return true; }

    void declare(CLI::App &app) override { app.add_flag("--origin", m_origin, "Also say for each value which file and line, or which layer, set it"); }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        auto stage = openStage(invocation.positionals[0], invocation, output);
        if (!stage)
            return stage.error();
        output.object()["config"] = config::toJson(config::Value::dict(stage->values()));
        const nlohmann::json origins = config::originsJson(*stage);
        if (m_origin)
            output.object()["origins"] = origins;
        if (!m_origin) {
            output.line(config::toYaml(stage->values()));
        } else {
            for (const auto &[path, origin] : origins.items())
                output.line(originLine(*stage, path, origin));
        }
        return hasErrors(output.problems()) ? ExitCode::Usage : ExitCode::Done;
    }

private:
    static std::string originLine(const config::Stage &stage, const std::string &path, const nlohmann::json &origin)
    {
        const config::Value *value = config::lookUp(stage.values(), path);
        if (!value && config::findOption(path))
            value = &stage.at(path);
        std::string where = origin.value("kind", "");
        if (const std::string file = origin.value("file", ""); !file.empty())
            where += " " + file + ":" + std::to_string(origin.value("line", 0));
        return path + " = " + (value ? config::toPython(*value) : "None") + "    # " + where;
    }

    bool m_origin = false;
};

} // namespace

std::unique_ptr<Command> makeShow() { return std::make_unique<Show>(); }

} // namespace stagewright::commands
