#include "tests/support/fake_worker/synthetic_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "core/base/host.h"

namespace stagewright::fake {

namespace {

constexpr std::int64_t kGiBytes = std::int64_t(1) << 30;
constexpr std::int64_t kCheckpointBytes = 3 * kGiBytes / 2;
const std::vector<events::Bucket> kBuckets{{"256px", 1, 256, 256, 8}, {"256px", 33, 192, 336, 2}, {"256px", 65, 192, 336, 1}, {"768px", 17, 576, 1024, 1}};

class SyntheticRun
{
public:
    SyntheticRun(const Behaviour &behaviour, train::Sink &sink)
        : m_b(behaviour), m_sink(sink), m_random(static_cast<std::uint64_t>(behaviour.seed))
    {
    }
    Outcome run();

private:
    void begin();
    void step();
    void misbehave();
    events::Step stepRecord();
    events::KindBytes bytesAt(double fraction) const;
    void reportTrace(const events::Step &step);
    void startSave();
    void moveSave();
    void finishSave();
    void waitForSave();
    void sleepFor(double seconds);
    bool mustEndNow();
    void report(events::Payload payload) { m_sink.report({0, m_step > 0 ? m_step : -1, std::move(payload)}); }
    void state(const char *name, const std::string &sentence = {}) { report(events::State{name, sentence, std::nullopt}); }
    double noise(double width) { return std::normal_distribution<double>(0, width)(m_random); }

    struct Save {
        std::string path;
        double began = 0;
        std::int64_t reported = 0;
    };

    const Behaviour &m_b;
    train::Sink &m_sink;
    std::mt19937_64 m_random;
    std::int64_t m_step = 0;
    events::Bucket m_bucket;
    std::set<std::int64_t> m_seenFrames;
    std::int64_t m_peak = 0;
    double m_loss = 1, m_blocked = 0;
    std::optional<Save> m_save;
    std::int64_t m_saves = 0, m_savedStep = -1;
    train::StopRequest m_stop = train::StopRequest::None;
    bool m_saveWanted = false;
    Outcome m_outcome;
    double m_began = wallSeconds();
};

events::KindBytes SyntheticRun::bytesAt(double fraction) const
{
    // Activations grow through the forward pass and shrink through the backward pass, where gradients appear.
    const double size = static_cast<double>(m_bucket.frames * m_bucket.height * m_bucket.width * m_bucket.batchSize) / (65.0 * 192 * 336);
    const double activation = fraction < 0.4 ? fraction / 0.4 : std::max(0.0, 1 - (fraction - 0.4) / 0.5);
    events::KindBytes bytes{};
    const auto put = [&](MemoryKind kind, double gib) { bytes[static_cast<std::size_t>(kind)] = static_cast<std::int64_t>(gib * kGiBytes); };
    put(MemoryKind::Parameter, 2.2);
    put(MemoryKind::Optimizer, 4.4);
    put(MemoryKind::Ema, 1.1);
    put(MemoryKind::Gradient, fraction < 0.4 ? 0.0 : 2.2 * std::min(1.0, (fraction - 0.4) / 0.4));
    put(MemoryKind::Activation, 6 * size * activation);
    put(MemoryKind::CheckpointedInput, 0.8 * size * activation);
    put(MemoryKind::Encoder, fraction < 0.05 ? 1.5 : 0.0);
    put(MemoryKind::Workspace, 0.3);
    return bytes;
}

events::Step SyntheticRun::stepRecord()
{
    events::Step step;
    m_bucket = kBuckets[std::discrete_distribution<std::size_t>({4, 3, 2, 1})(m_random)];
    const bool skipped = m_step == m_b.nonfiniteAt;
    step.loss = skipped ? std::numeric_limits<double>::quiet_NaN() : 0.12 + 0.9 * std::exp(-static_cast<double>(m_step) / 80) + noise(0.02);
    step.skipped = skipped;
    m_loss = skipped ? m_loss : step.loss;
    step.lr = 1e-4 * std::min(1.0, static_cast<double>(m_step) / 20);
    step.gradNorm = skipped ? std::numeric_limits<double>::infinity() : 0.8 + std::fabs(noise(0.3));
    step.bucket = m_bucket;
    step.seconds = std::max(0.001, static_cast<double>(m_b.stepMs) / 1000 * (1 + noise(0.05)));
    step.dataWaitSeconds = m_step % 17 == 0 ? step.seconds / 4 : 0;
    for (double at = 0; at <= 1; at += 0.05) {
        const events::KindBytes now = bytesAt(at);
        std::int64_t total = 0;
        for (const std::int64_t bytes : now)
            total += bytes;
        if (total > step.peakBytes) {
            step.peakBytes = total;
            step.peakByKind = now;
        }
    }
    step.phaseSeconds[static_cast<std::size_t>(Phase::Data)] = step.dataWaitSeconds;
    step.phaseSeconds[static_cast<std::size_t>(Phase::Encode)] = step.seconds * 0.08;
    step.phaseSeconds[static_cast<std::size_t>(Phase::Forward)] = step.seconds * 0.3;
    step.phaseSeconds[static_cast<std::size_t>(Phase::Backward)] = step.seconds * 0.5;
    step.phaseSeconds[static_cast<std::size_t>(Phase::Optimizer)] = step.seconds * 0.1;
    step.phaseSeconds[static_cast<std::size_t>(Phase::Ema)] = step.seconds * 0.02;
    step.epoch = m_step / 100;
    step.samples = m_bucket.batchSize;
    for (std::int64_t row = 0; row < m_bucket.batchSize; ++row)
        step.rows.push_back((m_step * 8 + row) % 480);
    step.blockedSeconds = std::exchange(m_blocked, 0);
    return step;
}

void SyntheticRun::reportTrace(const events::Step &step)
{
    const bool newPeak = step.peakBytes > m_peak;
    m_peak = std::max(m_peak, step.peakBytes);
    if (!m_seenFrames.insert(m_bucket.frames).second && !newPeak && m_step % 100 != 0)
        return;
    events::MemoryTrace trace;
    trace.bucket = m_bucket;
    for (int at = 0; at <= 100; ++at) {
        const double fraction = at / 100.0;
        trace.at.push_back(fraction * step.seconds);
        trace.phase.push_back(static_cast<int>(fraction < 0.08 ? Phase::Encode : fraction < 0.4 ? Phase::Forward : fraction < 0.9 ? Phase::Backward : Phase::Optimizer));
        trace.bytes.push_back(bytesAt(fraction));
    }
    trace.host[static_cast<std::size_t>(HostKind::PinnedActivations)] = 2 * kGiBytes;
    trace.residentBytes = 6 * kGiBytes;
    trace.reservedBytes = step.peakBytes + kGiBytes / 2;
    report(std::move(trace));
}

void SyntheticRun::startSave()
{
    if (m_save)
        return;
    m_savedStep = m_step;
    m_save = Save{(m_b.runFolder / ("epoch" + std::to_string(m_step / 100) + "-global_step" + std::to_string(m_step))).string(), steadySeconds()};
    ++m_saves;
    m_blocked = static_cast<double>(m_b.saveMs) / 20'000;
    report(events::Checkpoint{m_save->path, "stage", {}, kCheckpointBytes, kCheckpointBytes, 0, 0, {}});
}

// Progress of the save that is under way, at every update.
void SyntheticRun::moveSave()
{
    if (!m_save)
        return;
    const double seconds = steadySeconds() - m_save->began;
    const double fraction = m_b.saveMs > 0 ? std::min(1.0, seconds * 1000 / static_cast<double>(m_b.saveMs)) : 1;
    if (m_b.failSave == m_saves && fraction > 0.5) {
        report(events::Checkpoint{m_save->path, "failed", {}, 0, kCheckpointBytes, seconds, 0,
                                  "cannot write " + m_save->path + ": No space left on device; free some disk space"});
        m_save.reset();
        return;
    }
    report(events::Checkpoint{m_save->path, "write", "model/model-00001.safetensors", static_cast<std::int64_t>(fraction * double(kCheckpointBytes)), kCheckpointBytes, seconds, 0, {}});
    if (fraction >= 1)
        finishSave();
}

void SyntheticRun::finishSave()
{
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(m_save->path) / "model", ignored);
    std::ofstream(std::filesystem::path(m_save->path) / "running_states.json") << "{\"epoch\": 0, \"step\": " << m_step << ", \"global_step\": " << m_step << "}\n";
    const double seconds = steadySeconds() - m_save->began;
    const double blocked = static_cast<double>(m_b.saveMs) / 20'000;
    for (const char *phase : {"flush", "commit", "verify", "done"})
        report(events::Checkpoint{m_save->path, phase, {}, kCheckpointBytes, kCheckpointBytes, seconds, blocked, {}});
    m_outcome.summary.checkpoints.push_back({m_save->path, kCheckpointBytes, blocked, seconds});
    m_save.reset();
}

void SyntheticRun::waitForSave()
{
    while (m_save && !mustEndNow()) {
        sleepFor(std::max(0.01, static_cast<double>(m_b.saveMs) / 5000));
        moveSave();
    }
}

bool SyntheticRun::mustEndNow()
{
    const train::Requests requests = m_sink.poll();
    m_saveWanted = m_saveWanted || requests.save;
    m_stop = std::max(m_stop, requests.stop);
    return m_stop == train::StopRequest::Now;
}

// In small pieces, so that "at once" means it.
void SyntheticRun::sleepFor(double seconds)
{
    const double until = steadySeconds() + seconds;
    for (double left = seconds; left > 0 && !mustEndNow(); left = until - steadySeconds())
        std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 0.01)));
}

void SyntheticRun::misbehave()
{
    if (m_step == m_b.abortAt)
        std::raise(SIGABRT);
    if (m_step == m_b.killAt)
        std::raise(SIGKILL);
    if (m_step == m_b.segvAt)
        std::raise(SIGSEGV);
    if (m_step == m_b.suspendAt)
        std::raise(SIGSTOP);
    if (m_step == m_b.stallAt)
        sleepFor(static_cast<double>(m_b.stallMs) / 1000);
    for (std::int64_t i = 0; m_step == m_b.floodAt && i < m_b.flood; ++i) {
        ++m_step;
        report(stepRecord());
    }
}

void SyntheticRun::step()
{
    ++m_step;
    misbehave();
    sleepFor(static_cast<double>(m_b.stepMs) / 1000);
    const events::Step record = stepRecord();
    report(record);
    reportTrace(record);
    if (m_step % 10 == 0)
        report(events::Buffer{2 * kGiBytes, kGiBytes + m_step % 7 * kGiBytes / 8, 19, m_step % 70 == 0 ? 1 : 0, 0.001, m_bucket});
    if (m_step % 60 == 0)
        report(events::BadSample{m_step, "clips/broken_" + std::to_string(m_step) + ".mp4", "the stream ends after 3 frames", m_step + 1, m_step / 60});
    if (m_step == m_b.nonfiniteAt)
        report(events::Note{"warning", "the loss of step " + std::to_string(m_step) + " is not finite; nothing was updated", "run.nonfinite"});
    moveSave();
    if ((m_b.checkpointEvery > 0 && m_step % m_b.checkpointEvery == 0) || std::exchange(m_saveWanted, false))
        startSave();
}

void SyntheticRun::begin()
{
    state("starting");
    report(events::RunStarted{m_b.runFolder.string(), "cpu", "a fake worker trains nowhere", "fake device", 16 * kGiBytes, 1'180'000'000, 100, m_b.steps, 0, 19, 38});
    for (const char *at : {"diffusion", "EMA", "autoencoder", "t5", "clip", "optimizer", "final"})
        report(events::Milestone{at, 3 * kGiBytes, 3 * kGiBytes, 2 * kGiBytes, bytesAt(0.1)});
    sleepFor(static_cast<double>(m_b.startupMs) / 1000);
    state("training");
}

Outcome SyntheticRun::run()
{
    begin();
    while (m_step < m_b.steps && !mustEndNow() && m_stop == train::StopRequest::None) {
        step();
        if (m_step == m_b.exitAt) {
            m_outcome.sentence = "the fake worker was told to fail at step " + std::to_string(m_step);
            m_outcome.summary.exit = static_cast<int>(m_b.exit);
            break;
        }
    }
    const bool savesLast = m_outcome.summary.exit == 0 && (m_stop == train::StopRequest::None || m_stop == train::StopRequest::SaveAndStop);
    if (m_outcome.summary.exit == 0 && m_stop != train::StopRequest::None)
        m_outcome.summary.exit = static_cast<int>(ExitCode::Stopped);
    if (savesLast) {
        state("saving_last");
        waitForSave();                     // that is under way
        if (m_savedStep != m_step)
            startSave();
        waitForSave();
    }
    m_outcome.summary.steps = m_step;
    m_outcome.summary.loss = m_loss;
    m_outcome.summary.peakBytes = m_peak;
    m_outcome.summary.predictedPeakBytes = m_peak + m_peak / 50;
    m_outcome.summary.seconds = wallSeconds() - m_began;
    return m_outcome;
}

} // namespace

Outcome runSynthetic(const Behaviour &behaviour, train::Sink &sink)
{
    return SyntheticRun(behaviour, sink).run();
}

} // namespace stagewright::fake
