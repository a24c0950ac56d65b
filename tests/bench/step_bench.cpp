// Trains a stage on synthetic clips inside this process and prints what each step took, as JSON. Driven by tests/bench/run.
//   stagewright-step-bench STAGE STEPS SIDE FRAMES BATCH [--monitor-turn N] [--KEY VALUE …]
// --monitor-turn: every other N steps the records also go where the worker's go (history, lease, TensorBoard file, socket).
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "core/base/host.h"
#include "core/base/openmp_waits.h"
#include "core/config/overrides.h"
#include "core/config/stage.h"
#include "core/model/mmdit_config.h"
#include "core/runhost/run_host.h"
#include "core/train/trainer.h"
#include "tests/unit/train/recording_sink.h"
#include "tests/unit/train/synthetic_source.h"

using namespace stagewright;

namespace {

[[noreturn]] void fail(const std::string &sentence)
{
    std::fprintf(stderr, "stagewright-step-bench: %s\n", sentence.c_str());
    std::exit(1);
}

// Keeps the records, and passes those of every other turn on to a run's host.
class TurningSink final : public train::Sink
{
public:
    explicit TurningSink(std::int64_t stepsPerTurn) : m_stepsPerTurn(stepsPerTurn) {}

    void hostIn(const std::filesystem::path &folder)
    {
        auto host = runhost::RunHost::start({.folder = folder, .identity = {.id = runlog::newRunId(), .name = "bench"}, .handleSignals = false});
        if (!host)
            fail(host.error().message());
        m_host = std::move(*host);
    }
    void report(events::Record record) override
    {
        const bool monitored = m_host && m_steps / m_stepsPerTurn % 2 == 1;
        m_steps += std::holds_alternative<events::Step>(record.payload);
        if (monitored)
            m_host->report(record);
        m_kept.report(std::move(record));
    }
    train::Requests poll() override { return {}; }
    void finish(const events::Summary &summary)
    {
        if (m_host)
            m_host->finish(summary, {});
    }
    const test::RecordingSink &kept() const { return m_kept; }

private:
    const std::int64_t m_stepsPerTurn;
    std::int64_t m_steps = 0;
    test::RecordingSink m_kept;
    std::unique_ptr<runhost::RunHost> m_host;
};

double seconds(const events::Step &step, Phase phase)
{
    return step.phaseSeconds[static_cast<std::size_t>(phase)];
}

nlohmann::json describe(const events::Step &step)
{
    return {{"seconds", step.seconds}, {"blocked_seconds", step.blockedSeconds}, {"loss", step.loss}, {"peak_bytes", step.peakBytes},
            {"compute_seconds", seconds(step, Phase::Forward) + seconds(step, Phase::Backward) + seconds(step, Phase::Optimizer) + seconds(step, Phase::Ema)},
            {"forward", seconds(step, Phase::Forward)}, {"backward", seconds(step, Phase::Backward)},
            {"optimizer", seconds(step, Phase::Optimizer)}, {"ema", seconds(step, Phase::Ema)}};
}

} // namespace

int main(int argc, char **argv)
{
    ensureShortOpenMpWaits(argv);                // as the worker does
    if (argc < 6)
        fail("usage: stagewright-step-bench STAGE STEPS SIDE FRAMES BATCH [--KEY VALUE …]");
    std::vector<std::string> tokens(argv + 6, argv + argc);
    std::int64_t monitorTurn = 0;
    if (const auto at = std::find(tokens.begin(), tokens.end(), "--monitor-turn"); at != tokens.end()) {
        if (at + 1 == tokens.end() || (monitorTurn = std::atoll((at + 1)->c_str())) < 1)
            fail("--monitor-turn wants a number of steps");
        tokens.erase(at, at + 2);
    }
    auto parsed = config::parseOverrides(tokens);
    if (!parsed)
        fail(parsed.error().message());
    parsed->overrides.push_back({"max_train_steps", argv[2], config::OriginKind::Override});
    auto stage = config::loadStage(argv[1], parsed->overrides);
    if (!stage)
        fail(stage.error().message());
    const std::int64_t side = std::atoll(argv[3]), frames = std::atoll(argv[4]), batch = std::atoll(argv[5]);
    test::SyntheticBatch clips{{}, frames, side, side};
    for (std::int64_t row = 0; row < batch; ++row)
        clips.rows.push_back(row);
    test::SyntheticSource source({clips, clips, clips, clips});
    TurningSink sink(std::max<std::int64_t>(monitorTurn, 1));
    const auto folder = std::filesystem::temp_directory_path() / ("stagewright-bench-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    if (monitorTurn > 0)
        sink.hostIn(folder);
    const std::int64_t residentBefore = residentBytes();
    auto trainer = train::Trainer::create({.stage = *stage, .data = source, .sink = sink, .runFolder = folder});
    if (!trainer)
        fail(trainer.error().message());
    auto summary = (*trainer)->run();
    if (summary)
        sink.finish(*summary);
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    if (!summary)
        fail(summary.error().message());
    if (summary->exit != 0)
        fail("the run ended with exit code " + std::to_string(summary->exit) + ": " + sink.kept().problems());
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    auto steps = nlohmann::json::array();
    for (const events::Step &step : sink.kept().all<events::Step>())
        steps.push_back(describe(step));
    const nlohmann::json out = {{"steps", steps}, {"threads", at::get_num_threads()}, {"peak_resident_growth", usage.ru_maxrss * 1024 - residentBefore},
                                {"ledger_peak", summary->peakBytes}};
    std::printf("%s\n", out.dump().c_str());
    return 0;
}
