#include "core/rehearsal/rehearsal.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/scratch_folder.h"
#include "core/base/units.h"
#include "core/ckptfile/compare.h"
#include "core/ckptfile/listing.h"
#include "core/rehearsal/leg.h"

namespace stagewright::rehearsal {

namespace fs = std::filesystem;
using ckptfile::ResumeItem;

namespace {

constexpr int kLegs = 3;                     // two stops
constexpr double kRounding = 1e-3;           // relative distance that a GPU's changing order of sums may explain

// Every double as exactly as it is compared.
std::string exact(double value)
{
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

bool sameNumber(double a, double b) { return a == b || (a != a && b != b); }

bool isSameStep(const events::Step &a, const events::Step &b)
{
    return sameNumber(a.loss, b.loss) && sameNumber(a.gradNorm, b.gradNorm) && a.lr == b.lr && a.bucket == b.bucket && a.rows == b.rows && a.epoch == b.epoch && a.skipped == b.skipped;
}

std::string firstDifference(const events::Step &a, const events::Step &b)
{
    if (a.rows != b.rows || !(a.bucket == b.bucket) || a.epoch != b.epoch)
        return "other clips were trained";
    if (a.lr != b.lr)
        return "the learning rate differs: " + exact(a.lr) + " and " + exact(b.lr);
    if (!sameNumber(a.loss, b.loss))
        return "the loss differs";
    return "the gradient norm differs";
}

std::string described(const events::Step &step) { return "loss " + exact(step.loss) + ", gradient norm " + exact(step.gradNorm); }

class Rehearser
{
public:
    explicit Rehearser(const Request &request) : m_request(request) {}

    Result<Rehearsal> run()
    {
        if (Status possible = lookFirst(); !possible)
            return possible.error();
        auto scratch = ScratchFolder::make("stagewright-rehearsal", m_request.scratch);
        if (!scratch)
            return scratch.error();
        m_scratch = scratch->path();
        if (Status room = checkRoom(); !room)
            return room.error();
        auto reference = leg({"reference", m_result.checkpoint.string(), kLegs * m_request.steps, false}, "training on without a stop");
        if (!reference)
            return reference.error();
        auto stopped = legs();
        if (!stopped)
            return stopped.error();
        compareSteps(*reference, *stopped);
        if (Status compared = compareEnds(*reference, *stopped); !compared)
            return compared.error();
        judge(reference->device);
        return std::move(m_result);
    }

private:
    // What a plan of the resume says already: a rehearsal of something impossible would only say it later.
    Status lookFirst()
    {
        auto plan = ckptfile::resumePlan(m_request.checkpoint, &m_request.stage);
        if (!plan)
            return plan.error();
        m_result.checkpoint = fs::absolute(plan->checkpoint);
        for (const Problem &problem : plan->problems) {
            if (problem.severity == Severity::Error)
                return Error(ExitCode::Checkpoint, problem.code, problem.message, problem.file);
        }
        for (const ResumeItem &item : plan->items) {
            if (item.severity == Severity::Error)
                return Error(ExitCode::Checkpoint, "checkpoint.not-resumable", plan->checkpoint.string() + ": " + item.what + ": " + item.outcome, plan->checkpoint.string());
        }
        return Done{};
    }

    Status checkRoom() const
    {
        std::int64_t bytes = 0;
        std::error_code failed;
        for (auto entry = fs::recursive_directory_iterator(m_result.checkpoint, failed); !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
            if (std::error_code ignored; entry->is_regular_file(ignored))
                bytes += static_cast<std::int64_t>(entry->file_size(ignored));
        }
        const std::int64_t needed = kLegs * (bytes + bytes / 64 + (8 << 20));
        const auto free = freeDiskBytes(m_scratch);
        if (!free || *free >= needed)
            return Done{};
        return Error(ExitCode::InputOutput, "env.disk-full", "a rehearsal keeps up to three checkpoints, " + formatBytes(static_cast<double>(needed)) + ", and " + m_scratch.parent_path().string()
                         + " has " + formatBytes(static_cast<double>(*free)) + " free; name a folder on another disk (--scratch)", m_scratch.parent_path().string());
    }

    Result<Walked> leg(const Leg &leg, const std::string &doing)
    {
        return walk(leg, m_request.stage, m_scratch, m_request.worker, [&](std::int64_t made) {
            return !m_request.progress || m_request.progress(doing + ": " + std::to_string(made) + " of " + std::to_string(leg.steps) + " updates");
        });
    }

    Result<Walked> legs()
    {
        static constexpr std::array<const char *, kLegs> kNames{"first-leg", "second-leg", "third-leg"};
        Walked all;
        std::string from = m_result.checkpoint.string();
        for (int number = 0; number < kLegs; ++number) {
            auto walked = leg({kNames[number], from, m_request.steps, number > 0}, number == 0 ? std::string("training, then stopping") : "resuming (" + std::to_string(number) + " of 2)");
            if (!walked)
                return walked;
            all.steps.insert(all.steps.end(), walked->steps.begin(), walked->steps.end());
            std::error_code ignored;
            if (number > 0)
                fs::remove_all(m_scratch / kNames[number - 1], ignored);         // it was loaded, so its place on the disk is free again
            all.checkpoint = walked->checkpoint;
            from = walked->checkpoint.string();
        }
        return all;
    }

    void compareSteps(const Walked &reference, const Walked &stopped)
    {
        for (std::size_t at = 0; at < std::max(reference.steps.size(), stopped.steps.size()); ++at) {
            if (at >= reference.steps.size() || at >= stopped.steps.size()) {
                add("steps", std::to_string(reference.steps.size()), std::to_string(stopped.steps.size()), "another number of updates was made", false);
                return;
            }
            const auto &a = std::get<events::Step>(reference.steps[at].payload);
            const auto &b = std::get<events::Step>(stopped.steps[at].payload);
            const std::int64_t number = reference.steps[at].step;
            const bool same = number == stopped.steps[at].step && isSameStep(a, b);
            if (!same && !m_result.partedAt)
                m_result.partedAt = number;
            m_rounding = m_rounding && a.rows == b.rows && a.lr == b.lr;
            add("step " + std::to_string(number), described(a), described(b), same ? "equal" : firstDifference(a, b), same);
        }
    }

    Status compareEnds(const Walked &reference, const Walked &stopped)
    {
        auto parts = ckptfile::compareCheckpoints(reference.checkpoint, stopped.checkpoint, [&](std::int64_t done) {
            return !m_request.progress || m_request.progress("comparing: " + formatBytes(static_cast<double>(done)));
        });
        if (!parts)
            return parts.error();
        for (const ckptfile::PartComparison &part : *parts) {
            add(part.part, part.inFirst, part.inSecond, part.sentence, part.equal);
            m_rounding = m_rounding && (part.equal || (part.distance > 0 && part.distance < kRounding));
        }
        return Done{};
    }

    void add(std::string what, std::string without, std::string with, std::string outcome, bool same)
    {
        m_result.equal = m_result.equal && same;
        m_result.items.push_back({std::move(what), std::move(without), std::move(with), std::move(outcome), same ? Severity::Hint : Severity::Error});
    }

    void judge(const std::string &device)
    {
        const bool onGpu = device.starts_with("cuda");
        m_result.possible = m_result.equal || (onGpu && m_rounding);
        if (m_result.equal)
            return;
        Problem problem;
        problem.severity = m_result.possible ? Severity::Warning : Severity::Error;
        problem.code = "checkpoint.rehearsal-differs";
        problem.file = m_result.checkpoint.string();
        problem.message = m_result.checkpoint.string() + ": stopping and resuming " + (m_result.partedAt ? "parts from the uninterrupted training at step " + std::to_string(*m_result.partedAt) : std::string("ends in another state"))
            + (m_result.possible ? ", by no more than rounding (sums on a GPU are not always made in the same order)" : "");
        m_result.problems.push_back(std::move(problem));
        if (m_result.possible) {
            for (ResumeItem &item : m_result.items)
                item.severity = std::max(item.severity, Severity::Warning);
        }
    }

    const Request &m_request;
    Rehearsal m_result{.checkpoint = {}, .items = {}, .possible = false, .equal = true, .partedAt = {}, .problems = {}};
    fs::path m_scratch;
    bool m_rounding = true;                  // all that differs is small
};

} // namespace

Result<Rehearsal> rehearse(const Request &request) { return Rehearser(request).run(); }

nlohmann::json toJson(const Rehearsal &rehearsal)
{
    nlohmann::json json{{"checkpoint", rehearsal.checkpoint.string()}, {"possible", rehearsal.possible}, {"equal", rehearsal.equal}, {"items", nlohmann::json::array()}};
    json["parted_at"] = rehearsal.partedAt ? nlohmann::json(*rehearsal.partedAt) : nlohmann::json();
    for (const ResumeItem &item : rehearsal.items)
        json["items"].push_back({{"what", item.what}, {"in_checkpoint", item.inCheckpoint}, {"in_config", item.inConfig}, {"outcome", item.outcome}});
    return json;
}

} // namespace stagewright::rehearsal
