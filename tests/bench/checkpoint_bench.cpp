// Saves and resumes beside plain sequential writes and reads of the same bytes on the same disk, in turns; one JSON object. Driven by tests/bench/run.
//   stagewright-checkpoint-bench FOLDER GIB ROUNDS          FOLDER is made and must not exist
// A "step" is a chain of matrix products with all threads; what a save costs training is what it blocks and what the three steps after it take beyond three
// plain ones, which are measured in the same round.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include <nlohmann/json.hpp>

#include "core/base/host.h"
#include "core/base/openmp_waits.h"
#include "core/checkpoint/load.h"
#include "core/checkpoint/writer.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/listing.h"
#include "core/ckptfile/output_file.h"
#include "core/config/stage.h"
#include "tests/unit/checkpoint/small_state.h"

using namespace stagewright;
using namespace stagewright::checkpoint;
using namespace stagewright::ckptfile;
namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const std::string &sentence)
{
    std::fprintf(stderr, "stagewright-checkpoint-bench: %s\n", sentence.c_str());
    std::exit(1);
}

char *block()
{
    static char *memory = [] {
        char *made = static_cast<char *>(std::aligned_alloc(kAlignment, kBlockBytes));
        std::memset(made, 7, kBlockBytes);
        return made;
    }();
    return memory;
}

// One file, blocks of 8 MiB one after the other past the cache, then the same flush.
double plainWrite(const fs::path &file, std::int64_t bytes)
{
    ::unlink(file.c_str());
    const double started = steadySeconds();
    int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_DIRECT, 0644);
    if (out < 0)
        out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0644);
    for (std::int64_t at = 0; at < bytes; at += kBlockBytes) {
        if (::pwrite(out, block(), kBlockBytes, at) != kBlockBytes)
            fail("the plain write failed");
    }
    if (::fsync(out) != 0 || ::close(out) != 0)
        fail("the plain flush failed");
    return steadySeconds() - started;
}

// As cat reads it, with nothing in the cache; direct: past the cache.
double plainRead(const fs::path &file, bool direct)
{
    const int in = ::open(file.c_str(), O_RDONLY | (direct ? O_DIRECT : 0));
    if (in < 0)
        return 0;
    ::posix_fadvise(in, 0, 0, POSIX_FADV_DONTNEED);
    const double started = steadySeconds();
    while (::read(in, block(), kBlockBytes) > 0) { }
    const double seconds = steadySeconds() - started;
    ::close(in);
    return seconds;
}

double oneStep(const torch::Tensor &matrix)
{
    const double started = steadySeconds();
    torch::Tensor product = matrix;
    for (int times = 0; times < 12; ++times)
        product = torch::mm(product, matrix) * 0.01;
    return steadySeconds() - started;
}

double threeSteps(const torch::Tensor &matrix) { return oneStep(matrix) + oneStep(matrix) + oneStep(matrix); }

struct Cost {
    double blocked = 0, extra = 0, commit = 0, read = 0;
    std::int64_t bytes = 0;
};

Cost costOf(CheckpointWriter &writer, TrainingState &state, const fs::path &folder, bool async, const torch::Tensor &matrix)
{
    SaveOptions options;
    options.async = async;
    options.keepNewest = 1;
    ++state.counters.updates;
    const double usual = threeSteps(matrix);
    const double started = steadySeconds();
    if (const Status begun = writer.begin(state, folder, options); !begun)
        fail(begun.error().message());
    Cost cost;
    cost.blocked = steadySeconds() - started;
    double after = oneStep(matrix);
    const auto waited = writer.waitForSnapshot();
    if (!waited)
        fail(waited.error().message());
    cost.blocked += *waited;
    after += oneStep(matrix) + oneStep(matrix);
    cost.extra = after - usual;
    if (const Status finished = writer.finish(std::chrono::seconds(600)); !finished)
        fail(finished.error().message());
    const SaveOutcome outcome = writer.takeOutcomes().at(0);
    if (outcome.error || !outcome.verified)
        fail(outcome.error ? outcome.error->message() : "not verified");
    cost.commit = outcome.totalSeconds;
    cost.bytes = outcome.bytes;
    return cost;
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// A thousand checkpoints by hard links; the best of three, cold excluded.
double listThousand(const fs::path &checkpoint, const fs::path &folder)
{
    fs::create_directories(folder);
    for (int step = 1; step <= 1000; ++step)
        fs::copy(checkpoint, folder / checkpointFolderName(0, step), fs::copy_options::recursive | fs::copy_options::create_hard_links);
    double best = 1e9;
    for (int times = 0; times < 3; ++times) {
        const double started = steadySeconds();
        const auto listed = listCheckpoints(folder);
        best = std::min(best, steadySeconds() - started);
        if (!listed || listed->size() != 1000)
            fail("the listing is not whole");
    }
    return best;
}

} // namespace

int main(int count, char **arguments)
{
    ensureShortOpenMpWaits(arguments);           // as the worker does
    if (count != 4)
        fail("usage: stagewright-checkpoint-bench FOLDER GIB ROUNDS");
    const fs::path folder = arguments[1];
    const double gib = std::atof(arguments[2]);
    const int rounds = std::max(1, std::atoi(arguments[3]));
    if (!fs::create_directories(folder))
        fail(folder.string() + " exists already");
    tests::StateShape shape;
    shape.width = gib < 0.05 ? 64 : 1024;
    shape.layers = std::max<std::int64_t>(2, static_cast<std::int64_t>(gib * 1024 * 1024 * 1024 / (3.0 * static_cast<double>(shape.width * shape.width) * 18)));     // 18 bytes a parameter
    TrainingState state = tests::makeState(shape);
    const torch::Tensor matrix = torch::randn({1024, 1024});
    threeSteps(matrix);

    std::map<std::string, std::vector<double>> seen;
    std::int64_t bytes = 0, staged = 0;
    {
        CheckpointWriter writer;
        costOf(writer, state, folder / "run", true, matrix);             // the first touch of the staging memory
        for (int round = 0; round < rounds; ++round) {
            const Cost async = costOf(writer, state, folder / "run", true, matrix);
            const Cost sync = costOf(writer, state, folder / "run", false, matrix);
            bytes = sync.bytes;
            const double plain = plainWrite(folder / "plain", bytes);
            seen["async_blocked_seconds"].push_back(async.blocked);
            seen["async_extra_seconds"].push_back(async.extra);
            seen["async_cost_seconds"].push_back(async.blocked + async.extra);
            seen["sync_cost_seconds"].push_back(sync.blocked + sync.extra);
            seen["async_commit_seconds"].push_back(async.commit);
            seen["sync_commit_seconds"].push_back(sync.commit);
            seen["plain_write_seconds"].push_back(plain);
            seen["write_rate_of_plain"].push_back(plain / sync.commit);
            seen["async_cost_of_sync"].push_back((async.blocked + async.extra) / (sync.blocked + sync.extra));
        }
        staged = writer.stagingPeakBytes();
    }
    TrainingState loaded = tests::emptyLike(state);
    bool equal = true;
    for (int round = 0; round < rounds; ++round) {
        const double cached = plainRead(folder / "plain", false), direct = plainRead(folder / "plain", true);
        const double started = steadySeconds();
        const auto report = loadCheckpoint((folder / "run").string(), loaded);
        const double seconds = steadySeconds() - started;
        if (!report)
            fail(report.error().message());
        equal = equal && tests::difference(state, loaded).empty();
        seen["resume_seconds"].push_back(seconds);
        seen["plain_read_seconds"].push_back(cached);
        seen["plain_direct_read_seconds"].push_back(direct);
        seen["resume_of_plain_read"].push_back(seconds / cached);
        seen["resume_of_plain_direct_read"].push_back(direct > 0 ? seconds / direct : 0);
    }
    nlohmann::json result{{"bytes", bytes}, {"rounds", rounds}, {"width", shape.width}, {"layers", shape.layers}, {"equal", equal}, {"staging_of_state", static_cast<double>(staged) / static_cast<double>(bytes)}};
    for (const auto &[name, values] : seen)
        result[name] = median(values);
    tests::StateShape tiny;
    TrainingState small = tests::makeState(tiny);
    CheckpointWriter writer;
    if (!writer.begin(small, folder / "small", {}) || !writer.finish(std::chrono::seconds(60)))
        fail("the small checkpoint could not be saved");
    result["list_1000_seconds"] = listThousand(listCheckpoints(folder / "small")->front().path, folder / "many");
    std::printf("%s\n", result.dump().c_str());
    fs::remove_all(folder);
    return equal ? 0 : 1;
}
