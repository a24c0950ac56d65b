// Predicts what configurations of a stage take on the CPU, trains each for a few updates, and prints both. Driven by tests/bench/run.
//   stagewright-plan-bench STAGE < CONFIGURATIONS
// A configuration is a line of JSON: {"overrides":["--model.depth","2",…],"caption_words":N}. The answer to it is one too:
// {"buckets":[{"bucket":"64px/9","predicted":BYTES,"measured":BYTES,"phase":…,"kinds":{kind:[predicted, measured] where they differ}}]}. Clips are noise, made
// where the loader makes them.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include <unistd.h>

#include "core/config/overrides.h"
#include "core/events/json_writer.h"
#include "core/memory/ledger.h"
#include "core/plan/planner.h"
#include "core/train/trainer.h"
#include "tests/unit/train/recording_sink.h"

using namespace stagewright;

namespace {

// Over all buckets. The first is not measured: what stays for good is made there. Of the others the highest counts: threads do not always hold all at once.
constexpr std::int64_t kRounds = 4;

[[noreturn]] void fail(const std::string &sentence)
{
    std::fprintf(stderr, "stagewright-plan-bench: %s\n", sentence.c_str());
    std::exit(1);
}

template <class T>
T valueOf(Result<T> result)
{
    if (!result)
        fail(result.error().message());
    return std::move(*result);
}

// Every bucket in turn, as many batches of it as an update takes.
class NoiseSource final : public data::BatchSource
{
public:
    NoiseSource(const plan::AskedStage &asked, std::int64_t captionWords) : m_asked(asked), m_captionWords(captionWords) {}

    Result<std::optional<data::Batch>> next() override
    {
        const auto &shape = m_asked.shapes[static_cast<std::size_t>(m_position.index / m_asked.accumulation) % m_asked.shapes.size()];
        data::Batch batch;
        batch.video = torch::empty({shape.batch, 3, shape.frames, shape.height, shape.width}).uniform_(-1, 1);
        for (std::int64_t i = 0; i < shape.batch; ++i) {
            batch.texts.push_back(caption());
            batch.rows.push_back(i);
        }
        batch.bucket = {shape.resolution, shape.frames, shape.height, shape.width, shape.batch};
        batch.index = m_position.index++;
        return std::optional(std::move(batch));
    }
    std::int64_t batchesPerEpoch() const override { return std::int64_t(1) << 20; }
    data::Position position() const override { return m_position; }
    Status seek(data::Position position) override
    {
        m_position = position;
        return Done{};
    }
    std::string fingerprint() const override { return "noise"; }

private:
    std::string caption()
    {
        std::string text;
        for (std::int64_t i = 0; i < m_captionWords; ++i) {        // a vocabulary of 60, in which every word has four that may follow it
            m_word = (m_word * 4 + m_draw++ % 4 + 1) % 60;
            text += "word" + std::to_string(m_word) + ' ';
        }
        return text;
    }

    const plan::AskedStage &m_asked;
    const std::int64_t m_captionWords;
    std::int64_t m_word = 0, m_draw = 0;
    data::Position m_position;
};

std::string nameOf(const events::Bucket &bucket)
{
    return bucket.resolution + "/" + std::to_string(bucket.frames);
}

struct Peak {
    std::int64_t bytes = 0;
    events::KindBytes byKind{};
};

std::map<std::string, Peak> measuredPeaks(const config::Stage &stage, const plan::AskedStage &asked, std::int64_t captionWords, const std::filesystem::path &folder)
{
    const auto before = valueOf(memory::attachLedger(torch::kCPU))->snapshot();
    const auto count = static_cast<std::int64_t>(asked.shapes.size());
    NoiseSource source(asked, captionWords);
    test::RecordingSink sink;
    std::int64_t polls = 0;
    sink.asks = [&](const test::RecordingSink &) { return train::Requests{++polls >= kRounds * count * asked.accumulation ? train::StopRequest::StopWithoutSaving : train::StopRequest::None}; };
    auto trainer = valueOf(train::Trainer::create({.stage = stage, .data = source, .sink = sink, .runFolder = folder}));
    const auto summary = valueOf(trainer->run());
    const auto steps = sink.all<events::Step>();
    if (summary.exit != static_cast<int>(ExitCode::Stopped) || static_cast<std::int64_t>(steps.size()) < 2 * count)
        fail("a run of " + std::to_string(steps.size()) + " updates ended with exit code " + std::to_string(summary.exit) + ": " + sink.problems());
    std::map<std::string, Peak> peaks;
    for (auto step = steps.begin() + count; step != steps.end(); ++step) {
        Peak &peak = peaks[nameOf(step->bucket)];
        if (step->peakBytes - before.total > peak.bytes)
            peak = {step->peakBytes - before.total, step->peakByKind};
    }
    for (auto &[name, peak] : peaks) {
        for (std::size_t kind = 0; kind < peak.byKind.size(); ++kind)
            peak.byKind[kind] -= before.byKind[kind];
    }
    return peaks;
}

nlohmann::json answerTo(const std::string &file, const nlohmann::json &request, plan::Planner &planner, const std::filesystem::path &folder)
{
    const auto parsed = valueOf(config::parseOverrides(request.at("overrides").get<std::vector<std::string>>()));
    const auto stage = valueOf(config::loadStage(file, parsed.overrides));
    const plan::PlanQuery query{config::cpuDevice()};
    Problems notes;
    const auto asked = valueOf(plan::askedStage(stage, query, notes));
    const auto measured = measuredPeaks(stage, asked, request.at("caption_words").get<std::int64_t>(), folder);
    auto buckets = nlohmann::json::array();
    for (const auto &bucket : valueOf(planner.buckets(asked, query))) {
        const auto name = plan::bucketName(bucket.shape);
        const Peak &peak = measured.at(name);
        auto kinds = nlohmann::json::object();
        for (std::size_t kind = 0; kind < peak.byKind.size(); ++kind) {
            if (peak.byKind[kind] != bucket.memory.byKind[kind])
                kinds[std::string(kMemoryKindNames[kind])] = {bucket.memory.byKind[kind], peak.byKind[kind]};
        }
        buckets.push_back({{"bucket", name}, {"predicted", bucket.memory.peak}, {"measured", peak.bytes}, {"phase", stagewright::nameOf(bucket.memory.phase)}, {"kinds", kinds}});
    }
    return {{"buckets", std::move(buckets)}};
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2)
        fail("usage: stagewright-plan-bench STAGE < CONFIGURATIONS");
    const auto folder = std::filesystem::temp_directory_path() / ("stagewright-plan-bench-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    plan::Planner planner;
    for (std::string line; std::getline(std::cin, line);)
        std::cout << answerTo(argv[1], nlohmann::json::parse(line), planner, folder).dump() << std::endl;
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    return 0;
}
