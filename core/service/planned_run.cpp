#include "core/service/planned_run.h"

#include "core/base/host.h"
#include "core/base/priority.h"
#include "core/plan/calibration.h"
#include "core/train/settings.h"

namespace stagewright::service {

namespace {

constexpr double kPredictionSeconds = 300;
constexpr auto kLook = std::chrono::milliseconds(100);         // how often a wait looks whether the run shall end at once

bool isOutOfMemory(const Problem &problem) { return problem.code == "memory.out-of-memory"; }

Problem problemOf(const events::PlannedRemedy &remedy, const config::Stage &stage)
{
    Problem problem;
    problem.severity = Severity::Hint;
    problem.code = "memory.remedy";
    problem.path = remedy.values.front().path;
    problem.message = remedy.sentence;
    problem.fix = Fix{remedy.title, {}};
    for (const auto &value : remedy.values) {
        const config::Value *now = config::lookUp(stage.values(), value.path);
        problem.fix->edits.push_back({value.path, now ? std::optional(config::toPython(*now)) : std::nullopt, value.text});
    }
    return problem;
}

} // namespace

PlannedRun::PlannedRun(const config::Stage &stage, runhost::RunHost &host, Options options) : m_stage(stage), m_host(host), m_options(std::move(options))
{
    m_thread = std::thread([this] { work(); });
}

PlannedRun::~PlannedRun()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
    }
    m_changed.notify_all();
    m_thread.join();
}

void PlannedRun::work()
{
    giveWay(kLeastNiceness);                           // the helper inherits it
    ask("plan", kPredictionSeconds);
    {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_stop || m_remediesWanted; });
        if (m_stop)
            return;
    }
    ask("remedies", m_options.remedySeconds);
    const std::lock_guard lock(m_mutex);
    m_remediesDone = true;
    m_changed.notify_all();
}

// A helper lives for one question: between the run's beginning and its end nobody has another.
void PlannedRun::ask(const char *what, double seconds)
{
    client::PlanHelper helper({.worker = m_options.worker, .answerSeconds = seconds, .endSeconds = 0});
    events::PlanRequest request;
    request.ask = what;
    request.config = config::toYaml(m_stage.values());
    request.worldSize = 1;
    request.uncorrected = true;
    const auto answer = helper.answerTo(std::move(request), [this] {
        const std::lock_guard lock(m_mutex);
        return !m_stop;
    });
    if (!answer) {
        if (answer.error().exit != ExitCode::Stopped)
            m_host.note("info", std::string("no ") + (what == std::string_view("plan") ? "prediction" : "advice") + " of the planner: " + answer.error().message(), answer.error().problem.code);
        return;
    }
    const std::lock_guard lock(m_mutex);
    m_remedies = answer->remedies;
    if (!answer->plan)
        return;
    m_plan = answer->plan;
    if (m_started)
        tellPrediction(*m_plan);
}

// Once both are there: the run's first record, and the plan.
void PlannedRun::tellPrediction(const events::Plan &plan)
{
    events::Prediction prediction{plan.peakBytes, plan.errorBand, plan.errorBandReason, {}};
    for (const auto &bucket : plan.buckets)
        prediction.buckets.push_back({{bucket.resolution, bucket.frames, bucket.height, bucket.width, bucket.batchSize}, bucket.peakBytes, bucket.stepSeconds});
    m_host.report({0, -1, std::move(prediction)});
}

void PlannedRun::begun()
{
    const std::lock_guard lock(m_mutex);
    m_started = true;
    if (m_plan)
        tellPrediction(*m_plan);
}

void PlannedRun::report(events::Record record)
{
    if (const auto *step = std::get_if<events::Step>(&record.payload)) {
        m_measurements.add(*step);
        const std::lock_guard lock(m_mutex);
        if (m_plan) {
            if (const auto sentence = m_measurements.surprise(*step, *m_plan))
                m_host.note("warning", *sentence, "memory.above-prediction");
        }
    } else if (const auto *problem = std::get_if<events::ProblemRecord>(&record.payload); problem && isOutOfMemory(problem->problem)) {
        m_ranOut = true;
        const std::lock_guard lock(m_mutex);
        m_remediesWanted = true;                       // worked on while what was trained is saved
        m_changed.notify_all();
    } else if (const auto *state = std::get_if<events::State>(&record.payload); state && m_ranOut && state->exit) {
        m_ending = std::move(record);
        return;
    }
    const bool begins = std::holds_alternative<events::RunStarted>(record.payload);
    m_host.report(std::move(record));
    if (begins)
        begun();
}

void PlannedRun::reportRemedies()
{
    std::unique_lock lock(m_mutex);
    m_remediesWanted = true;
    m_changed.notify_all();
    const double until = steadySeconds() + m_options.remedySeconds;
    while (!m_remediesDone && steadySeconds() < until && !m_host.stopsAtOnce())
        m_changed.wait_for(lock, kLook);
    for (const auto &remedy : m_remedies)
        m_host.report({0, -1, events::ProblemRecord{problemOf(remedy, m_stage)}});
}

void PlannedRun::keepMeasurements(bool ranOut)
{
    std::optional<events::Plan> plan;
    {
        const std::lock_guard lock(m_mutex);
        plan = m_plan;
    }
    const auto settings = train::readSettings(m_stage, 1);
    if (!plan || !settings)
        return;
    const auto limit = settings->memoryLimitBytes > 0 ? std::min(settings->memoryLimitBytes, plan->capacityBytes) : plan->capacityBytes;
    auto measured = m_measurements.compared(*plan, settings->dtypeName, settings->accumulation, limit, wallSeconds());
    if (ranOut) {                                      // in which bucket does not matter: the plan's worst should have said so
        const auto &worst = plan->buckets.at(static_cast<std::size_t>(plan->worstBucket));
        measured.push_back({.time = wallSeconds(), .device = plan->fitDevice, .dtype = settings->dtypeName, .bucket = events::bucketName(worst.resolution, worst.frames),
                            .predictedPeak = plan->peakBytes, .measuredPeak = limit, .limitBytes = limit, .outOfMemory = true});
    }
    if (measured.empty())
        return;
    const auto kept = plan::addMeasurements(measured, m_options.measurements.empty() ? plan::measurementsPath() : m_options.measurements);
    if (!kept)
        m_host.note("warning", kept.error().message(), kept.error().problem.code);
}

void PlannedRun::finish(Result<events::Summary> &result)
{
    m_ranOut = m_ranOut || (!result && isOutOfMemory(result.error().problem));
    if (m_ranOut)
        reportRemedies();
    keepMeasurements(m_ranOut);
    if (result) {
        const std::lock_guard lock(m_mutex);
        result->predictedPeakBytes = m_plan ? m_plan->peakBytes : 0;
    }
    if (m_ending)
        m_host.report(std::move(*m_ending));
}

} // namespace stagewright::service
