#include "core/train/engine.h"

#include <cmath>
#include <cstring>

#include "core/base/host.h"
#include "core/base/units.h"
#include "core/memory/ledger.h"
#include "core/train/average.h"
#include "core/train/objective.h"

namespace stagewright::train {

namespace {

// Losses of a window that is open when a checkpoint is written, float32 each, so that the next step's record is right too.
constexpr const char *kWindowStream = "trainer.window";

std::string bytesOf(const std::vector<torch::Tensor> &losses)
{
    const auto values = torch::stack(losses).to(torch::kCPU, torch::kFloat32).contiguous();
    return std::string(static_cast<const char *>(values.const_data_ptr()), std::size_t(values.numel()) * sizeof(float));
}

std::vector<torch::Tensor> lossesOf(const std::string &bytes, torch::Device device)
{
    auto values = torch::empty({std::int64_t(bytes.size() / sizeof(float))}, torch::kFloat32);
    std::memcpy(values.mutable_data_ptr(), bytes.data(), std::size_t(values.numel()) * sizeof(float));
    return values.to(device).unbind(0);
}

// A scalar's value; on meta, where there is none, a number as good as any.
double valueOf(const torch::Tensor &scalar)
{
    return scalar.is_meta() ? 1 : scalar.item<double>();
}

} // namespace

// A phase for the ledger and for the clock.
class Engine::Timed
{
public:
    Timed(Engine &engine, Phase phase) : m_engine(engine), m_phase(phase), m_scope(phase), m_start(steadySeconds()) {}
    ~Timed() { m_engine.m_phaseSeconds[std::size_t(m_phase)] += steadySeconds() - m_start; }

private:
    Engine &m_engine;
    Phase m_phase;
    memory::PhaseScope m_scope;
    double m_start;
};

Engine::Engine(const Settings &settings, model::Mmdit model, std::int64_t stepsPerEpoch)
    : m_settings(settings), m_model(std::move(model)), m_schedule(scheduleSettings(stepsPerEpoch))
{
    std::vector<torch::Tensor> trainable;
    for (const auto &named : m_model->named_parameters()) {
        checkpoint::ParameterState parameter;
        parameter.name = named.key();
        parameter.weight = named.value();
        parameter.trainable = named.value().requires_grad();
        if (parameter.trainable)
            trainable.push_back(named.value());
        m_state.parameters.push_back(std::move(parameter));
    }
    memory::trackGradients(trainable);
    m_gradients = std::make_unique<Gradients>(m_state.parameters, isOriginal() ? Accumulation::ParameterDtype : Accumulation::Float32, settings.accumulation);
    m_adam = std::make_unique<HybridAdam>(m_state.parameters, settings.adam);
    if (settings.dtype == torch::kFloat16)
        m_scaler.emplace(settings.scaler);
    m_state.dtype = settings.dtypeName;
    fillState();
}

ScheduleSettings Engine::scheduleSettings(std::int64_t stepsPerEpoch) const
{
    ScheduleSettings schedule;
    schedule.lr = m_settings.lr;
    schedule.warmupSteps = m_settings.warmupSteps;
    schedule.cosine = m_settings.cosine;
    if (isOriginal()) {
        schedule.totalSteps = stepsPerEpoch * m_settings.epochs;
        return schedule;                             // initial_lr only matters when it resumes
    }
    if (m_settings.initialLr)
        schedule.initialLr = *m_settings.initialLr;
    schedule.totalSteps = m_settings.maxSteps > 0 ? m_settings.maxSteps : stepsPerEpoch * m_settings.epochs / m_settings.accumulation;
    return schedule;
}

void Engine::makeAverage()
{
    if (!m_settings.emaDecay)
        return;
    memory::KindScope kind(MemoryKind::Ema);
    startAverage(m_state.parameters, isOriginal() ? AveragePrecision::WeightDtype : AveragePrecision::Float32);
}

void Engine::makeMasters()
{
    torch::NoGradGuard noGrad;
    memory::KindScope kind(MemoryKind::Optimizer);
    for (auto &parameter : m_state.parameters) {
        if (parameter.trainable && parameter.weight.scalar_type() != torch::kFloat32)
            parameter.master = parameter.weight.detach().to(torch::kFloat32);
    }
}

MicroStepOutcome Engine::microStep(const data::Batch &batch, Encoding &encoding, Draws &draws)
{
    MicroStepOutcome outcome;
    Encoded encoded;
    Inputs inputs;
    {
        Timed timed(*this, Phase::Encode);
        draws.beginStep(m_state.counters.globalMicroStep, batch.size());
        encoded = encoding.encode(batch, draws);
        m_nothingToChoose = encoded.nothingToChoose;
        inputs = makeInputs(m_settings, m_model->config(), encoded, encoding, draws);
    }
    torch::Tensor loss;
    {
        Timed timed(*this, Phase::Forward);
        if (m_memory.offload)
            m_memory.offload->beginStep();
        const auto prediction = m_model->forward(inputs.model, m_memory);
        const bool withoutReferences = m_settings.skipReferenceLoss && !isOriginal() && encoded.masks.defined();
        loss = withoutReferences ? velocityLossWithoutReferences(prediction, inputs.target, encoded.masks, m_settings.patch)
                                 : velocityLoss(prediction, inputs.target);
        if (m_keepPrediction)
            outcome.prediction = prediction.detach();
    }
    outcome.loss = loss.detach().clone();            // the mean lies in the memory of all the squares
    if (m_keepPrediction)
        outcome.inputs = std::move(inputs);
    else
        inputs = {};
    encoded = {};
    {
        Timed timed(*this, Phase::Backward);
        auto scaled = m_settings.accumulation > 1 ? loss / double(m_settings.accumulation) : loss;
        if (m_scaler)
            scaled = scaled * m_scaler->scale();
        loss.reset();
        scaled.backward();
        if (m_memory.observer)
            m_memory.observer->backwardEnded();
        memory::KindScope kind(MemoryKind::Gradient);
        torch::NoGradGuard noGrad;
        m_gradients->collect();
    }
    m_losses.push_back(outcome.loss);
    auto &counters = m_state.counters;
    counters.epoch = batch.epoch;
    counters.microStep = batch.index + 1;
    ++counters.globalMicroStep;
    return outcome;
}

bool Engine::isUpdateDue() const
{
    if (isOriginal())                                // counts within the epoch, so a rest of an epoch joins the next one's first update
        return m_state.counters.microStep % m_settings.accumulation == 0;
    return m_gradients->collected() >= m_settings.accumulation;
}

UpdateOutcome Engine::update()
{
    Timed timed(*this, Phase::Optimizer);
    torch::NoGradGuard noGrad;
    UpdateOutcome outcome;
    outcome.microSteps = std::int64_t(m_losses.size());
    outcome.lr = m_schedule.lr();
    const double scale = m_scaler ? m_scaler->scale() : 1;
    outcome.gradNorm = m_gradients->norm() / scale;
    outcome.loss = m_losses.empty() ? std::nan("") : valueOf(torch::stack(m_losses).to(torch::kFloat64).mean());
    m_losses.clear();

    const bool finite = std::isfinite(outcome.loss) && std::isfinite(outcome.gradNorm);
    if (!finite) {
        outcome.skipped = true;
        outcome.countsAsNonFinite = !m_scaler || !std::isfinite(outcome.loss) || m_scaler->isAtMinimum();
        ++m_state.counters.skippedUpdates;
    }
    if (m_beforeChange)
        m_beforeChange();
    if (finite) {
        {
            memory::KindScope kind(MemoryKind::Optimizer);
            m_adam->ensureMoments();
        }
        m_whole = false;
        m_adam->step(m_gradients->tensors(), outcome.lr, clipFactor(outcome.gradNorm, m_settings.gradClip) / scale);
        ++m_state.counters.updates;
    }
    if (m_scaler)
        m_scaler->update(!finite);
    m_gradients->release();
    if (finite && !isOriginal()) {
        m_schedule.advance();
        updateAverageIfWanted();
    }
    m_whole = true;
    return outcome;
}

void Engine::afterMicroStep()
{
    if (!isOriginal())
        return;
    m_schedule.advance();
    if (m_settings.emaDecay && m_beforeChange)
        m_beforeChange();
    updateAverageIfWanted();
}

void Engine::updateAverageIfWanted()
{
    if (!m_settings.emaDecay)
        return;
    Timed timed(*this, Phase::Ema);
    updateAverage(m_state.parameters, *m_settings.emaDecay);
}

void Engine::abandonWindow()
{
    m_gradients->release();
    m_losses.clear();
    if (m_memory.offload)
        m_memory.offload->beginStep();
}

bool Engine::hasFiniteWeights() const
{
    torch::NoGradGuard noGrad;
    for (const auto &parameter : m_state.parameters) {
        const auto &values = parameter.master.defined() ? parameter.master : parameter.weight;
        if (!std::isfinite(values.detach().sum().item<double>()) && !torch::isfinite(values).all().item<bool>())
            return false;
    }
    return true;
}

void Engine::fillState()
{
    auto &group = m_state.group;
    const auto &adam = m_adam->settings();
    group.lr = m_schedule.lr();
    group.betas = adam.betas;
    group.eps = adam.eps;
    group.weightDecay = adam.weightDecay;
    group.biasCorrection = adam.biasCorrection;
    m_state.scheduler = m_schedule.state();
    if (m_state.scheduler && !group.initialLr)
        group.initialLr = m_settings.lr;
    if (m_scaler)
        m_state.scaler = m_scaler->state();
    m_state.sampler.seed = std::int64_t(m_settings.seed);
    m_state.sampler.epoch = m_state.counters.epoch;
    m_state.sampler.accessIndex = m_state.counters.microStep * m_state.worldSize;
    m_gradients->exportTo(m_state.parameters);
    m_state.collectedMicroSteps = m_gradients->collected();
    if (m_losses.empty())
        m_state.randomStreams.erase(kWindowStream);
    else
        m_state.randomStreams[kWindowStream] = bytesOf(m_losses);
}

void Engine::adoptState(std::vector<std::string> &notes)
{
    torch::NoGradGuard noGrad;
    if (isOriginal() && !m_settings.loadMasterWeights) {
        for (auto &parameter : m_state.parameters) {
            if (parameter.master.defined())
                parameter.master.copy_(parameter.weight);
        }
    }
    auto &adam = m_adam->settings();
    const auto &group = m_state.group;
    if (isOriginal()) {
        adam.betas = group.betas;
        adam.weightDecay = group.weightDecay;
        adam.biasCorrection = group.biasCorrection;
        m_schedule.resumeAsOriginal(m_state.scheduler, m_settings.initialLr, m_settings.updateWarmup, m_state.counters.globalMicroStep);
    } else {
        const auto differs = [&](const std::string &name, double saved, double configured) {
            if (saved != configured)
                notes.push_back("optim." + name + " is " + formatNumber(configured) + " from now on, as the stage says; the checkpoint had " + formatNumber(saved));
        };
        differs("betas[0]", group.betas[0], adam.betas[0]);
        differs("betas[1]", group.betas[1], adam.betas[1]);
        differs("eps", group.eps, adam.eps);
        differs("weight_decay", group.weightDecay, adam.weightDecay);
        differs("bias_correction", group.biasCorrection, adam.biasCorrection);
        m_schedule.resumeAt(m_state.counters.updates);
    }
    if (m_scaler && m_state.scaler)
        m_scaler->restore(*m_state.scaler);
    m_losses.clear();
    if (const auto window = m_state.randomStreams.find(kWindowStream); window != m_state.randomStreams.end())
        m_losses = lossesOf(window->second, m_model->parameters().front().device());
    m_gradients->importFrom(m_state.parameters, m_state.collectedMicroSteps);
    for (auto &parameter : m_state.parameters)
        parameter.gradient.reset();                  // the engine's own copy counts from here on
    m_whole = true;
}

PhaseSeconds Engine::takePhaseSeconds()
{
    return std::exchange(m_phaseSeconds, {});
}

std::int64_t Engine::parameterCount() const
{
    std::int64_t count = 0;
    for (const auto &parameter : m_state.parameters)
        count += parameter.trainable ? parameter.weight.numel() : 0;
    return count;
}

} // namespace stagewright::train
