#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "core/base/units.h"
#include "core/commands/factories.h"
#include "core/commands/plan_question.h"

namespace stagewright::commands {

namespace {

class Fit : public Command
{
public:
    std::string_view name() const override { return "fit"; }
    std::string_view arguments() const override { return "CONFIG --vary KEY…"; }
    std::string_view summary() const override { return "find the fastest values that fit, and what stopped the next faster ones"; }
    std::size_t mostPositionals() const override { return 20; }
    bool takesOverrides() const override { return true; }

    void declare(CLI::App &app) override
    {
        m_flags.declareVary(app, "Option to choose a value for; several: --vary A --vary B. KEY=v1,v2 limits the values")->required();
        m_flags.declare(app, "Device to fit");
        app.footer("step_time_relative: estimated time a sample, against the stage as it is. Nothing fits: exit code 5.");
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        const auto asked = planned("fit", m_flags, invocation, output);
        if (!asked)
            return asked.error();
        if (!asked->answer.fit)
            return Error(ExitCode::Other, "memory.planner-lost", "the planning helper's answer holds no values; reinstall or rebuild Stagewright");
        const auto &fit = *asked->answer.fit;
        auto &object = output.object();
        object["values"] = valuesJson(fit.values);
        object["peak_bytes"] = fit.peakBytes;
        object["step_seconds"] = fit.stepSeconds;
        object["step_time_relative"] = fit.stepTimeRelative;
        object["sentence"] = fit.sentence;
        object["tried"] = fit.tried;
        object["stopped_by"] = nullptr;
        if (!fit.stoppedBy.empty())
            object["stopped_by"] = {{"values", valuesJson(fit.stoppedBy)}, {"bucket", fit.stoppedByBucket}, {"peak_bytes", fit.stoppedByPeakBytes}};
        for (const auto &value : fit.values)
            output.line(value.path + " = " + value.text);
        output.line(fmt::format("peak {}, {:.2f} times the time a sample of the stage as it is", formatBytes(static_cast<double>(fit.peakBytes)), fit.stepTimeRelative));
        output.line(fit.sentence);
        return ExitCode::Done;
    }

private:
    PlanFlags m_flags;
};

} // namespace

std::unique_ptr<Command> makeFit() { return std::make_unique<Fit>(); }

} // namespace stagewright::commands
