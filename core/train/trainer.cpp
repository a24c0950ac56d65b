#include "core/train/trainer.h"

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/ckptfile/states.h"
#include "core/memory/device.h"
#include "core/memory/ledger.h"
#include "core/train/out_of_memory.h"
#include "core/train/run_loop.h"
#include "core/train/setup.h"

namespace stagewright::train {

namespace {

// Updates that a checkpoint has behind it, before it is loaded; 0 where that is not to be seen.
std::int64_t updatesOf(const std::optional<std::filesystem::path> &checkpoint)
{
    if (!checkpoint)
        return 0;
    const auto file = *checkpoint / "running_states.json";
    const auto text = readFile(file, 1 << 20);
    const auto counters = text ? ckptfile::parseRunningStates(*text, file.string()) : Result<ckptfile::Counters>(text.error());
    return counters ? counters->updates : 0;
}

} // namespace

class Trainer::Impl
{
public:
    explicit Impl(TrainerParts parts) : m_parts(std::move(parts)), m_reporter(m_parts.sink) {}
    Status build();
    Result<events::Summary> run() { return runLoop(m_parts, m_settings, m_run, m_reporter); }

private:
    Status buildParts();
    Status reportStart();
    TrainerParts m_parts;
    Settings m_settings;
    Reporter m_reporter;
    RunParts m_run;
};

Status Trainer::Impl::reportStart()
{
    const auto config = model::mmditConfig(m_parts.stage);
    if (!config)
        return config.error();
    events::RunStarted started;
    started.run = m_parts.runFolder.string();
    started.device = m_parts.device.str();
    started.deviceReason = m_parts.deviceReason;
    started.deviceName = !m_parts.deviceName.empty() || !m_parts.device.is_cpu() ? m_parts.deviceName : memory::cpuName();
    started.deviceTotalBytes = m_parts.deviceTotalBytes > 0 || !m_parts.device.is_cpu() ? m_parts.deviceTotalBytes : hostTotalBytes();
    started.parameters = model::parameterCount(*config);
    started.stepsPerEpoch = m_parts.data.batchesPerEpoch() / m_settings.accumulation;
    const auto byEpochs = m_parts.data.batchesPerEpoch() * m_settings.epochs / m_settings.accumulation;
    started.maxSteps = m_settings.maxSteps > 0 ? std::min(m_settings.maxSteps, byEpochs) : byEpochs;
    started.firstStep = updatesOf(m_parts.load);
    started.doubleBlocks = config->depth;
    started.singleBlocks = config->depthSingleBlocks;
    m_reporter.report(started);
    return Done{};
}

Status Trainer::Impl::build()
{
    auto settings = readSettings(m_parts.stage, m_parts.worldSize);
    if (!settings)
        return settings.error();
    m_settings = std::move(*settings);
    if (const auto started = reportStart(); !started)
        return started;
    m_reporter.state("starting", "building the model and its encoders");
    if (const auto ledger = memory::attachLedger(m_parts.device); !ledger)
        m_reporter.note("warning", "memory is not measured: " + ledger.error().message(), "memory.no-ledger");
    if (const auto limit = applyMemoryLimit(m_parts.device, m_settings.memoryLimitBytes); !limit)
        return limit;
    try {
        return buildParts();
    } catch (const c10::OutOfMemoryError &error) {
        return outOfMemory(error, "while the model was built");
    }
}

Status Trainer::Impl::buildParts()
{
    auto run = buildRun(m_parts, m_settings, m_reporter);
    if (!run)
        return run.error();
    m_run = std::move(*run);
    if (m_parts.load) {
        if (const auto resumed = resumeRun(*m_parts.load, m_parts, m_settings, m_run, m_reporter); !resumed)
            return resumed;
    } else if (m_settings.startEpoch || m_settings.startStep) {
        if (const auto sought = seekTo(m_parts.data, {m_settings.startEpoch.value_or(0), m_settings.startStep.value_or(0)}, m_reporter); !sought)
            return sought;
    }
    if (m_settings.emaDecay)
        m_reporter.milestone("sharding EMA");
    return Done{};
}

Trainer::Trainer(std::unique_ptr<Impl> impl) : m_impl(std::move(impl)) {}
Trainer::~Trainer() = default;

Result<std::unique_ptr<Trainer>> Trainer::create(TrainerParts parts)
{
    auto impl = std::make_unique<Impl>(std::move(parts));
    if (auto built = impl->build(); !built)
        return built.error();
    return std::unique_ptr<Trainer>(new Trainer(std::move(impl)));
}

Result<events::Summary> Trainer::run()
{
    return m_impl->run();
}

} // namespace stagewright::train
