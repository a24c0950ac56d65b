#include "core/ckptfile/resume_plan.h"

#include "core/commands/factories.h"
#include "core/table/buckets.h"

namespace stagewright::commands {

namespace {

class ResumePlan : public Command
{
public:
    std::string_view name() const override { return "resume-plan"; }
    std::string_view arguments() const override { return "CHECKPOINT [CONFIG]"; }
    std::string_view summary() const override { return "what a resume would restore, change or ignore"; }
    std::size_t mostPositionals() const override { return 2; }
    bool takesOverrides() const override { return true; }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        std::optional<config::Stage> stage;
        ckptfile::ResumeSurroundings surroundings;
        if (invocation.positionals.size() == 2) {
            auto opened = openStage(invocation.positionals[1], invocation, output);
            if (!opened)
                return opened.error();
            stage = std::move(*opened);
            surroundings.datasetFingerprint = fingerprintOf(*stage, output);
        }
        auto plan = ckptfile::resumePlan(invocation.positionals[0], stage ? &*stage : nullptr, surroundings);
        if (!plan)
            return plan.error();
        output.problems().insert(output.problems().end(), plan->problems.begin(), plan->problems.end());
        output.object() = ckptfile::toJson(*plan);
        output.line(plan->checkpoint.string());
        for (const ckptfile::ResumeItem &item : plan->items)
            output.line("  " + item.what + ": " + item.inCheckpoint + " | " + item.inConfig + " | " + item.outcome);
        return plan->possible ? ExitCode::Done : ExitCode::Checkpoint;
    }

private:
    // The data that the resumed run would read; what cannot be read is told, and then compared by path only.
    static std::optional<std::string> fingerprintOf(const config::Stage &stage, Output &output)
    {
        if (!stage.isSet("dataset.data_path"))
            return std::nullopt;
        auto fingerprint = table::fingerprint(stage);
        if (fingerprint)
            return *fingerprint;
        Problem problem = fingerprint.error().problem;
        problem.severity = Severity::Warning;
        output.problems().push_back(problem);
        return std::nullopt;
    }
};

} // namespace

std::unique_ptr<Command> makeResumePlan() { return std::make_unique<ResumePlan>(); }

} // namespace stagewright::commands
