// Trains a stage on synthetic clips inside this process and prints what each step took, as JSON. Driven by tests/bench/run.
//   stagewright-step-bench STAGE STEPS RESOLUTION FRAMES BATCH [--KEY VALUE …]
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/base/host.h"
#include "core/config/overrides.h"
#include "core/config/stage.h"
#include "core/model/mmdit_config.h"
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
    if (argc < 6)
        fail("usage: stagewright-step-bench STAGE STEPS SIDE FRAMES BATCH [--KEY VALUE …]");
    const std::vector<std::string> tokens(argv + 6, argv + argc);
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
    test::RecordingSink sink;
    const auto folder = std::filesystem::temp_directory_path() / ("stagewright-bench-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    const std::int64_t residentBefore = residentBytes();
    auto trainer = train::Trainer::create({.stage = *stage, .data = source, .sink = sink, .runFolder = folder});
    if (!trainer)
        fail(trainer.error().message());
    auto summary = (*trainer)->run();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    if (!summary)
        fail(summary.error().message());
    if (summary->exit != 0)
        fail("the run ended with exit code " + std::to_string(summary->exit) + ": " + sink.problems());
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    auto steps = nlohmann::json::array();
    for (const events::Step &step : sink.all<events::Step>())
        steps.push_back(describe(step));
    const nlohmann::json out = {{"steps", steps}, {"threads", at::get_num_threads()}, {"peak_resident_growth", usage.ru_maxrss * 1024 - residentBefore},
                                {"ledger_peak", summary->peakBytes}};
    std::printf("%s\n", out.dump().c_str());
    return 0;
}
