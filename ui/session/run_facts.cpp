#include "ui/session/run_facts.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/ckptfile/layout.h"

namespace stagewright::session {

void RunFacts::take(const events::Record &record)
{
    if (startedAt == 0)
        startedAt = record.time;
    lastAt = std::max(lastAt, record.time);
    buckets.take(record);
    if (const auto *run = std::get_if<events::RunStarted>(&record.payload)) {
        started = *run;
    } else if (const auto *now = std::get_if<events::State>(&record.payload)) {
        state = now->state;
        stateSentence = now->sentence;
    } else if (const auto *update = std::get_if<events::Step>(&record.payload)) {
        lastStep = *update;
        step = record.step;
        if (update->peakBytes > peakBytes) {
            peakBytes = update->peakBytes;
            peakByKind = update->peakByKind;
            peakStep = record.step;
        }
        skippedSteps += update->skipped;
        m_recent.push_back({update->seconds, update->dataWaitSeconds, update->samples, update->phaseSeconds});
        if (m_recent.size() > kRecent)
            m_recent.pop_front();
    } else if (const auto *trace = std::get_if<events::MemoryTrace>(&record.payload)) {
        lastTrace = *trace;
        lastTrace->at.clear();                     // the curve belongs to the plot
        lastTrace->phase.clear();
        lastTrace->bytes.clear();
    } else if (const auto *filled = std::get_if<events::Buffer>(&record.payload)) {
        buffer = *filled;
    } else if (const auto *checkpoint = std::get_if<events::Checkpoint>(&record.payload)) {
        takeCheckpoint(record, *checkpoint);
    } else if (const auto *bad = std::get_if<events::BadSample>(&record.payload)) {
        lastBadSample = *bad;
    } else if (const auto *found = std::get_if<events::ProblemRecord>(&record.payload)) {
        problems.push_back(found->problem);
    } else if (const auto *last = std::get_if<events::Summary>(&record.payload)) {
        summary = *last;
    }
}

void RunFacts::takeCheckpoint(const events::Record &record, const events::Checkpoint &checkpoint)
{
    // The same step may be saved again: a new save begins with its first phase.
    auto at = std::find_if(saves.rbegin(), saves.rend(), [&](const SaveFacts &save) { return save.path == checkpoint.path; });
    if (at == saves.rend() || (checkpoint.phase == "stage" && (at->phase == "done" || at->phase == "failed"))) {
        saves.push_back({});
        at = saves.rbegin();
        at->path = checkpoint.path;
        at->begun = record.time - checkpoint.seconds;
    }
    at->phase = checkpoint.phase;
    at->sentence = checkpoint.sentence;
    // The record's own step is the update that was under way when it was sent; the save may be of an earlier one.
    if (const auto name = ckptfile::parseCheckpointFolderName(std::filesystem::path(checkpoint.path).filename().string()))
        at->step = name->step;
    else if (at->step < 0)
        at->step = record.step;
    at->seconds = checkpoint.seconds;
    at->blockedSeconds = std::max(at->blockedSeconds, checkpoint.blockedSeconds);
    at->bytes = checkpoint.bytes;
    at->totalBytes = std::max(at->totalBytes, checkpoint.totalBytes);
    if (at->committed == 0 && (checkpoint.phase == "verify" || checkpoint.phase == "done"
                               || (checkpoint.phase == "commit" && checkpoint.bytes >= checkpoint.totalBytes && checkpoint.blockedSeconds > 0)))
        at->committed = record.time;
}

const SaveFacts *RunFacts::saveInProgress() const { return !saves.empty() && saves.back().isInProgress() ? &saves.back() : nullptr; }

const SaveFacts *RunFacts::lastGoodSave() const
{
    const auto at = std::find_if(saves.rbegin(), saves.rend(), [](const SaveFacts &save) { return save.committed > 0 && save.phase != "failed"; });
    return at == saves.rend() ? nullptr : &*at;
}

double RunFacts::secondsPerStep() const
{
    double sum = 0;
    for (const auto &recent : m_recent)
        sum += recent.seconds;
    return m_recent.empty() ? 0 : sum / double(m_recent.size());
}

double RunFacts::secondsPerStepSpread() const
{
    if (m_recent.size() < 2)
        return 0;
    const double mean = secondsPerStep();
    double squares = 0;
    for (const auto &recent : m_recent)
        squares += (recent.seconds - mean) * (recent.seconds - mean);
    return std::sqrt(squares / double(m_recent.size() - 1) / double(m_recent.size()));
}

double RunFacts::dataWaitShare() const
{
    double wait = 0, all = 0;
    for (const auto &recent : m_recent) {
        wait += recent.wait;
        all += recent.seconds;
    }
    return all > 0 ? wait / all : 0;
}

double RunFacts::samplesPerSecond() const
{
    double samples = 0, all = 0;
    for (const auto &recent : m_recent) {
        samples += double(recent.samples);
        all += recent.seconds;
    }
    return all > 0 ? samples / all : 0;
}

std::optional<double> RunFacts::remainingSeconds() const
{
    if (!started || started->maxSteps <= 0 || step < 0 || m_recent.empty())
        return std::nullopt;
    return double(std::max<std::int64_t>(0, started->maxSteps - step)) * secondsPerStep();
}

std::optional<std::pair<Phase, double>> RunFacts::dominantPhase() const
{
    std::array<double, kPhaseNames.size()> sums{};
    double all = 0;
    for (const auto &recent : m_recent)
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i] += recent.phases[i];
            all += recent.phases[i];
        }
    if (all <= 0)
        return std::nullopt;
    const auto most = std::max_element(sums.begin(), sums.end());
    return std::make_pair(Phase(most - sums.begin()), *most / all);
}

} // namespace stagewright::session
