#include "core/train/run_loop.h"

#include <cmath>
#include <map>

#include "core/base/host.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "core/memory/ledger.h"
#include "core/train/out_of_memory.h"
#include "core/train/saver.h"
#include "core/train/step_monitor.h"

namespace stagewright::train {

namespace {

std::string describe(const events::Bucket &bucket)
{
    return bucket.resolution + ", " + std::to_string(bucket.frames) + " frames of " + std::to_string(bucket.height) + "x" + std::to_string(bucket.width) + ", batch " +
           std::to_string(bucket.batchSize);
}

std::string listOf(const std::vector<std::int64_t> &rows)
{
    std::vector<std::string> texts;
    for (const auto row : rows)
        texts.push_back(std::to_string(row));
    return joined(texts, ", ");
}

// What a checkpoint says about the place where training stands, as it was after the last update.
struct Place {
    ckptfile::Counters counters;
    data::Position position;
    std::map<std::string, std::string> streams;
};

// One call of run().
class Loop
{
public:
    Loop(const TrainerParts &parts, const Settings &settings, RunParts &run, Reporter &reporter)
        : m_parts(parts), m_settings(settings), m_run(run), m_engine(*run.engine), m_reporter(reporter), m_saver(parts.stage, parts.runFolder, reporter)
    {
        m_engine.setBeforeChange([this] { m_monitor.addBlocked(m_saver.waitForSnapshot()); });
    }
    ~Loop() { m_engine.setBeforeChange({}); }
    events::Summary operator()();

private:
    bool isAtEnd() const;                            // by max_train_steps or epochs
    void train();                                    // until the end, m_failure or a stop request
    Result<std::optional<data::Batch>> nextBatch();
    bool fetch(data::Batch &batch);                  // false: nothing to train on now (an epoch ended), or m_failure
    void window(const data::Batch &batch);           // one micro-step and what follows it
    void afterUpdate(const UpdateOutcome &outcome, const data::Batch &batch);
    void judge(const UpdateOutcome &outcome);        // not finite
    void saveIfWanted(bool updated);
    bool save(const Place &place);
    Place here() const;
    void saveLast();
    void beginMeasuring();
    std::string endSentence() const;
    events::Summary summary() const;
    bool stopsNow() const { return m_stop == StopRequest::Now; }

    const TrainerParts &m_parts;
    const Settings &m_settings;
    RunParts &m_run;
    Engine &m_engine;
    Reporter &m_reporter;
    StepMonitor m_monitor;
    Saver m_saver;

    const double m_start = steadySeconds();
    StopRequest m_stop = StopRequest::None;
    std::optional<Error> m_failure;
    Place m_lastUpdate;
    std::optional<std::int64_t> m_savedMicroStep;    // globalMicroStep of the newest save that was begun
    std::int64_t m_firstUpdates = 0, m_nonFiniteInARow = 0, m_badSamples = 0, m_windowSamples = 0;
    std::vector<std::int64_t> m_windowRows;
    double m_lastLoss = std::nan("");
    bool m_measuring = false, m_saidNothingToChoose = false, m_readyToSave = false;
};

bool Loop::isAtEnd() const
{
    const bool bySteps = m_settings.maxSteps > 0 && m_engine.updates() >= m_settings.maxSteps;
    return bySteps || m_parts.data.position().epoch >= m_settings.epochs;
}

events::Summary Loop::operator()()
{
    m_firstUpdates = m_engine.updates();
    m_reporter.setStep(m_engine.updates());
    m_reporter.state("training", isAtEnd() ? "the checkpoint is already at the end of this training" : "");
    const auto before = m_engine.counters();
    m_lastUpdate = here();
    train();
    const bool advanced = m_engine.counters() != before;
    if (m_stop != StopRequest::None && !m_failure)
        m_reporter.state("stopping", m_stop == StopRequest::SaveAndStop ? "saving, then stopping as asked" : "stopping as asked");
    if (advanced)
        saveLast();
    m_saver.finish([this] { return m_reporter.pollStop() == StopRequest::Now; });
    if (!m_failure && m_saver.failure() && !stopsNow())
        m_failure = m_saver.failure();               // the last save is what the run leaves behind: its failure is the run's
    m_reporter.milestone("final");
    const auto result = summary();
    m_reporter.state(m_failure ? "failed" : "finished", endSentence(), result.exit);
    return result;
}

void Loop::train()
{
    while (!m_failure && !isAtEnd()) {
        data::Batch batch;
        beginMeasuring();
        if (fetch(batch))
            window(batch);
        if (m_stop != StopRequest::None && (stopsNow() || m_windowRows.empty()))
            return;
    }
    if (!m_windowRows.empty() && !m_failure) {
        m_reporter.note("info", "the data ended inside an accumulation window: the gradients of its " + std::to_string(m_windowRows.size()) +
                        " samples are kept in the last checkpoint and count when training goes on", "run.open-window");
    }
}

void Loop::beginMeasuring()
{
    if (m_measuring)
        return;
    m_measuring = true;
    m_monitor.beginUpdate(m_run.offload.get(), m_saver.takeBlockedSeconds());
}

// On the CPU the clips lie in the same memory as everything else, so reading them may meet its limit as well.
Result<std::optional<data::Batch>> Loop::nextBatch()
{
    try {
        return m_parts.data.next();
    } catch (const c10::OutOfMemoryError &error) {
        m_engine.abandonWindow();
        m_windowRows.clear();
        return outOfMemory(error, "while the clips of update " + std::to_string(m_engine.updates() + 1) + " were read");
    }
}

bool Loop::fetch(data::Batch &batch)
{
    memory::PhaseScope phase(Phase::Data);
    const double start = steadySeconds();
    auto next = nextBatch();
    m_monitor.addDataWait(steadySeconds() - start);
    if (!next) {
        m_failure = next.error();
        m_reporter.problem(next.error());
        return false;
    }
    if (!next->has_value())
        return false;
    batch = std::move(**next);
    for (auto &bad : batch.bad) {
        bad.total = ++m_badSamples;
        m_reporter.report(bad);
    }
    return batch.epoch < m_settings.epochs;
}

void Loop::window(const data::Batch &batch)
{
    try {
        const auto outcome = m_engine.microStep(batch, *m_run.encoding, *m_run.draws);
        m_windowRows.insert(m_windowRows.end(), batch.rows.begin(), batch.rows.end());
        m_windowSamples += batch.size();
        std::optional<UpdateOutcome> update;
        if (m_engine.isUpdateDue())
            update = m_engine.update();
        m_engine.afterMicroStep();
        if (update)
            afterUpdate(*update, batch);
        else
            m_stop = std::max(m_stop, m_reporter.pollStop());
    } catch (const c10::OutOfMemoryError &error) {
        m_engine.abandonWindow();
        m_windowRows.clear();
        m_failure = outOfMemory(error, "in update " + std::to_string(m_engine.updates() + 1) + " (bucket " + describe(batch.bucket) + ")");
        m_reporter.problem(*m_failure);
    } catch (const memory::ActivationBufferFull &error) {
        m_engine.abandonWindow();
        m_windowRows.clear();
        m_failure = Error(ExitCode::OutOfMemory, "memory.buffer-full", "in bucket " + describe(batch.bucket) + ": " + error.what() +
                          "; a larger grad_ckpt_buffer_size fits it, and grad_ckpt_buffer_overflow keep leaves the block on the device");
        m_reporter.problem(*m_failure);
    }
    const bool everythingTooLong = !m_saidNothingToChoose && m_engine.lastHadNothingToChoose();
    if (everythingTooLong) {
        m_saidNothingToChoose = true;
        m_reporter.note("warning", "every condition of condition_config needs a longer clip than bucket " + describe(batch.bucket) + " has: such clips are trained without "
                        "a condition; give t2v or an image condition a weight", "run.no-condition-fits");
    }
}

void Loop::afterUpdate(const UpdateOutcome &outcome, const data::Batch &batch)
{
    const auto number = m_engine.updates() + (outcome.skipped ? 1 : 0);
    m_reporter.setStep(number);
    const auto step = m_monitor.endUpdate(outcome, batch, std::exchange(m_windowSamples, 0), m_engine.takePhaseSeconds());
    m_measuring = false;
    m_lastLoss = outcome.loss;
    m_reporter.report(step);
    if (auto trace = m_monitor.takeTrace())
        m_reporter.report(std::move(*trace));
    if (auto buffer = m_monitor.takeBuffer())
        m_reporter.report(std::move(*buffer));
    if (m_run.offload) {
        if (const auto note = m_run.offload->takeNote(); !note.empty())
            m_reporter.note("warning", note, "memory.offload");
    }
    judge(outcome);
    m_windowRows.clear();
    m_lastUpdate = here();
    m_saver.pump();
    m_stop = std::max(m_stop, m_reporter.pollStop());
    saveIfWanted(!outcome.skipped);
}

void Loop::judge(const UpdateOutcome &outcome)
{
    if (!outcome.skipped) {
        m_nonFiniteInARow = 0;
        return;
    }
    if (!outcome.countsAsNonFinite) {
        m_reporter.note("info", "update skipped: a gradient overflowed at loss scale, which is now " + formatNumber(m_engine.scaler()->scale()), "run.loss-scale");
        return;
    }
    ++m_nonFiniteInARow;
    const std::string what = "the " + std::string(std::isfinite(outcome.loss) ? "gradient norm" : "loss") + " of update " + std::to_string(m_engine.updates() + 1) +
                             " is not finite (table rows " + listOf(m_windowRows) + "); nothing was updated";
    m_reporter.note("warning", what, "run.not-finite");
    const bool tooMany = m_nonFiniteInARow >= kNonFiniteInARow;
    if (!tooMany && m_settings.onNonFinite == OnNonFinite::Skip)
        return;
    m_failure = Error(ExitCode::Other, "run.not-finite", what + (tooMany ? ", " + std::to_string(m_nonFiniteInARow) + " times in a row" : "") +
                      "; go back to an earlier checkpoint, with a lower learning rate or without these rows");
    m_reporter.problem(*m_failure);
}

void Loop::saveIfWanted(bool updated)
{
    const bool inTurn = updated && m_settings.ckptEvery > 0 && m_engine.updates() % m_settings.ckptEvery == 0;
    const bool asked = m_reporter.takeSaveRequest();
    if ((inTurn || asked) && !m_failure && !stopsNow())
        save(m_lastUpdate);
    else if (updated && !std::exchange(m_readyToSave, true)) {
        m_engine.fillState();
        m_saver.prepare(m_engine.state());
    }
    if (m_saver.failure() && m_settings.stopOnSaveError && !m_failure)
        m_failure = m_saver.failure();
}

Place Loop::here() const
{
    return {m_engine.counters(), m_parts.data.position(), m_run.draws->save()};
}

// Saves the state, unless it has been saved already. place: now, or after the last update when a window was lost since.
bool Loop::save(const Place &place)
{
    if (m_savedMicroStep == place.counters.globalMicroStep && !m_saver.failure())
        return true;
    memory::PhaseScope phase(Phase::Save);
    if (!m_engine.isWhole() || !m_engine.hasFiniteWeights()) {
        const Error error(ExitCode::Other, "checkpoint.not-finite", "not saved: " + std::string(m_engine.isWhole() ? "the weights hold numbers that are not finite"
                          : "the last update was interrupted in its middle") + "; earlier checkpoints stay as they are");
        m_reporter.problem(error);
        m_failure = m_failure ? m_failure : error;
        return false;
    }
    auto &state = m_engine.state();
    state.counters = place.counters;
    state.position = ckptfile::DataPosition{place.position.epoch, place.position.index};
    state.randomStreams = place.streams;
    m_engine.fillState();
    m_saver.begin(state);
    m_savedMicroStep = place.counters.globalMicroStep;
    return true;
}

void Loop::saveLast()
{
    const bool wanted = m_stop == StopRequest::None || m_stop == StopRequest::SaveAndStop;
    const bool worth = !m_failure || m_failure->exit == ExitCode::OutOfMemory || m_failure->exit == ExitCode::Data;
    const bool anythingNew = m_engine.updates() > m_firstUpdates || !m_failure;
    if (!wanted || !worth || !anythingNew)
        return;
    if (m_failure)
        m_reporter.note("info", "saving what was trained until the failure", "run.saving-after-failure");
    m_reporter.state("saving_last");
    save(m_failure && m_windowRows.empty() ? m_lastUpdate : here());
}

std::string Loop::endSentence() const
{
    if (m_failure)
        return m_failure->message();
    const std::string made = std::to_string(m_engine.updates() - m_firstUpdates) + " updates made, " + std::to_string(m_engine.updates()) + " in all";
    return m_stop == StopRequest::None ? made : "stopped on request; " + made;
}

events::Summary Loop::summary() const
{
    events::Summary summary;
    summary.run = m_parts.runFolder.string();
    summary.steps = m_engine.updates() - m_firstUpdates;
    summary.loss = m_lastLoss;
    summary.peakBytes = m_monitor.peakBytes();
    summary.predictedPeakBytes = m_parts.predictedPeakBytes;
    summary.checkpoints = m_saver.committed();
    summary.seconds = steadySeconds() - m_start;
    const auto exit = m_failure ? m_failure->exit : m_stop != StopRequest::None ? ExitCode::Stopped : ExitCode::Done;
    summary.exit = int(exit);
    return summary;
}

} // namespace

Result<events::Summary> runLoop(const TrainerParts &parts, const Settings &settings, RunParts &run, Reporter &reporter)
{
    return Loop(parts, settings, run, reporter)();
}

} // namespace stagewright::train
