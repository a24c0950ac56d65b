#include "core/train/saver.h"

#include <thread>

#include "core/base/host.h"
#include "core/base/units.h"

namespace stagewright::train {

namespace {

constexpr std::chrono::seconds kFinishDeadline{3600};        // for the last save, verified

checkpoint::WriterSettings writerSettings(std::function<void(const events::Checkpoint &)> progress, std::function<void(std::int64_t)> staging)
{
    checkpoint::WriterSettings settings;
    settings.progress = std::move(progress);
    settings.staging = std::move(staging);
    return settings;
}

} // namespace

Saver::Saver(const config::Stage &stage, std::filesystem::path runFolder, Reporter &reporter)
    : m_reporter(reporter), m_runFolder(std::move(runFolder)), m_options(checkpoint::saveOptionsOf(stage)), m_staging(HostKind::CheckpointStaging, 0),
      m_writer(writerSettings(
          [this](const events::Checkpoint &progress) {
              std::lock_guard lock(m_mutex);
              m_progress.push_back(progress);
          },
          [this](std::int64_t bytes) {
              std::lock_guard lock(m_mutex);
              m_staging.resize(bytes);
          }))
{
    // A save that waits for disk space gives up when the run is to end at once. In a save that is not asynchronous this is the training
    // thread itself, which then asks the sink.
    const auto trainingThread = std::this_thread::get_id();
    m_options.keepWaiting = [this, trainingThread] {
        if (std::this_thread::get_id() == trainingThread && m_reporter.pollStop() == StopRequest::Now)
            m_gaveUp = true;
        return !m_gaveUp.load();
    };
}

Saver::~Saver() = default;

void Saver::begin(const checkpoint::TrainingState &state)
{
    const double start = steadySeconds();
    const auto begun = m_writer.begin(state, m_runFolder, m_options);
    m_blocked += steadySeconds() - start;
    if (!begun) {
        m_failure = begun.error();
        m_reporter.problem(begun.error());
    }
    pump();
}

double Saver::waitForSnapshot()
{
    const auto waited = m_writer.waitForSnapshot();
    if (waited)
        return *waited;
    m_failure = waited.error();
    m_reporter.problem(waited.error());
    return 0;
}

void Saver::pump()
{
    std::vector<events::Checkpoint> progress;
    {
        std::lock_guard lock(m_mutex);
        progress.swap(m_progress);
    }
    for (auto &record : progress)
        m_reporter.report(std::move(record));
    takeOutcomes();
}

void Saver::takeOutcomes()
{
    for (const auto &outcome : m_writer.takeOutcomes()) {
        if (outcome.committed) {
            m_committed.push_back({outcome.folder.string(), outcome.bytes, outcome.blockedSeconds, outcome.totalSeconds});
            m_lastCommitted = outcome.step;
        }
        if (outcome.error) {
            if (outcome.error->problem.code == "checkpoint.skipped") {
                m_reporter.note("warning", outcome.error->message(), outcome.error->problem.code);
                continue;
            }
            m_failure = outcome.error;
            m_reporter.problem(*outcome.error);
        } else if (outcome.committed) {
            m_failure.reset();
            m_reporter.note("info", "saved " + outcome.folder.filename().string() + " (" + formatBytes(double(outcome.bytes)) + " in " +
                            formatDuration(outcome.totalSeconds) + ", training waited " + formatDuration(outcome.blockedSeconds) + ")", "checkpoint.saved");
        }
    }
}

void Saver::finish(const std::function<bool()> &giveUp)
{
    const double start = steadySeconds();
    while (!m_writer.isSafeToStop()) {
        if (giveUp() || steadySeconds() - start > double(kFinishDeadline.count())) {
            m_gaveUp = true;
            break;
        }
        (void)m_writer.finish(std::chrono::seconds(1));      // its deadline passing only means another round
        pump();
    }
    pump();
}

} // namespace stagewright::train
