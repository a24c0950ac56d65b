// Weights, optimizer and counters of one rank, and the two things that happen to them: micro-steps and updates. No files, no reports.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/torchpch/torch.h"

#include "core/base/result.h"
#include "core/checkpoint/training_state.h"
#include "core/memory/step_memory.h"
#include "core/model/mmdit.h"
#include "core/train/draws.h"
#include "core/train/encoding.h"
#include "core/train/gradients.h"
#include "core/train/hybrid_adam.h"
#include "core/train/inputs.h"
#include "core/train/loss_scaler.h"
#include "core/train/schedule.h"
#include "core/train/settings.h"

namespace stagewright::train {

struct MicroStepOutcome {
    torch::Tensor loss;                  // float32 scalar on the training device, detached
    torch::Tensor prediction;            // [B,L,C*p*p], detached; only with keepPrediction
    Inputs inputs;                       // only with keepPrediction
};

struct UpdateOutcome {
    double loss = 0;                     // mean over the window's micro-steps
    double gradNorm = 0;                 // before clipping, a loss scale removed
    double lr = 0;                       // used
    bool skipped = false;                // not finite: weights, moments, average and counters are as before
    bool countsAsNonFinite = false;      // skipped, and not just a loss scale that was too high
    std::int64_t microSteps = 0;
};

// Seconds spent in each phase since the last update.
using PhaseSeconds = std::array<double, kPhaseNames.size()>;

// Training thread only. Everything here may throw c10::Error, memory::OutOfMemory among them; after one in a micro-step call abandonWindow(),
// after one in an update the state is not to be saved (isWhole() is false).
class Engine
{
public:
    // model: on the training device in the training dtype, in train mode. stepsPerEpoch: micro-steps of this rank, for the schedule.
    Engine(const Settings &settings, model::Mmdit model, std::int64_t stepsPerEpoch);

    // In the order of the original's set-up: the average, then masters and optimizer.
    void makeAverage();
    void makeMasters();

    void setMemory(memory::StepMemory memory) { m_memory = memory; }
    void setKeepPrediction(bool on) { m_keepPrediction = on; }

    // What changes tensors waits for this first: the snapshot of a save that is under way.
    void setBeforeChange(std::function<void()> wait) { m_beforeChange = std::move(wait); }

    // One batch: encode, draw, forward, backward. epoch and index as the batch says them.
    MicroStepOutcome microStep(const data::Batch &batch, Encoding &encoding, Draws &draws);
    bool isUpdateDue() const;
    UpdateOutcome update();
    // The part of the original's loop that follows every micro-step, updated or not (only compat opensora does something here).
    void afterMicroStep();
    bool lastHadNothingToChoose() const { return m_nothingToChoose; }        // of the last micro-step: see Encoded
    void abandonWindow();                // forgets the gradients collected since the last update
    bool isWhole() const { return m_whole; }
    bool hasFiniteWeights() const;

    // The state with everything that this class keeps; position, streams and identities are the caller's. Tensors are shared, not copied.
    checkpoint::TrainingState &state() { return m_state; }
    void fillState();                    // brings its scalars and the open window up to date, before a save
    // After a load into state(): scalars, schedule, scaler, the open window; masters from the weights where compat does without saved ones.
    // Notes say what was decided.
    void adoptState(std::vector<std::string> &notes);

    const ckptfile::Counters &counters() const { return m_state.counters; }
    std::int64_t updates() const { return m_state.counters.updates; }
    const Schedule &schedule() const { return m_schedule; }
    model::Mmdit &model() { return m_model; }
    const std::optional<LossScaler> &scaler() const { return m_scaler; }
    PhaseSeconds takePhaseSeconds();
    std::int64_t parameterCount() const;

private:
    class Timed;
    ScheduleSettings scheduleSettings(std::int64_t stepsPerEpoch) const;
    bool isOriginal() const { return m_settings.compat == Compat::OpenSora; }
    void updateAverageIfWanted();

    const Settings &m_settings;
    model::Mmdit m_model;
    checkpoint::TrainingState m_state;
    memory::StepMemory m_memory;
    std::unique_ptr<Gradients> m_gradients;
    std::unique_ptr<HybridAdam> m_adam;
    std::optional<LossScaler> m_scaler;
    Schedule m_schedule;
    std::vector<torch::Tensor> m_losses;         // of the window
    std::function<void()> m_beforeChange;
    PhaseSeconds m_phaseSeconds{};
    bool m_keepPrediction = false, m_whole = true, m_nothingToChoose = false;
};

} // namespace stagewright::train
