#include "core/checkpoint/writer.h"

#include <atomic>
#include <cerrno>
#include <thread>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/base/priority.h"
#include "core/base/units.h"
#include "core/checkpoint/save_job.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/leftovers.h"
#include "core/config/stage.h"

namespace stagewright::checkpoint {

namespace fs = std::filesystem;
using namespace ckptfile;

SaveOptions saveOptionsOf(const config::Stage &stage)
{
    SaveOptions options;
    options.async = stage.boolean("async_io");
    options.keepNewest = stage.integer("keep_n_latest");
    options.keepEvery = stage.integer("keep_every");
    const std::string &lowDisk = stage.string("on_low_disk");
    options.onLowDisk = lowDisk == "stop" ? OnLowDisk::Stop : lowDisk == "skip" ? OnLowDisk::Skip : OnLowDisk::Wait;
    return options;
}

class CheckpointWriter::Private
{
public:
    explicit Private(WriterSettings given)
        : settings(std::move(given)), files(settings.files ? *settings.files : realFileSystem()), copier(settings.copier ? *settings.copier : hostCopier()),
          pool(copier, settings.staging)
    {
    }

    ~Private() { stopPreparing(); }

    void stopPreparing();
    void setLimit(bool async);
    Status waitForEarlier();
    enum class Room { Enough, Skip };
    Result<Room> waitForDisk(const SavePlan &plan, const fs::path &outputs, const fs::path &target, const SaveOptions &options);
    Status makeFolders(const fs::path &temporary);
    void collect();                              // moves a finished job's outcome out
    double deadline() const { return steadySeconds() + static_cast<double>(settings.deadline.count()); }
    void tellWaiting(const fs::path &target, const std::string &sentence, std::int64_t bytes) const;

    WriterSettings settings;
    FileSystem &files;
    SnapshotCopier &copier;
    StagingPool pool;
    mutable std::mutex mutex;                    // outcomes and the pointer
    std::thread preparing;
    std::atomic<bool> prepared{false};           // enough, or a save begins
    std::shared_ptr<SaveJob> job;                // the last one begun, until collected
    std::vector<SaveOutcome> outcomes;
};

CheckpointWriter::CheckpointWriter(WriterSettings settings) : d(std::make_unique<Private>(std::move(settings))) {}

CheckpointWriter::~CheckpointWriter()
{
    std::shared_ptr<SaveJob> last;
    {
        const std::lock_guard lock(d->mutex);
        last = std::move(d->job);
    }
}

void CheckpointWriter::Private::collect()
{
    const std::lock_guard lock(mutex);
    if (job && job->isDone()) {
        outcomes.push_back(job->outcome());
        job.reset();
    }
}

// Waits for one block at most.
void CheckpointWriter::Private::stopPreparing()
{
    prepared = true;
    if (preparing.joinable())
        preparing.join();
}

// A synchronous save streams through a few blocks; an asynchronous one holds the whole snapshot unless it is told otherwise.
void CheckpointWriter::Private::setLimit(bool async)
{
    const std::int64_t few = 4 * std::max(1, settings.threads) * kBlockBytes;
    const std::int64_t limit = settings.stagingLimitBytes;
    pool.setLimit(async ? limit : limit > 0 ? std::min(limit, few) : few);
}

Status CheckpointWriter::Private::waitForEarlier()
{
    std::shared_ptr<SaveJob> earlier;
    {
        const std::lock_guard lock(mutex);
        earlier = job;
    }
    if (earlier && !earlier->waitUntilDone(deadline()))
        return Error(ExitCode::InputOutput, "checkpoint.slow-disk", "the save of " + earlier->outcome().folder.string() + " has not ended after " + formatDuration(static_cast<double>(settings.deadline.count()))
                         + "; the disk is too slow or hangs", earlier->outcome().folder.string());
    earlier.reset();
    collect();
    return Done{};
}

void CheckpointWriter::Private::tellWaiting(const fs::path &target, const std::string &sentence, std::int64_t bytes) const
{
    if (!settings.progress)
        return;
    events::Checkpoint record;
    record.path = target.string();
    record.phase = "stage";
    record.totalBytes = bytes;
    record.sentence = sentence;
    settings.progress(record);
}

// The forecast: what the save will write, and a little for the file system itself.
Result<CheckpointWriter::Private::Room> CheckpointWriter::Private::waitForDisk(const SavePlan &plan, const fs::path &outputs, const fs::path &target, const SaveOptions &options)
{
    const std::int64_t needed = plan.bytes + plan.bytes / 256 + (1 << 20);
    const double until = steadySeconds() + static_cast<double>(options.lowDiskDeadline.count());
    bool told = false;
    for (;;) {
        const std::int64_t free = files.freeBytes(outputs);
        if (free < 0 || free >= needed)
            return Room::Enough;
        const std::string sentence = "the disk has " + formatBytes(static_cast<double>(free)) + " free, the checkpoint " + target.filename().string() + " needs " + formatBytes(static_cast<double>(needed))
            + "; free some space in " + outputs.string();
        const Error full(ExitCode::InputOutput, "env.disk-full", sentence, outputs.string());
        if (options.onLowDisk == OnLowDisk::Stop)
            return full;
        if (options.onLowDisk == OnLowDisk::Skip) {
            SaveOutcome skipped;
            skipped.folder = target;
            skipped.bytes = plan.bytes;
            skipped.error = Error(ExitCode::InputOutput, "checkpoint.skipped", "this save was left out: " + sentence, outputs.string());
            const std::lock_guard lock(mutex);
            outcomes.push_back(std::move(skipped));
            return Room::Skip;
        }
        if (!std::exchange(told, true))
            tellWaiting(target, "training waits: " + sentence, plan.bytes);
        if (steadySeconds() >= until || (options.keepWaiting && !options.keepWaiting()))
            return full;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

Status CheckpointWriter::Private::makeFolders(const fs::path &temporary)
{
    for (const fs::path &folder : {temporary, temporary / kModelFolder, temporary / kOptimizerFolder, temporary / kOwnFolder}) {
        if (files.makeFolder(folder) != 0) {
            const Error error = ioError("create the folder", folder, errno);
            files.removeTree(temporary);
            return error;
        }
    }
    return Done{};
}

void CheckpointWriter::prepare(const TrainingState &state, const SaveOptions &options)
{
    const auto plan = options.async && d->settings.keepStaging && !d->preparing.joinable() ? planSave(state, options.shardMebibytes) : SavePlan();
    if (!plan || plan->bytes == 0)
        return;                                  // what is wrong with the state is said by the save
    std::int64_t bytes = 0;
    for (const PlannedFile &file : plan->files)
        bytes += file.bytes / kBlockBytes * kBlockBytes;
    d->setLimit(true);
    d->preparing = std::thread([this, bytes] {
        giveWay(kSaverNiceness);
        d->pool.makeReady(bytes, [this] { return d->prepared.load(); });
    });
}

Status CheckpointWriter::begin(const TrainingState &state, const fs::path &folder, const SaveOptions &options)
{
    const double started = steadySeconds();
    const fs::path outputs = folder.empty() ? fs::path(".") : folder;
    d->stopPreparing();
    if (Status waited = d->waitForEarlier(); !waited)
        return waited;
    auto plan = planSave(state, options.shardMebibytes);
    if (!plan)
        return plan.error();
    const fs::path target = outputs / checkpointFolderName(state.counters.epoch, state.counters.updates);
    if (Status made = ensureFolder(outputs); !made)
        return made;
    std::error_code ignored;
    if (fs::exists(target, ignored) && !fs::is_directory(target, ignored))
        return Error(ExitCode::InputOutput, "env.not-a-folder", target.string() + " is a file where the checkpoint's folder should be; move it away", target.string());
    const auto room = d->waitForDisk(*plan, outputs, target, options);
    if (!room)
        return room.error();
    if (*room == Private::Room::Skip)
        return Done{};
    SaveRequest request;
    request.temporary = outputs / temporaryName(target.filename().string());
    request.target = target;
    request.options = options;
    request.startedAt = started;
    if (Status made = d->makeFolders(request.temporary); !made)
        return made;
    request.manifest.program = "stagewright";
    request.manifest.run = state.run;
    request.manifest.step = state.counters.updates;
    request.manifest.epoch = state.counters.epoch;
    request.manifest.dtype = state.dtype;
    request.manifest.worldSize = state.worldSize;
    request.manifest.datasetFingerprint = state.datasetFingerprint;
    if (!state.parameters.empty())
        request.device = state.parameters.front().weight.device();
    request.plan = std::move(*plan);
    d->setLimit(options.async);
    d->copier.begin(request.device);
    auto job = std::make_shared<SaveJob>(std::move(request), d->settings, d->pool);
    {
        const std::lock_guard lock(d->mutex);
        d->job = job;
    }
    job->start();
    if (!options.async && !job->waitUntilCommitted(d->deadline()))
        return Error(ExitCode::InputOutput, "checkpoint.slow-disk", "the save of " + target.string() + " has not ended after " + formatDuration(static_cast<double>(d->settings.deadline.count())) + "; the disk is too slow or hangs", target.string());
    job->addBlocked(steadySeconds() - started);
    return Done{};
}

Result<double> CheckpointWriter::waitForSnapshot()
{
    std::shared_ptr<SaveJob> job;
    {
        const std::lock_guard lock(d->mutex);
        job = d->job;
    }
    if (!job || job->isStaged())
        return 0.0;
    const double started = steadySeconds();
    const bool staged = job->waitUntilStaged(d->deadline());
    const double blocked = steadySeconds() - started;
    job->addBlocked(blocked);
    if (!staged)
        return Error(ExitCode::InputOutput, "checkpoint.slow-disk", "the snapshot for " + job->outcome().folder.string() + " has not ended after " + formatDuration(blocked)
                         + "; the disk is too slow for the staging memory that is allowed", job->outcome().folder.string());
    return blocked;
}

std::vector<SaveOutcome> CheckpointWriter::takeOutcomes()
{
    d->collect();
    const std::lock_guard lock(d->mutex);
    return std::exchange(d->outcomes, {});
}

Status CheckpointWriter::finish(std::chrono::seconds deadline)
{
    std::shared_ptr<SaveJob> job;
    {
        const std::lock_guard lock(d->mutex);
        job = d->job;
    }
    if (job && !job->waitUntilDone(steadySeconds() + static_cast<double>(deadline.count())))
        return Error(ExitCode::InputOutput, "checkpoint.slow-disk", "the save of " + job->outcome().folder.string() + " has not ended after " + formatDuration(static_cast<double>(deadline.count()))
                         + "; the disk is too slow or hangs", job->outcome().folder.string());
    d->collect();
    return Done{};
}

bool CheckpointWriter::isSaving() const
{
    const std::lock_guard lock(d->mutex);
    return d->job && !d->job->isCommitted();
}

bool CheckpointWriter::isSafeToStop() const
{
    const std::lock_guard lock(d->mutex);
    return !d->job || d->job->isDone();
}

std::int64_t CheckpointWriter::stagingBytes() const { return d->pool.heldBytes(); }
std::int64_t CheckpointWriter::stagingPeakBytes() const { return d->pool.peakBytes(); }

} // namespace stagewright::checkpoint
