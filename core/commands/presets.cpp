#include "core/config/presets.h"

#include <CLI/CLI.hpp>

#include "core/base/files.h"
#include "core/base/units.h"
#include "core/commands/factories.h"

namespace stagewright::commands {

namespace {

class Presets : public Command
{
public:
    std::string_view name() const override { return "presets"; }
    std::string_view arguments() const override { return "[NAME [CONFIG OUT.yaml]]"; }
    std::string_view summary() const override { return "list presets, show one, or apply one to a stage"; }
    std::size_t fewestPositionals() const override { return 0; }
    std::size_t mostPositionals() const override { return 3; }

    void declare(CLI::App &app) override { app.add_flag("--force", m_force, "Replace OUT if it exists"); }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        const auto &arguments = invocation.positionals;
        if (arguments.empty())
            return list(output);
        auto preset = config::findPreset(arguments[0]);
        if (!preset)
            return preset.error();
        if (arguments.size() == 1) {
            output.object()["preset"] = describe(*preset);
            output.object()["config"] = config::toJson(config::Value::dict(preset->values));
            output.line(preset->titleEn + "\n" + preset->helpEn + "\n\n" + config::toYaml(preset->values));
            return ExitCode::Done;
        }
        if (arguments.size() == 2)
            return Error(ExitCode::Usage, "run.command-line", "where should the stage with the preset go? presets " + arguments[0] + " " + arguments[1] + " OUT.yaml");
        return apply(*preset, invocation, output);
    }

private:
    static nlohmann::json describe(const config::Preset &preset)
    {
        return {{"id", preset.id}, {"title", preset.titleEn}, {"help", preset.helpEn}, {"vram_gib", preset.vramGiB}, {"file", preset.file.string()}};
    }

    static Result<ExitCode> list(Output &output)
    {
        auto found = nlohmann::json::array();
        for (const config::Preset &preset : config::presets(&output.problems())) {
            found.push_back(describe(preset));
            output.line(preset.id + "    " + preset.titleEn);
        }
        output.object()["presets"] = std::move(found);
        return ExitCode::Done;
    }

    Result<ExitCode> apply(const config::Preset &preset, const Invocation &invocation, Output &output) const
    {
        auto stage = openStage(invocation.positionals[1], invocation, output);
        if (!stage)
            return stage.error();
        const Problems problems = config::applyPreset(*stage, preset);
        output.problems().insert(output.problems().end(), problems.begin(), problems.end());
        const std::filesystem::path out = invocation.positionals[2];
        std::error_code ignored;
        if (!m_force && std::filesystem::exists(out, ignored))
            return Error(ExitCode::Usage, "run.file-exists", out.string() + " exists; --force replaces it", out.string());
        if (auto written = replaceFile(out, config::toYaml(stage->values())); !written)
            return written.error();
        output.object()["files"] = {out.string()};
        output.line(out.string());
        return ExitCode::Done;
    }

    bool m_force = false;
};

} // namespace

std::unique_ptr<Command> makePresets() { return std::make_unique<Presets>(); }

} // namespace stagewright::commands
