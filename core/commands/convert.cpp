#include "core/config/convert.h"

#include <CLI/CLI.hpp>

#include "core/base/files.h"
#include "core/commands/factories.h"

namespace stagewright::commands {

namespace {

class Convert : public Command
{
public:
    std::string_view name() const override { return "convert"; }
    std::string_view arguments() const override { return "IN OUT"; }
    std::string_view summary() const override { return "between Open-Sora's .py and .yaml, with comments and order"; }
    std::size_t fewestPositionals() const override { return 2; }

    void declare(CLI::App &app) override
    {
        auto *bases = app.add_flag("--bases", m_bases, "Convert the files of _base_ as well, beside OUT");
        app.add_flag("--flatten", m_flatten, "Write the values of _base_ into OUT")->excludes(bases);
        app.add_flag("--force", m_force, "Replace files that exist");
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        const auto bases = m_bases ? config::Bases::ConvertToo : m_flatten ? config::Bases::Flatten : config::Bases::KeepIfConverted;
        auto conversion = config::convert(invocation.positionals[0], invocation.positionals[1], bases);
        if (!conversion)
            return conversion.error();
        for (const auto &file : conversion->files) {
            std::error_code ignored;
            if (!m_force && std::filesystem::exists(file.path, ignored))
                return Error(ExitCode::Usage, "run.file-exists", file.path.string() + " exists; --force replaces it", file.path.string());
        }
        output.object()["files"] = nlohmann::json::array();
        for (const auto &file : conversion->files) {
            if (file.path.has_parent_path()) {
                if (auto made = ensureFolder(file.path.parent_path()); !made)
                    return made.error();
            }
            if (auto written = replaceFile(file.path, file.text); !written)
                return written.error();
            output.object()["files"].push_back(file.path.string());
            output.line(file.path.string());
        }
        for (const std::string &note : conversion->notes)
            output.problems().push_back({Severity::Hint, "config.converted", "", note, invocation.positionals[0], 0, 0, {}});
        return ExitCode::Done;
    }

private:
    bool m_bases = false, m_flatten = false, m_force = false;
};

} // namespace

std::unique_ptr<Command> makeConvert() { return std::make_unique<Convert>(); }

} // namespace stagewright::commands
