#include "core/plan/remedies.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/units.h"
#include "core/config/activation_need.h"
#include "core/plan/sweep.h"

namespace stagewright::plan {

namespace {

constexpr double kLeastSaved = 0.02, kBelowPrediction = 0.9;

struct Proposal {
    std::string title;                 // of a button
    std::vector<events::PlanValue> values;
};
using Proposals = std::vector<Proposal>;   // of one kind, the mildest first

struct Outcome {
    std::int64_t peak = 0;
    double secondsOfSample = 0;
    bool fits = true;
    std::vector<std::string> tooLarge; // buckets
};

std::string depthText(std::int64_t doubles, std::int64_t singles)
{
    return "(" + std::to_string(doubles) + ", " + std::to_string(singles) + ")";
}

Proposals deeperCheckpointing(const Work &work)
{
    const auto doubles = work.model.depth, singles = work.model.depthSingleBlocks;
    const auto nowDouble = work.depth.doubleBlocks, nowSingle = work.depth.singleBlocks;
    Proposals proposals;
    for (const int quarter : {1, 2, 3, 4}) {
        const std::int64_t toDouble = nowDouble + (doubles - nowDouble) * quarter / 4, toSingle = nowSingle + (singles - nowSingle) * quarter / 4;
        if (toDouble + toSingle == nowDouble + nowSingle)
            continue;
        const bool all = toDouble == doubles && toSingle == singles;
        proposals.push_back({all ? "Checkpoint all blocks" : fmt::format("Checkpoint {} of {} blocks", toDouble + toSingle, doubles + singles),
                           {{"grad_checkpoint", "True"}, {"model.grad_ckpt_settings", depthText(toDouble, toSingle)}}});
    }
    return proposals;
}

// Moving inputs of checkpointed blocks to the host: all blocks are checkpointed for it.
Proposals largerBuffer(const config::Stage &stage, const Work &work)
{
    const std::vector<events::PlanValue> all{{"grad_checkpoint", "True"}, {"model.grad_ckpt_settings", depthText(work.model.depth, work.model.depthSingleBlocks)}};
    const auto deep = withValues(stage, all);
    if (!deep)
        return {};
    const auto need = config::largestNeed(config::activationNeeds(*deep));
    Proposals proposals;
    for (const int half : {1, 2}) {
        const std::int64_t elements = need ? (need->elements * half + 1) / 2 : 0;
        if (elements <= work.bufferElements)
            continue;
        auto values = all;
        values.push_back({"grad_ckpt_buffer_size", std::to_string(elements)});
        const auto bytes = static_cast<double>(elements) * static_cast<double>(torch::elementSize(work.settings.dtype));
        proposals.push_back({"Checkpoint all blocks and keep " + formatBytes(bytes) + " of their inputs in host memory", std::move(values)});
    }
    return proposals;
}

Proposals smallerBatches(const config::Stage &stage, const std::vector<std::string> &buckets)
{
    Proposals proposals;
    for (int divisor = 2; divisor <= 64; divisor *= 2) {
        Proposal proposal;
        for (const std::string &bucket : buckets) {
            const auto slash = bucket.rfind('/');
            const std::string path = "bucket_config." + bucket.substr(0, slash) + "." + bucket.substr(slash + 1);
            const config::Value *row = config::lookUp(stage.values(), path);
            if (!row || !row->isSequence() || row->items().size() != 2 || row->items()[1].type() != config::Type::Int || row->items()[1].integer() < divisor)
                continue;
            const auto size = row->items()[1].integer() / divisor;
            proposal.values.push_back({path, "(" + config::toPython(row->items()[0]) + ", " + std::to_string(size) + ")"});
            proposal.title = proposal.values.size() == 1 ? fmt::format("Batch of {} in bucket {}", size, bucket) : fmt::format("{} of the batch in {} buckets", divisor == 2 ? "Half" : "1/" + std::to_string(divisor), proposal.values.size());
        }
        if (!proposal.values.empty())
            proposals.push_back(std::move(proposal));
    }
    return proposals;
}

Proposals shorterNumbers(const Work &work)
{
    if (work.settings.dtype != torch::kFloat32)
        return {};
    return {{"Train in bf16", {{"dtype", "bf16"}}}};
}

// Limit below which a peak has to lie, where it is known that the prediction was too low; 0: none.
Result<Outcome> outcomeOf(Planner &planner, const config::Stage &stage, const PlanQuery &query, std::int64_t below, const Cancelled &cancelled)
{
    Problems notes;
    const auto asked = askedStage(stage, query, notes);
    if (!asked)
        return asked.error();
    const auto buckets = planner.buckets(*asked, query, cancelled);
    if (!buckets)
        return buckets.error();
    const double margin = 1 + errorBand(asked->work, query).fraction / 2;
    const std::int64_t own = asked->work.settings.memoryLimitBytes, limit = own > 0 ? std::min(own, query.device.totalBytes) : query.device.totalBytes;
    Outcome outcome;
    double weights = 0;
    for (const auto &bucket : *buckets) {
        const bool fits = bucket.fits && static_cast<double>(bucket.deviceBytes) * margin <= static_cast<double>(limit) && (below == 0 || bucket.memory.peak <= below);
        outcome.fits = outcome.fits && fits;
        if (!fits)
            outcome.tooLarge.push_back(bucketName(bucket.shape));
        outcome.peak = std::max(outcome.peak, bucket.memory.peak);
        outcome.secondsOfSample += bucket.shape.probability * bucket.stepSeconds / static_cast<double>(bucket.shape.batch * asked->accumulation);
        weights += bucket.shape.probability;
    }
    outcome.secondsOfSample /= weights;
    return outcome;
}

events::PlannedRemedy told(const Proposal &proposal, const Outcome &now, const Outcome &then)
{
    events::PlannedRemedy remedy;
    remedy.title = proposal.title;
    remedy.values = proposal.values;
    remedy.peakBytes = then.peak;
    remedy.savedBytes = now.peak - then.peak;
    remedy.timeRelative = then.secondsOfSample / now.secondsOfSample;
    remedy.fits = then.fits;
    remedy.sentence = fmt::format("{}: a predicted peak of {} instead of {}, {} less, at {:.2f} times the time a sample; {}", proposal.title, formatBytes(static_cast<double>(then.peak)),
                                  formatBytes(static_cast<double>(now.peak)), formatBytes(static_cast<double>(remedy.savedBytes)), remedy.timeRelative,
                                  then.fits ? "then every bucket fits" : "not enough by itself");
    return remedy;
}

} // namespace

Result<std::vector<events::PlannedRemedy>> remedies(Planner &planner, const config::Stage &stage, const PlanQuery &query, const Cancelled &cancelled)
{
    Problems notes;
    const auto asked = askedStage(stage, query, notes);
    if (!asked)
        return asked.error();
    auto now = outcomeOf(planner, stage, query, 0, cancelled);
    if (!now)
        return now.error();
    const std::int64_t below = now->fits ? static_cast<std::int64_t>(kBelowPrediction * static_cast<double>(now->peak)) : 0;
    if (now->fits)
        now = outcomeOf(planner, stage, query, below, cancelled);
    std::vector<events::PlannedRemedy> found;
    for (const Proposals &kind : {deeperCheckpointing(asked->work), largerBuffer(stage, asked->work), smallerBatches(stage, now->tooLarge), shorterNumbers(asked->work)}) {
        std::optional<events::PlannedRemedy> best;
        for (const Proposal &proposal : kind) {
            const auto changed = withValues(stage, proposal.values);
            const auto then = changed ? outcomeOf(planner, *changed, query, below, cancelled) : Result<Outcome>(changed.error());
            if (!then && then.error().problem.code == "memory.plan-cancelled")
                return then.error();
            if (!then || static_cast<double>(now->peak - then->peak) < kLeastSaved * static_cast<double>(now->peak))
                continue;
            auto remedy = told(proposal, *now, *then);
            if (!best || remedy.fits || remedy.savedBytes > best->savedBytes)
                best = std::move(remedy);
            if (best->fits)
                break;
        }
        const bool isNothingMore = best && !best->fits && std::any_of(found.begin(), found.end(), [&](const auto &other) { return other.peakBytes == best->peakBytes; });
        if (best && !isNothingMore)                    // a buffer beside checkpointing that has no part in the peak
            found.push_back(std::move(*best));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto &a, const auto &b) {
        if (a.fits != b.fits)
            return a.fits;
        return a.fits ? a.timeRelative < b.timeRelative : a.savedBytes > b.savedBytes;
    });
    if (found.size() > kMostRemedies)
        found.resize(kMostRemedies);
    return found;
}

} // namespace stagewright::plan
