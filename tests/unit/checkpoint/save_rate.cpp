// How fast a save is, beside plain sequential direct writes of the same bytes with the same flush, in one run; one JSON object.
//   checkpoint_save_rate FOLDER [GIB]
// A "step" is a matrix product loop on the training thread; an asynchronous and a synchronous save of the same state are timed against it.

#include <cstdio>
#include <cstring>

#include <nlohmann/json.hpp>

#include "core/base/host.h"
#include "core/checkpoint/load.h"
#include "core/checkpoint/writer.h"
#include "core/ckptfile/input_file.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/output_file.h"
#include "core/config/stage.h"
#include "small_state.h"

using namespace stagewright;
using namespace stagewright::checkpoint;
using namespace stagewright::ckptfile;
namespace fs = std::filesystem;

namespace {

double plainWrite(const fs::path &folder, std::int64_t bytes)
{
    char *block = static_cast<char *>(std::aligned_alloc(kAlignment, kBlockBytes));
    std::memset(block, 7, kBlockBytes);
    const double started = steadySeconds();
    auto file = OutputFile::create(realFileSystem(), folder / "plain", true);
    for (std::int64_t at = 0; at < bytes; at += kBlockBytes)
        (void)(*file)->write(at, block, kBlockBytes);
    (void)(*file)->finish(bytes);
    const double seconds = steadySeconds() - started;
    std::free(block);
    return seconds;
}

double plainRead(const fs::path &folder)
{
    auto file = InputFile::open(folder / "plain");
    (*file)->forgetCached();
    std::vector<char> buffer(kBlockBytes);
    const double started = steadySeconds();
    for (std::int64_t at = 0; at < (*file)->size(); at += kBlockBytes)
        (void)(*file)->readAt(at, buffer.data(), std::min(kBlockBytes, (*file)->size() - at));
    return steadySeconds() - started;
}

double oneStep(const torch::Tensor &matrix)
{
    const double started = steadySeconds();
    torch::Tensor product = matrix;
    for (int times = 0; times < 8; ++times)
        product = torch::mm(product, matrix) * 0.01;
    return steadySeconds() - started;
}

// Training cost of one save: what begin and waitForSnapshot held, and the extra time of the three steps after it.
nlohmann::json costOf(CheckpointWriter &writer, TrainingState &state, const fs::path &folder, bool async, const torch::Tensor &matrix, double usual)
{
    SaveOptions options;
    options.async = async;
    ++state.counters.updates;
    double extra = 0;
    const double started = steadySeconds();
    if (const Status begun = writer.begin(state, folder, options); !begun) {
        std::fprintf(stderr, "%s\n", begun.error().message().c_str());
        std::exit(1);
    }
    const double begun = steadySeconds() - started;
    extra += oneStep(matrix) - usual;
    const double waited = *writer.waitForSnapshot();
    extra += oneStep(matrix) - usual;
    extra += oneStep(matrix) - usual;
    (void)writer.finish(std::chrono::seconds(600));
    const SaveOutcome outcome = writer.takeOutcomes().at(0);
    return {{"blocked_seconds", begun + waited}, {"extra_seconds", extra}, {"cost_seconds", begun + waited + extra}, {"commit_seconds", outcome.totalSeconds},
            {"verified", outcome.verified}, {"bytes", outcome.bytes}};
}

} // namespace

int main(int count, char **arguments)
{
    if (count < 2) {
        std::fprintf(stderr, "checkpoint_save_rate FOLDER [GIB]: FOLDER is made and must not exist\n");
        return 2;
    }
    const fs::path folder = arguments[1];
    const double gib = count > 2 ? std::atof(arguments[2]) : 2;
    fs::create_directories(folder);
    tests::StateShape shape;
    shape.width = 1024;
    shape.layers = static_cast<std::int64_t>(gib * 1024 * 1024 * 1024 / (3.0 * 1024 * 1024 * 18));     // 18 bytes a parameter
    TrainingState state = tests::makeState(shape);
    const torch::Tensor matrix = torch::randn({1024, 1024});
    oneStep(matrix);
    double usual = 0;
    for (int times = 0; times < 5; ++times)
        usual += oneStep(matrix) / 5;
    nlohmann::json result{{"bench", "checkpoint_save_rate"}, {"step_seconds", usual}};
    CheckpointWriter writer;
    (void)costOf(writer, state, folder, true, matrix, usual);            // first touch of the staging memory
    result["async"] = costOf(writer, state, folder, true, matrix, usual);
    result["sync"] = costOf(writer, state, folder, false, matrix, usual);
    const std::int64_t bytes = result["sync"]["bytes"];
    result["plain_write_seconds"] = plainWrite(folder, bytes);
    result["plain_read_seconds"] = plainRead(folder);
    result["write_rate_of_plain"] = result["plain_write_seconds"].get<double>() / result["sync"]["commit_seconds"].get<double>();
    result["async_cost_of_sync"] = result["async"]["cost_seconds"].get<double>() / result["sync"]["cost_seconds"].get<double>();
    result["staging_of_state"] = static_cast<double>(writer.stagingPeakBytes()) / static_cast<double>(bytes);
    TrainingState loaded = tests::emptyLike(state);
    const double started = steadySeconds();
    const auto report = loadCheckpoint(folder.string(), loaded);
    result["load_seconds"] = steadySeconds() - started;
    result["load_of_plain_read"] = result["load_seconds"].get<double>() / result["plain_read_seconds"].get<double>();
    result["equal"] = report.ok() && tests::difference(state, loaded).empty();
    std::printf("%s\n", result.dump(1).c_str());
    fs::remove_all(folder);
    return 0;
}
