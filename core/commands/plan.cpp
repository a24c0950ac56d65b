#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "core/base/units.h"
#include "core/commands/factories.h"
#include "core/commands/plan_question.h"
#include "core/commands/plan_samples.h"
#include "core/events/json_writer.h"

namespace stagewright::commands {

namespace {

class PlanCommand : public Command
{
public:
    std::string_view name() const override { return "plan"; }
    std::string_view arguments() const override { return "CONFIG"; }
    std::string_view summary() const override { return "predict the memory of every bucket, on this device or another"; }
    bool takesOverrides() const override { return true; }

    void declare(CLI::App &app) override
    {
        m_flags.declare(app, "Device to plan for");
        m_flags.declareBucket(app);
    }

    Result<ExitCode> run(const Invocation &invocation, Output &output) override
    {
        const auto asked = planned("plan", m_flags, invocation, output);
        if (!asked)
            return asked.error();
        const auto &answer = asked->answer;
        if (!answer.plan)
            return Error(ExitCode::Other, "memory.planner-lost", "the planning helper's answer holds no plan; reinstall or rebuild Stagewright");
        output.problems().insert(output.problems().end(), answer.notes.begin(), answer.notes.end());
        const auto counted = samplesOf(asked->stage);
        fill(*answer.plan, counted, output.object());
        output.object()["score"] = answer.score ? nlohmann::json::parse(events::toJsonObject(*answer.score)) : nlohmann::json();
        if (!output.isJson())
            print(answer, counted, output);
        return ExitCode::Done;
    }

private:
    static BucketSamples samplesOfBucket(const PlanSamples &counted, const events::PlannedBucket &bucket)
    {
        const auto found = counted.ofBucket.find({bucket.resolution, bucket.frames});
        return found == counted.ofBucket.end() ? BucketSamples() : found->second;
    }

    static void fill(const events::Plan &plan, const PlanSamples &counted, nlohmann::json &object)
    {
        object = nlohmann::json::parse(events::toJsonObject(plan));
        for (std::size_t i = 0; i < plan.buckets.size(); ++i) {
            const auto samples = samplesOfBucket(counted, plan.buckets[i]);
            auto &bucket = object["buckets"][i];
            bucket["samples"] = counted.absent.empty() ? nlohmann::json(samples.samples) : nlohmann::json();
            bucket["batches"] = counted.absent.empty() ? nlohmann::json(samples.batches) : nlohmann::json();
        }
        if (!counted.absent.empty())
            object["samples_absent"] = counted.absent;
        object["worst_bucket"] = object["buckets"].at(static_cast<std::size_t>(plan.worstBucket));
        object.erase("worst_bucket_index");
    }

    static void print(const events::PlanAnswer &answer, const PlanSamples &counted, Output &output)
    {
        const events::Plan &plan = *answer.plan;
        const auto bytes = [](std::int64_t size) { return formatBytes(static_cast<double>(size)); };
        output.line(fmt::format("{:<12} {:>6} {:>11} {:>6} {:>9} {:>8} {:>11} {:>11} {:>9}  {}", "resolution", "frames", "size", "batch", "samples", "batches", "allocated", "reserved", "step",
                                "fits"));
        for (const auto &bucket : plan.buckets) {
            const auto samples = samplesOfBucket(counted, bucket);
            const auto count = [&](std::int64_t number) { return counted.absent.empty() ? std::to_string(number) : std::string("-"); };
            output.line(fmt::format("{:<12} {:>6} {:>11} {:>6} {:>9} {:>8} {:>11} {:>11} {:>9}  {}", bucket.resolution, bucket.frames, fmt::format("{}x{}", bucket.height, bucket.width),
                                    bucket.batchSize, count(samples.samples), count(samples.batches), bytes(bucket.peakBytes), bytes(bucket.peakReservedBytes), formatDuration(bucket.stepSeconds), bucket.fits ? "yes" : "NO"));
        }
        if (!counted.absent.empty())
            output.line("samples and batches: " + counted.absent);
        const auto &worst = plan.buckets.at(static_cast<std::size_t>(plan.worstBucket));
        output.line();
        output.line("worst: " + bucketText(worst) + ", in " + worst.phase);
        for (std::size_t kind = 0; kind < plan.byKind.size(); ++kind) {
            if (plan.byKind[kind] > 0)
                output.line(fmt::format("  {:<20} {:>11}", kMemoryKindTitles[kind], bytes(plan.byKind[kind])));
        }
        output.line(fmt::format("device: {} of {} on {} ({} allocated, {} reserved, {} context), give or take {:.0f} %: {}", bytes(plan.deviceTotalBytes), bytes(plan.capacityBytes), plan.fitDevice,
                                bytes(plan.peakBytes), bytes(plan.peakReservedBytes), bytes(plan.contextBytes), 100 * plan.errorBand, plan.errorBandReason));
        output.line(fmt::format("host: {} ({} page-locked, {} for saves, {} for clips)", bytes(plan.host.total), bytes(plan.host.pinned), bytes(plan.host.staging), bytes(plan.host.data)));
        if (answer.score && answer.score->runs > 0) {
            const auto &score = *answer.score;
            output.line(fmt::format("score: {} buckets measured on this device; off by {:.1f} % in the median, {:.1f} % at worst; {} under-estimated, {} false alarms", score.runs, 100 * score.median,
                                    100 * score.worst, score.underEstimates, score.falseAlarms));
        } else {
            output.line("score: no run on this device was measured yet");
        }
        output.line(plan.fits ? "fits" : "does NOT fit; stagewright-cli fit finds settings that do");
    }

    PlanFlags m_flags;
};

} // namespace

std::unique_ptr<Command> makePlan() { return std::make_unique<PlanCommand>(); }

} // namespace stagewright::commands
