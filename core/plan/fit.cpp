#include "core/plan/fit.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/base/units.h"
#include "core/config/activation_need.h"
#include "core/config/known_key.h"
#include "core/config/option.h"
#include "core/plan/cost.h"
#include "core/plan/sweep.h"

namespace stagewright::plan {

namespace {

Error noCandidates(const std::string &path, const std::string &why)
{
    return Error(ExitCode::Usage, "run.command-line", "--vary " + path + ": " + why + "; give the values to try, --vary " + path + "=a,b");
}

std::vector<std::string> depths(const config::Stage &stage)
{
    std::vector<std::string> values;
    const auto blocks = config::checkpointedBlocks(stage);
    for (int doubles = 0; doubles <= blocks.doubleTotal; ++doubles) {
        for (int singles = 0; singles <= blocks.singleTotal; ++singles)
            values.push_back("(" + std::to_string(doubles) + ", " + std::to_string(singles) + ")");
    }
    return values;
}

std::vector<std::string> bufferSizes(const config::Stage &stage)
{
    std::vector<std::string> values{"0"};
    const auto largest = config::largestNeed(config::activationNeeds(stage));
    for (int quarter = 1; largest && quarter <= 4; ++quarter)
        values.push_back(std::to_string(largest->elements / 4 * quarter));
    return values;
}

// bucket_config.RESOLUTION.FRAMES: its batch size, the probability as it is.
Result<std::vector<std::string>> batchSizes(const config::Stage &stage, const std::string &path)
{
    const config::Value *row = config::lookUp(stage.values(), path);
    if (!row || !row->isSequence() || row->items().size() != 2 || row->items()[1].type() != config::Type::Int)
        return noCandidates(path, "the stage has no such bucket");
    const std::int64_t batch = row->items()[1].integer(), most = std::clamp<std::int64_t>(2 * batch, 4, 4096);
    std::vector<std::string> values;
    for (std::int64_t size = 1; size <= most; size += std::max<std::int64_t>(1, size / 16))
        values.push_back("(" + config::toPython(row->items()[0]) + ", " + std::to_string(size) + ")");
    return values;
}

std::vector<std::string> around(const config::Option &option, double now, bool whole)
{
    std::vector<std::string> values;
    for (double factor = 1.0 / 8; factor <= 8; factor *= 2) {
        double value = now == 0 ? (factor == 1 ? 0 : factor * 8) : now * factor;
        if (whole && value != std::floor(value))
            continue;
        if (!option.allows(value))
            continue;
        values.push_back(whole ? std::to_string(static_cast<std::int64_t>(value)) : formatNumber(value));
    }
    return values;
}

} // namespace

Result<std::vector<std::string>> candidates(const config::Stage &stage, const std::string &path)
{
    if (path == "model.grad_ckpt_settings" || path == "grad_ckpt_settings")
        return depths(stage);
    if (path == "grad_ckpt_buffer_size")
        return bufferSizes(stage);
    if (path.starts_with("bucket_config."))
        return batchSizes(stage, path);
    const config::Option *option = config::findOption(path);
    if (!option) {
        const config::Option *meant = config::nearestOption(path);
        return Error(ExitCode::Usage, "config.unknown-key", "--vary " + path + ": nothing reads this key" + (meant ? "; did you mean " + std::string(meant->path) + "?" : ""));
    }
    const auto &now = stage.at(path);
    switch (option->type) {
    case config::OptionType::Bool: return std::vector<std::string>{"True", "False"};
    case config::OptionType::Choice: {
        std::vector<std::string> values;
        for (const auto choice : option->choices)
            values.push_back(std::string(choice));
        return values;
    }
    case config::OptionType::Int:
    case config::OptionType::Float:
        if (now.isNumber())
            return around(*option, now.number(), option->type == config::OptionType::Int);
        break;
    default: break;
    }
    return noCandidates(path, "which values make sense is not known");
}

namespace {

struct Candidate {
    std::vector<events::PlanValue> values;
    double seconds = 0;                // a sample
};

// Seconds a sample without asking for memory: which blocks go into the buffer follows from sizes alone.
Result<double> secondsOf(const config::Stage &stage, const PlanQuery &query)
{
    Problems notes;
    const auto asked = askedStage(stage, query, notes);
    if (!asked)
        return asked.error();
    double seconds = 0, weights = 0;
    for (const auto &shape : asked->shapes) {
        const double step = stepSeconds(asked->work, shape, reduced(asked->work, shape).offloaded, asked->accumulation, query.device);
        seconds += shape.probability * step / static_cast<double>(shape.batch * asked->accumulation);
        weights += shape.probability;
    }
    return seconds / weights;
}

struct Verdict {
    bool fits = false;
    std::int64_t peak = 0;             // of the worst bucket looked at
    std::string bucket;                // that does not fit, or the worst
    double excess = 0;                 // share of the device that is missing
    double stepSeconds = 0;
};

// Looks at the bucket that failed last first: it is likely to fail again.
class Judge
{
public:
    Judge(Planner &planner, const PlanQuery &query, const Cancelled &cancelled) : m_planner(planner), m_query(query), m_cancelled(cancelled) {}

    Result<Verdict> operator()(const config::Stage &stage)
    {
        PlanQuery query = m_query;
        if (query.bucket.empty() && !m_lastFailed.empty()) {
            query.bucket = m_lastFailed;
            auto one = judge(stage, query);
            if (!one || !one->fits)
                return one;
        }
        auto verdict = judge(stage, m_query);
        if (verdict && !verdict->fits)
            m_lastFailed = verdict->bucket;
        return verdict;
    }

private:
    Result<Verdict> judge(const config::Stage &stage, const PlanQuery &query)
    {
        Problems notes;
        const auto asked = askedStage(stage, query, notes);
        if (!asked)
            return asked.error();
        const auto buckets = m_planner.buckets(*asked, query, m_cancelled);
        if (!buckets)
            return buckets.error();
        const double margin = 1 + errorBand(asked->work, m_query).fraction / 2;
        Verdict verdict;
        verdict.fits = true;
        verdict.stepSeconds = meanStepSeconds(*buckets);
        double worst = -1;
        for (const auto &bucket : *buckets) {
            const double share = static_cast<double>(bucket.deviceBytes) * margin / static_cast<double>(query.device.totalBytes);
            verdict.fits = verdict.fits && bucket.fits && share <= 1;
            verdict.peak = std::max(verdict.peak, bucket.memory.peak);
            const double badness = share + (bucket.fits ? 0 : 1);
            if (badness > worst) {
                worst = badness;
                verdict.bucket = bucketName(bucket.shape);
                verdict.excess = share - 1;
            }
        }
        return verdict;
    }

    Planner &m_planner;
    PlanQuery m_query;
    Cancelled m_cancelled;
    std::string m_lastFailed;
};

std::string spelled(const std::vector<events::PlanValue> &values)
{
    std::vector<std::string> parts;
    for (const auto &value : values)
        parts.push_back(value.path + " = " + value.text);
    return joined(parts, ", ");
}

Result<std::vector<Candidate>> rankedCandidates(const config::Stage &stage, const PlanQuery &query, std::vector<events::PlanVary> vary, const Cancelled &cancelled)
{
    for (auto &option : vary) {
        if (!option.values.empty())
            continue;
        auto values = candidates(stage, option.path);
        if (!values)
            return values.error();
        option.values = std::move(*values);
    }
    const auto all = combinations(vary);
    if (!all)
        return all.error();
    std::vector<Candidate> ranked;
    std::optional<Error> wrong;
    for (const auto &values : *all) {
        if (cancelled && cancelled())
            return Error(ExitCode::Stopped, "memory.plan-cancelled", "the search was cancelled");
        const auto changed = withValues(stage, values);
        const auto seconds = changed ? secondsOf(*changed, query) : Result<double>(changed.error());
        if (seconds)
            ranked.push_back({values, *seconds});
        else
            wrong = seconds.error();                   // a combination that cannot be is no candidate
    }
    if (ranked.empty() && wrong)
        return *wrong;
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto &a, const auto &b) { return a.seconds < b.seconds; });
    return ranked;
}

} // namespace

Result<events::PlannedFit> fit(Planner &planner, const config::Stage &stage, const PlanQuery &query, const std::vector<events::PlanVary> &vary, const Cancelled &cancelled)
{
    if (vary.empty())
        return Error(ExitCode::Usage, "run.command-line", "fit needs at least one option to vary: --vary model.grad_ckpt_settings");
    const auto asItIs = secondsOf(stage, query);
    if (!asItIs)
        return asItIs.error();
    const auto ranked = rankedCandidates(stage, query, vary, cancelled);
    if (!ranked)
        return ranked.error();
    Judge judge(planner, query, cancelled);
    events::PlannedFit answer;
    std::optional<std::pair<const Candidate *, Verdict>> failed, nearest;
    for (const auto &candidate : *ranked) {
        const auto changed = withValues(stage, candidate.values);
        if (!changed)
            return changed.error();
        const auto verdict = judge(*changed);
        if (!verdict)
            return verdict.error();
        ++answer.tried;
        if (!verdict->fits) {
            failed = {&candidate, *verdict};
            if (!nearest || verdict->excess < nearest->second.excess)
                nearest = failed;
            continue;
        }
        answer.values = candidate.values;
        answer.peakBytes = verdict->peak;
        answer.stepSeconds = verdict->stepSeconds;
        answer.stepTimeRelative = candidate.seconds / *asItIs;
        answer.sentence = "the fastest of " + std::to_string(ranked->size()) + " combinations that fits every bucket on " + query.device.name;
        if (failed) {
            answer.stoppedBy = failed->first->values;
            answer.stoppedByBucket = failed->second.bucket;
            answer.stoppedByPeakBytes = failed->second.peak;
            answer.sentence += "; the next faster one (" + spelled(failed->first->values) + ") takes " + formatBytes(static_cast<double>(failed->second.peak)) + " in bucket " +
                               failed->second.bucket;
        }
        return answer;
    }
    return Error(ExitCode::OutOfMemory, "memory.no-fit", "no combination of " + std::to_string(ranked->size()) + " fits on " + query.device.name + " (" +
                 formatBytes(static_cast<double>(query.device.totalBytes)) + "): the nearest, " + (nearest ? spelled(nearest->first->values) : std::string("none")) + ", takes " +
                 (nearest ? formatBytes(static_cast<double>(nearest->second.peak)) + " in bucket " + nearest->second.bucket : std::string("nothing")) +
                 "; vary more options (model.grad_ckpt_settings, grad_ckpt_buffer_size, dtype, the bucket's batch size) or take a larger device");
}

} // namespace stagewright::plan
