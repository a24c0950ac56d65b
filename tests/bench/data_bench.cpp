// Figures about tables and clips, one JSON object on standard output:
//   stagewright-data-bench buckets TABLE        reads, assigns, orders and simulates
//   stagewright-data-bench decode THREADS FILE… decodes every frame of the files to RGB
//   stagewright-data-bench soak COUNT FILE…     opens COUNT clips in turn, broken ones among them, and watches memory and descriptors
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <thread>

#include <nlohmann/json.hpp>

#include "core/base/host.h"
#include "core/media/clip.h"
#include "core/table/order.h"
#include "core/table/simulator.h"

using namespace stagewright;
using nlohmann::json;

namespace {

[[noreturn]] void fail(const std::string &sentence)
{
    std::fprintf(stderr, "stagewright-data-bench: %s\n", sentence.c_str());
    std::exit(1);
}

template <class Work>
double secondsOf(Work &&work)
{
    const double begun = steadySeconds();
    work();
    return steadySeconds() - begun;
}

double median(std::vector<double> values)
{
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

table::BucketRules rulesWith(double probability, int frames)
{
    // The shape of Open-Sora 2.0's stage 1.
    auto rules = table::bucketRules({{"256px", 1, 1.0, {}, 50}, {"256px", 33, 0.5, 0.5, 10}, {"256px", frames, probability, {}, 4}, {"768px", 1, 0.5, {}, 13}, {"768px", 33, 0.3, {}, 1},
                                     {"1024px", 1, 0.3, {}, 7}}, 16, 42, 24);
    if (!rules)
        fail(rules.error().message());
    return *rules;
}

json buckets(const std::string &file)
{
    json figures;
    std::shared_ptr<const table::Table> data;
    figures["read_seconds"] = secondsOf([&] {
        auto read = table::readTable(file);
        if (!read)
            fail(read.error().message());
        data = *read;
    });
    const table::BucketRules rules = rulesWith(0.7, 129);
    std::vector<double> times;
    std::int64_t batches = 0;
    for (int i = 0; i < 3; ++i) {
        times.push_back(secondsOf([&] {
            const table::BucketPlan plan = table::assignBuckets(*data, rules, 0);
            batches = table::BatchOrder(plan, 0, 1, 0).size();
        }));
    }
    figures["rows"] = data->rowCount();
    figures["batches"] = batches;
    figures["assign_and_order_seconds"] = median(times);
    figures["resident_bytes"] = residentBytes();
    std::unique_ptr<table::Simulator> simulator;
    figures["simulator_prepare_seconds"] = secondsOf([&] { simulator = std::make_unique<table::Simulator>(data); });
    // A probability was edited: the draws stay. A frame count more: all rows draw anew.
    std::vector<double> edits, redrawn;
    const auto cpuSeconds = [] {
        timespec now{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
    };
    (void)simulator->simulate(rulesWith(0.4, 129));
    const double before = cpuSeconds();
    for (int i = 0; i < 7; ++i)
        edits.push_back(simulator->simulate(rulesWith(0.5 + 0.05 * i, 129)).seconds);
    figures["simulate_cpu_seconds"] = (cpuSeconds() - before) / 7;     // of both threads: what other programs do does not count
    for (int i = 0; i < 5; ++i)
        redrawn.push_back(simulator->simulate(rulesWith(0.7, 129), i + 1).seconds);
    figures["simulate_seconds"] = median(edits);
    figures["simulate_with_new_draws_seconds"] = median(redrawn);
    return figures;
}

json decode(int threads, const std::vector<std::string> &files)
{
    std::atomic<std::size_t> next{0};
    std::atomic<std::int64_t> frames{0};
    const double seconds = secondsOf([&] {
        std::vector<std::jthread> workers;
        for (int i = 0; i < threads; ++i) {
            workers.emplace_back([&] {
                for (std::size_t at = next++; at < files.size(); at = next++) {
                    const auto choose = [](const media::ClipInfo &info) -> Result<std::vector<std::int64_t>> {
                        std::vector<std::int64_t> all(static_cast<std::size_t>(info.frames));
                        std::iota(all.begin(), all.end(), 0);
                        return all;
                    };
                    const auto report = media::decodeFrames(files[at], choose, [](const media::FrameView &) { return true; });
                    if (!report)
                        fail(report.error().message());
                    frames += report->handedOver;
                }
            });
        }
    });
    return {{"seconds", seconds}, {"frames", frames.load()}, {"threads", threads}};
}

std::int64_t openDescriptors()
{
    const std::filesystem::directory_iterator entries("/proc/self/fd");
    return std::distance(begin(entries), end(entries));
}

json soak(std::int64_t count, const std::vector<std::string> &files)
{
    const std::int64_t warmUp = std::min<std::int64_t>(count / 10, 2000);
    std::int64_t resident = 0, descriptors = 0, bad = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::vector<std::int64_t> wanted{0, 3};
        const auto clip = media::decode(files[static_cast<std::size_t>(i) % files.size()], wanted);
        bad += !clip;
        if (i == warmUp) {
            resident = residentBytes();
            descriptors = openDescriptors();
        }
    }
    return {{"opened", count}, {"bad", bad}, {"resident_bytes_after_warm_up", resident}, {"resident_bytes_growth", residentBytes() - resident},
            {"descriptors_growth", openDescriptors() - descriptors}};
}

} // namespace

int main(int argc, char **argv)
{
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    json figures;
    if (arguments.size() == 2 && arguments[0] == "buckets")
        figures = buckets(arguments[1]);
    else if (arguments.size() > 2 && arguments[0] == "decode")
        figures = decode(std::atoi(arguments[1].c_str()), {arguments.begin() + 2, arguments.end()});
    else if (arguments.size() > 2 && arguments[0] == "soak")
        figures = soak(std::atoll(arguments[1].c_str()), {arguments.begin() + 2, arguments.end()});
    else
        fail("buckets TABLE | decode THREADS FILE… | soak COUNT FILE…");
    std::printf("%s\n", figures.dump().c_str());
}
