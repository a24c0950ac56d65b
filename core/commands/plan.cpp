#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include "core/base/units.h"
#include "core/commands/factories.h"
#include "core/commands/plan_question.h"
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
        fill(*answer.plan, output.object());
        if (!output.isJson())
            print(*answer.plan, output);
        return ExitCode::Done;
    }

private:
    static void fill(const events::Plan &plan, nlohmann::json &object)
    {
        object = nlohmann::json::parse(events::toJsonObject(plan));
        for (auto &bucket : object["buckets"]) {
            bucket["samples"] = nullptr;               // the table is not read for a plan
            bucket["batches"] = nullptr;
        }
        object["worst_bucket"] = object["buckets"].at(static_cast<std::size_t>(plan.worstBucket));
        object.erase("worst_bucket_index");
    }

    static void print(const events::Plan &plan, Output &output)
    {
        const auto bytes = [](std::int64_t size) { return formatBytes(static_cast<double>(size)); };
        output.line(fmt::format("{:<12} {:>6} {:>11} {:>6} {:>11} {:>11} {:>9}  {}", "resolution", "frames", "size", "batch", "allocated", "reserved", "step", "fits"));
        for (const auto &bucket : plan.buckets) {
            output.line(fmt::format("{:<12} {:>6} {:>11} {:>6} {:>11} {:>11} {:>9}  {}", bucket.resolution, bucket.frames, fmt::format("{}x{}", bucket.height, bucket.width), bucket.batchSize,
                                    bytes(bucket.peakBytes), bytes(bucket.peakReservedBytes), formatDuration(bucket.stepSeconds), bucket.fits ? "yes" : "NO"));
        }
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
        output.line(plan.fits ? "fits" : "does NOT fit; stagewright-cli fit finds settings that do");
    }

    PlanFlags m_flags;
};

} // namespace

std::unique_ptr<Command> makePlan() { return std::make_unique<PlanCommand>(); }

} // namespace stagewright::commands
