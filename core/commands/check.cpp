#include <CLI/CLI.hpp>

#include "core/base/files.h"
#include "core/commands/config_fix.h"
#include "core/commands/factories.h"
#include "core/commands/plan_question.h"
#include "core/commands/table_columns.h"
#include "core/config/validate.h"

namespace stagewright::commands {

namespace {

class Check : public Command
{
public:
    std::string_view name() const override { return "check"; }
    std::string_view arguments() const override { return "CONFIG…"; }
    std::string_view summary() const override { return "say what is wrong with a stage before it is launched"; }
    std::size_t mostPositionals() const override { return 1000; }
    bool takesOverrides() const override { return true; }

    void declare(CLI::App &app) override
    {
        app.add_flag("--fix", m_fix, "Show the edits that would mend what has one answer");
        app.add_option("--fit-device", m_device, "Also check that every bucket fits: a GPU's name, cpu, or a GPU's memory in GiB");
        app.add_flag("--write", m_write, "With --fix: make the edits in the files");
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        if (m_write && !m_fix)
            return Error(ExitCode::Usage, "run.command-line", "--write needs --fix: check --fix --write CONFIG");
        output.object()["files"] = nlohmann::json::array();
        for (const std::string &file : invocation.positionals) {
            if (auto status = checkFile(file, invocation, output); !status)
                return status.error();
        }
        const Problems &problems = output.problems();
        const bool wrong = hasErrors(problems);
        output.line(problems.empty() ? "no problems" : std::to_string(problems.size()) + (problems.size() == 1 ? " problem" : " problems")
                                                           + (wrong ? "" : ", none of them an error"));
        return wrong ? ExitCode::Usage : ExitCode::Done;
    }

private:
    Status checkFile(const std::string &file, const Invocation &invocation, Output &output)
    {
        auto stage = config::loadStage(file, invocation.overrides);
        if (!stage)
            return stage.error();
        Problems problems = problemsOf(*stage);
        if (m_fix) {
            if (auto status = fix(problems, file, output); !status)
                return status;
            if (m_write) {
                // What is left is what counts.
                stage = config::loadStage(file, invocation.overrides);
                if (!stage)
                    return stage.error();
                problems = problemsOf(*stage);
            }
        }
        output.problems().insert(output.problems().end(), problems.begin(), problems.end());
        if (!m_device.empty())
            return checkFit(*stage, output);
        return Done{};
    }

    static Problems problemsOf(const config::Stage &stage)
    {
        Problems problems = config::validate(stage, config::surroundingsOfThisMachine(stage));
        if (const auto lacking = columnProblem(stage))
            problems.insert(problems.begin(), *lacking);
        return problems;
    }

    Status fix(const Problems &problems, const std::string &file, Output &output)
    {
        auto fixed = applyFixes(problems, file);
        if (!fixed)
            return fixed.error();
        for (const FixedFile &changed : fixed->files) {
            output.object()["files"].push_back(changed.file.string());
            for (const std::string &title : changed.titles)
                output.line(changed.file.string() + ": " + title);
            if (m_write) {
                if (auto written = replaceFile(changed.file, changed.text); !written)
                    return written;
            }
        }
        for (const Problem &problem : fixed->unfixed)
            output.message(oneLine(problem));
        return Done{};
    }

    // A stage that is wrong otherwise cannot be planned, and is not asked about.
    Status checkFit(const config::Stage &stage, Output &output)
    {
        if (hasErrors(output.problems()))
            return Done{};
        auto answer = askPlanner(m_planner, stage, PlanFlags{.device = m_device}.request("plan"));
        if (!answer)
            return answer.error();
        Problems &problems = output.problems();
        problems.insert(problems.end(), answer->notes.begin(), answer->notes.end());
        if (answer->plan) {
            const Problems found = unfitting(*answer->plan, stage);
            problems.insert(problems.end(), found.begin(), found.end());
        }
        return Done{};
    }

    bool m_fix = false, m_write = false;
    std::string m_device;
    client::PlanHelper m_planner;
};

} // namespace

std::unique_ptr<Command> makeCheck() { return std::make_unique<Check>(); }

} // namespace stagewright::commands
