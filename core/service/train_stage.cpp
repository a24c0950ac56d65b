#include <atomic>
#include <charconv>
#include <cstdlib>

#include "core/base/log.h"
#include "core/base/units.h"
#include "core/cache/survey.h"
#include "core/ckptfile/listing.h"
#include "core/config/validate.h"
#include "core/data/source.h"
#include "core/memory/device.h"
#include "core/service/failure.h"
#include "core/service/planned_run.h"
#include "core/service/worker.h"
#include "core/train/trainer.h"

namespace stagewright::service {

namespace {

// Every problem becomes a record; the first error is returned.
Status checkStage(const config::Stage &stage, runhost::RunHost &host)
{
    const Problems problems = config::validate(stage, config::surroundingsOfThisMachine(stage));
    Status status = Done{};
    for (const Problem &problem : problems) {
        if (problem.severity == Severity::Error && status) {
            status = Error(exitOf(problem), problem);  // reported by the boundary
            continue;
        }
        if (problem.severity != Severity::Hint)
            host.report({0, -1, events::ProblemRecord{problem}});
    }
    return status;
}

Error stoppedBefore(const char *what)
{
    return Error(ExitCode::Stopped, "run.stopped", std::string("stopped as asked, before the first update, ") + what);
}

// The newest that is sound, read to its last byte.
Result<std::optional<std::filesystem::path>> checkpointToLoad(const config::Stage &stage, runhost::RunHost &host)
{
    if (!stage.isSet("load"))
        return std::optional<std::filesystem::path>();
    host.setState("starting", "reading the checkpoint to resume from");
    auto newest = ckptfile::newestSound(stage.string("load"), [&](auto, auto, const auto &) { return !host.stopRequested(); });
    if (!newest && host.stopRequested())
        return stoppedBefore("while its checkpoint was read");
    if (!newest)
        return newest.error();
    for (const std::string &sentence : newest->rejected)
        host.note("warning", sentence, "checkpoint.rejected");
    return std::optional(newest->path);
}

int localRank()
{
    const char *text = std::getenv("LOCAL_RANK");
    int rank = 0;
    if (text)
        std::from_chars(text, text + std::string_view(text).size(), rank);
    return rank;
}

// Memory for pixels that a GPU copies in the background: page-locked, of the pool that Torch keeps and the prefetcher's bound keeps small; ordinary memory from the
// moment when the system locks no more.
std::function<torch::Tensor(at::IntArrayRef)> pixelMemory(torch::Device device)
{
    if (!device.is_cuda())
        return {};
    return [refused = std::make_shared<std::atomic<bool>>(false)](at::IntArrayRef shape) {
        if (!*refused) {
            try {
                return torch::empty(shape, torch::TensorOptions(torch::kFloat32).pinned_memory(true));
            } catch (const c10::Error &error) {
                const std::string why = error.what_without_backtrace();
                if (!refused->exchange(true))
                    logger("core.service")->warn("clips wait in ordinary memory, since no more can be locked: {}", why.substr(0, why.find('\n')));
            }
        }
        return torch::empty(shape, torch::kFloat32);
    };
}

// Clips that the resumed run found to be bad are not tried again.
Result<std::unique_ptr<data::BatchSource>> openData(const config::Stage &stage, const std::optional<std::filesystem::path> &load, torch::Device device, runhost::RunHost &host)
{
    auto options = data::sourceOptions(stage);
    if (!options)
        return options.error();
    options->quarantineFile = runlog::badClipsPath(host.folder());
    options->allocate = pixelMemory(device);
    if (load) {
        const auto file = runlog::badClipsPath(load->parent_path());
        auto known = data::readQuarantine(file);
        if (!known)
            return known.error();
        options->knownBad = std::move(*known);
        if (!options->knownBad.empty()) {
            host.note("info", std::to_string(options->knownBad.size()) + " clips that could not be used before are tried again only if their files have changed ("
                      + file.string() + ")", "data.quarantine");
        }
    }
    if (options->cached.store) {
        const auto glance = cache::glanceAt(*options->cached.store, cache::wantedBy(*options->cached.store, 1));
        std::string sentence = "encodings come from " + options->cached.store->folder().string();
        if (glance.missing > 0) {
            sentence += "; " + formatCount(glance.missing) + " of the " + formatCount(glance.wanted) + " entries that the first epoch wants are not there, and rows without them train nothing: stop, and run "
                        "`stagewright-cli cache build`";
        }
        host.note(glance.missing > 0 ? "warning" : "info", sentence, glance.missing > 0 ? "data.cache-missing" : "data.cache");
    }
    return data::makeBatchSource(std::move(*options));
}

Result<events::Summary> trainOn(const memory::DeviceChoice &device, const config::Stage &stage, runhost::RunHost &host, train::Sink &sink)
{
    host.note("info", "training on " + device.device.str() + ": " + device.reason, "run.device");
    auto load = checkpointToLoad(stage, host);
    if (!load)
        return load.error();
    auto data = openData(stage, *load, device.device, host);
    if (!data)
        return data.error();
    if (host.stopRequested())
        return stoppedBefore("while its data was opened");

    std::string runId;
    const Status kept = host.updateIdentity([&](runlog::RunIdentity &identity) {
        identity.device = device.device.str();
        identity.datasetFingerprint = (*data)->fingerprint();
        identity.loadedFrom = *load ? (*load)->string() : std::string();
        runId = identity.id;
    });
    if (!kept)
        return kept.error();
    auto trainer = train::Trainer::create({.stage = stage, .data = **data, .sink = sink, .runFolder = host.folder(), .device = device.device,
                                           .deviceReason = device.reason, .deviceName = device.name, .deviceTotalBytes = device.totalBytes,
                                           .rank = 0, .worldSize = 1, .load = *load, .loadIsSound = true, .predictedPeakBytes = 0, .runIdentity = runId});
    if (!trainer)
        return trainer.error();
    if (host.stopRequested())
        return stoppedBefore("while the model was built");
    return (*trainer)->run();
}

} // namespace

Result<events::Summary> trainStage(const config::Stage &stage, runhost::RunHost &host)
{
    host.setState("starting", "checking the stage and opening its data");
    if (auto checked = checkStage(stage, host); !checked)
        return checked.error();
    const auto device = memory::chooseDevice(stage.string("device"), localRank());
    if (!device)
        return device.error();
    PlannedRun planned(stage, host, {});
    auto summary = guarded([&] { return trainOn(*device, stage, host, planned); });
    planned.finish(summary);
    return summary;
}

} // namespace stagewright::service
