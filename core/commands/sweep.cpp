#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "core/base/units.h"
#include "core/client/probe_run.h"
#include "core/commands/factories.h"
#include "core/commands/plan_question.h"
#include "core/commands/stop_signals.h"
#include "core/commands/technique_table.h"
#include "core/config/bucket_table.h"
#include "core/config/overrides.h"

namespace stagewright::commands {

namespace {

constexpr std::int64_t kMostMeasured = 500;            // short runs of seconds each
constexpr double kDeadlineSeconds = 300;               // of one

nlohmann::json pointJson(const events::PlannedPoint &point)
{
    nlohmann::json predicted;
    if (point.sentence.empty())
        predicted = {{"peak_bytes", point.peakBytes}, {"step_seconds", point.stepSeconds}, {"fits", point.fits}};
    nlohmann::json json{{"values", valuesJson(point.values)}, {"predicted", std::move(predicted)}, {"measured", nullptr}};
    if (!point.sentence.empty())
        json["sentence"] = point.sentence;
    return json;
}

class Sweep : public Command
{
public:
    std::string_view name() const override { return "sweep"; }
    std::string_view arguments() const override { return "CONFIG --vary KEY=v1,v2… | CONFIG --techniques"; }
    std::string_view summary() const override { return "predict, or measure, memory and step time against settings"; }
    std::size_t mostPositionals() const override { return 20; }
    bool takesOverrides() const override { return true; }

    void declare(CLI::App &app) override
    {
        m_flags.declareVary(app, "Option and its values; tuples are one value: model.grad_ckpt_settings=(0,0),(8,100). Several options: all combinations");
        m_flags.declare(app, "Device to plan for");
        m_flags.declareBucket(app);
        app.add_flag("--measure", m_measure, "Also train a few updates of every point in a worker that is thrown away; running out of memory is a result");
        app.add_option("--updates", m_updates, "With --measure: updates a point, beside the first (5)")->check(CLI::Range(1, 1000));
        app.add_flag("--techniques", m_techniques, "Instead of --vary: checkpointing of no, half and all blocks, their inputs in host memory, bf16, half the batch, and all combinations, of one bucket (--bucket; the largest)");
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        const bool varies = !m_flags.vary.empty() || invocation.positionals.size() > 1;
        if (m_techniques == varies)
            return Error(ExitCode::Usage, "run.command-line", varies ? "--techniques has its own points: leave --vary away" : "sweep needs --vary KEY=v1,v2… or --techniques");
        auto exit = m_techniques ? sweepTechniques(invocation, output) : sweepAll(invocation, output);
        if (m_measure && output.isJson()) {                    // a stream that ends early still has its last line
            if (!exit)
                output.problems().push_back(exit.error().problem);
            closeStream(exit ? static_cast<int>(*exit) : static_cast<int>(exit.error().exit), output);
            return exit ? *exit : exit.error().exit;
        }
        return exit;
    }

private:
    Result<ExitCode> sweepAll(const Invocation &invocation, Output &output)
    {
        const auto asked = planned("sweep", m_flags, invocation, output);
        if (!asked)
            return asked.error();
        const auto &points = asked->answer.points;
        m_points = nlohmann::json::array();
        for (const auto &point : points)
            m_points.push_back(pointJson(point));
        if (m_measure) {
            if (auto measured = measureAll(asked->stage, points, output); !measured)
                return measured.error();
        }
        output.object()["points"] = m_points;
        for (std::size_t i = 0; i < points.size(); ++i)
            print(points[i], m_points[i]["measured"], output);
        return ExitCode::Done;
    }

    Status measureAll(const config::Stage &stage, const std::vector<events::PlannedPoint> &points, Output &output)
    {
        if (static_cast<std::int64_t>(points.size()) > kMostMeasured) {
            return Error(ExitCode::Usage, "memory.too-many-points", std::to_string(points.size()) + " points would be as many short runs: measure at most " + std::to_string(kMostMeasured) +
                         " at a time");
        }
        m_signals.emplace();
        const config::Stage asked = config::withOnlyBucket(stage, m_flags.bucket);
        for (std::size_t i = 0; i < points.size(); ++i) {
            std::vector<config::Override> overrides;
            for (const auto &value : points[i].values)
                overrides.push_back({value.path, value.text});
            const auto changed = config::overridden(asked, overrides);
            auto outcome = changed ? measure(*changed) : Result<client::ProbeOutcome>(client::ProbeOutcome{.sentence = changed.error().message()});
            if (!outcome)
                return outcome.error();
            m_points[i]["measured"] = measuredJson(*outcome);
            tell(i, points.size(), output);
        }
        return Done{};
    }

    Result<client::ProbeOutcome> measure(const config::Stage &stage)
    {
        return client::probeRun(stage, m_updates, kDeadlineSeconds, [this] { return m_signals->count() == 0; });
    }

    // That a point has been measured.
    void tell(std::size_t index, std::size_t count, Output &output)
    {
        if (!output.isJson())
            return output.message(std::to_string(index + 1) + " of " + std::to_string(count) + " measured");
        nlohmann::json line = m_points[index];
        line["event"] = "point";
        output.streamObject(line);
    }

    Result<ExitCode> sweepTechniques(const Invocation &invocation, Output &output)
    {
        const auto asked = planned("plan", m_flags, invocation, output);
        if (!asked)
            return asked.error();
        const auto &worst = asked->answer.plan->buckets.at(static_cast<std::size_t>(asked->answer.plan->worstBucket));
        const std::string bucket = events::bucketName(worst.resolution, worst.frames);
        auto table = TechniqueTable::predicted(asked->stage, bucket, m_flags);
        if (!table)
            return table.error();
        m_points = table->json();
        m_signals.emplace();
        for (std::size_t i = 0; m_measure && i < table->size(); ++i) {
            auto outcome = measure(table->stage(i));
            if (!outcome)
                return outcome.error();
            table->setMeasured(i, *outcome);
            m_points = table->json();
            tell(i, table->size(), output);
        }
        output.object()["points"] = m_points;
        output.object()["bucket"] = bucket;
        output.line("bucket " + bucket + ", " + (m_measure ? "measured on this machine" : "predicted for " + asked->answer.plan->fitDevice));
        for (const std::string &line : table->lines())
            output.line(line);
        return ExitCode::Done;
    }

    void closeStream(int exit, Output &output)
    {
        nlohmann::json line{{"event", "summary"}, {"command", name()}, {"points", m_points.is_array() ? m_points : nlohmann::json::array()}, {"exit", exit}, {"problems", toJson(output.problems())}};
        output.streamObject(line);
        output.setStreams();
    }

    static void print(const events::PlannedPoint &point, const nlohmann::json &measured, Output &output)
    {
        std::string line = valuesText(point.values) + ": ";
        line += !point.sentence.empty() ? point.sentence
                                        : fmt::format("{} allocated, {} a step{}", formatBytes(static_cast<double>(point.peakBytes)), formatDuration(point.stepSeconds), point.fits ? "" : ", does NOT fit");
        if (measured.is_object()) {
            line += measured.contains("sentence") ? "; measured: " + measured["sentence"].get<std::string>()
                                                  : fmt::format("; measured {}, {} a step", formatBytes(measured["peak_bytes"].get<double>()), formatDuration(measured["step_seconds"].get<double>()));
        }
        output.line(line);
    }

    PlanFlags m_flags;
    std::int64_t m_updates = 5;
    bool m_measure = false, m_techniques = false;
    std::optional<StopSignals> m_signals;              // while short runs are made
    nlohmann::json m_points;
};

} // namespace

std::unique_ptr<Command> makeSweep() { return std::make_unique<Sweep>(); }

} // namespace stagewright::commands
