#include "core/checkpoint/save_job.h"

#include <ATen/Parallel.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/files.h"
#include "core/base/host.h"
#include "core/base/log.h"
#include "core/base/priority.h"
#include "core/base/units.h"
#include "core/ckptfile/layout.h"
#include "core/ckptfile/retention.h"
#include "core/ckptfile/verify.h"

namespace stagewright::checkpoint {

namespace fs = std::filesystem;
using namespace ckptfile;

namespace {

constexpr std::int64_t kDirectFrom = 1 << 20;    // smaller files are not worth an aligned write

// Reading back gives way to everything, on the disk too: nobody waits for it but the next save and the pruning.
void giveWayToEverything()
{
    constexpr int kWhoProcess = 1, kIdle = 3 << 13;
    stagewright::giveWay(kLeastNiceness);
    ::syscall(SYS_ioprio_set, kWhoProcess, 0, kIdle);                        // of this thread; a refusal changes nothing
}

template <class Predicate>
bool waitUntil(std::unique_lock<std::mutex> &lock, std::condition_variable &condition, double deadline, Predicate predicate)
{
    while (!predicate()) {
        const double left = deadline - steadySeconds();
        if (left <= 0)
            return false;
        condition.wait_for(lock, std::chrono::duration<double>(std::min(left, 1.0)));
    }
    return true;
}

} // namespace

SaveJob::SaveJob(SaveRequest request, const WriterSettings &settings, StagingPool &pool)
    : m_request(std::move(request)), m_settings(settings), m_pool(pool), m_files(settings.files ? *settings.files : realFileSystem()),
      m_copier(settings.copier ? *settings.copier : hostCopier()), m_transaction(m_files, m_request.temporary, m_request.target)
{
    m_targets.resize(m_request.plan.files.size());
    m_outcome.folder = m_request.target;
    m_outcome.step = m_request.manifest.step;
    m_outcome.bytes = m_request.plan.bytes;
}

SaveJob::~SaveJob()
{
    {
        const std::lock_guard lock(m_mutex);
        m_cancelled = true;
        m_changed.notify_all();
    }
    if (m_coordinator.joinable())
        m_coordinator.join();
}

void SaveJob::start()
{
    tell("stage", {}, 0, m_request.plan.bytes);
    if (stagesAtOnce()) {
        guarded([this] { stageAtOnce(); });
        allStaged();
    }
    m_coordinator = std::thread([this] { run(); });
}

bool SaveJob::waitUntilStaged(double deadline)
{
    std::unique_lock lock(m_mutex);
    return waitUntil(lock, m_changed, deadline, [&] { return m_staged || m_done; });
}

bool SaveJob::waitUntilCommitted(double deadline)
{
    std::unique_lock lock(m_mutex);
    return waitUntil(lock, m_changed, deadline, [&] { return m_committed || m_done; });
}

bool SaveJob::waitUntilDone(double deadline)
{
    std::unique_lock lock(m_mutex);
    return waitUntil(lock, m_changed, deadline, [&] { return m_done; });
}

bool SaveJob::isStaged() const { const std::lock_guard lock(m_mutex); return m_staged || m_done; }
bool SaveJob::isCommitted() const { const std::lock_guard lock(m_mutex); return m_committed || m_done; }
bool SaveJob::isDone() const { const std::lock_guard lock(m_mutex); return m_done; }
bool SaveJob::hasFailed() const { const std::lock_guard lock(m_mutex); return m_failure.has_value() || m_cancelled; }

void SaveJob::addBlocked(double seconds)
{
    const std::lock_guard lock(m_mutex);
    m_outcome.blockedSeconds += seconds;
}

SaveOutcome SaveJob::outcome() const
{
    const std::lock_guard lock(m_mutex);
    return m_outcome;
}

// The first failure counts; everybody stops at the next block.
void SaveJob::fail(Error error)
{
    const std::lock_guard lock(m_mutex);
    if (!m_failure)
        m_failure = std::move(error);
    m_changed.notify_all();
}

void SaveJob::guarded(const std::function<void()> &stage)
{
    try {
        stage();
    } catch (const std::exception &failed) {
        fail(Error(ExitCode::Other, "checkpoint.snapshot", std::string("the snapshot of the training state failed: ") + failed.what()));
    }
}

void SaveJob::allStaged()
{
    const std::lock_guard lock(m_mutex);
    m_allQueued = m_staged = true;
    m_changed.notify_all();
}

// --- the coordinating thread

// A step's threads wait for each other, so a core that one of them shares makes the whole step late. A save takes longer for it, and nobody
// waits for that, unless it is synchronous: then training itself does.
void SaveJob::giveWay()
{
    if (m_request.options.async)
        stagewright::giveWay(kSaverNiceness);
}

void SaveJob::run()
{
    for (int number = 0; number < std::max(1, m_settings.threads); ++number)
        m_writers.emplace_back([this] { giveWay(); writeLoop(); });
    if (!isStaged()) {
        guarded([this] { stageAll(); });
        allStaged();
    }
    giveWay();
    for (std::thread &writer : m_writers)
        writer.join();
    if (!hasFailed()) {
        if (Status committed = commit(); !committed)
            fail(committed.error());
    }
    if (m_cancelled && !m_outcome.committed)
        fail(Error(ExitCode::Stopped, "checkpoint.given-up", "the save of " + m_request.target.string() + " was given up before it was whole; nothing of it remains", m_request.target.string()));
    if (hasFailed() && !m_outcome.committed)
        m_transaction.discard();
    if (!hasFailed() && m_request.options.verifyAfter) {
        giveWayToEverything();
        verifyAndPrune();
    }
    if (!m_settings.keepStaging)
        m_pool.trim();
    std::optional<Error> failure;
    {
        const std::lock_guard lock(m_mutex);
        m_outcome.error = failure = m_failure;
    }
    if (failure)
        logger("core.checkpoint")->error("{}", failure->message());
    tell(failure ? "failed" : "done", {}, m_request.plan.bytes, m_request.plan.bytes, failure ? failure->message() : std::string());
    const std::lock_guard lock(m_mutex);
    m_done = true;
    m_changed.notify_all();
}

// Hands out what goes into the next block of a file.
class SaveJob::Cutter
{
public:
    explicit Cutter(PlannedFile &file) : m_file(file) {}

    bool atEnd() const { return m_offset >= m_file.bytes && m_began; }
    Block next(std::size_t index)
    {
        m_began = true;
        const Block block{index, m_offset, std::min(kBlockBytes, m_file.bytes - m_offset), {}};
        m_offset += block.bytes;
        return block;
    }
    std::vector<Copy> copies(const Block &block)
    {
        std::vector<Copy> list;
        for (std::int64_t filled = 0; filled < block.bytes;) {
            const Piece &from = m_file.pieces[m_piece];
            const std::int64_t part = std::min(block.bytes - filled, from.size() - m_inPiece);
            if (part > 0)
                list.push_back({&from, m_inPiece, part, block.memory.data + filled});
            filled += part;
            m_inPiece += part;
            if (m_inPiece == from.size()) {
                ++m_piece;
                m_inPiece = 0;
            }
        }
        return list;
    }
    // Lets go of the tensors that are copied whole.
    void forgetCopied()
    {
        for (; m_forgotten < m_piece; ++m_forgotten)
            m_file.pieces[m_forgotten] = Piece();
    }

private:
    PlannedFile &m_file;
    bool m_began = false;                        // an empty file is one empty block
    std::size_t m_piece = 0, m_forgotten = 0;
    std::int64_t m_inPiece = 0, m_offset = 0;
};

bool SaveJob::takeBlock(Block &block)
{
    block.memory = m_pool.take(std::max<std::int64_t>(block.bytes, 1), [this] { return hasFailed(); });
    if (block.memory.data)
        return true;
    if (m_pool.outOfMemory())
        fail(Error(ExitCode::OutOfMemory, "memory.staging", "the machine has no memory left for the snapshot of a checkpoint (" + formatBytes(static_cast<double>(m_request.plan.bytes))
                       + "); save synchronously (async_io False) or free memory", m_request.target.string()));
    return false;
}

void SaveJob::copyInto(const std::vector<Copy> &copies)
{
    for (const Copy &copy : copies) {
        if (copy.from->tensor.defined())
            m_copier.copy(copy.from->tensor, copy.offset, copy.bytes, copy.into);
        else
            std::memcpy(copy.into, copy.from->bytes.data() + copy.offset, static_cast<std::size_t>(copy.bytes));
    }
}

void SaveJob::queue(const Block &block)
{
    std::memset(block.memory.data + block.bytes, 0, static_cast<std::size_t>(block.memory.bytes - block.bytes));
    std::unique_lock lock(m_mutex);
    if (m_failure || m_cancelled) {
        lock.unlock();
        m_pool.giveBack(block.memory, m_settings.keepStaging);
        return;
    }
    m_queue.push_back(block);
    m_changed.notify_all();
}

bool SaveJob::stagesAtOnce() const
{
    return m_request.options.async && m_request.device.is_cpu() && m_copier.copiesHostAtOnce() && !m_pool.isLimited();
}

void SaveJob::stageAtOnce()
{
    struct Filling { Block block; std::vector<Copy> copies; };
    std::vector<Filling> fillings;
    std::vector<Cutter> cutters;
    for (std::size_t file = 0; file < m_request.plan.files.size(); ++file) {
        Cutter &cutter = cutters.emplace_back(m_request.plan.files[file]);
        while (!cutter.atEnd()) {
            Block block = cutter.next(file);
            if (!takeBlock(block)) {
                for (const Filling &filling : fillings)
                    m_pool.giveBack(filling.block.memory, m_settings.keepStaging);
                return;
            }
            fillings.push_back({block, cutter.copies(block)});
        }
    }
    at::parallel_for(0, static_cast<std::int64_t>(fillings.size()), 1, [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t at = from; at < to; ++at)
            copyInto(fillings[static_cast<std::size_t>(at)].copies);
    });
    for (Cutter &cutter : cutters)
        cutter.forgetCopied();
    for (const Filling &filling : fillings)
        queue(filling.block);
    tell("stage", {}, m_request.plan.bytes, m_request.plan.bytes);
}

void SaveJob::stageAll()
{
    for (std::size_t file = 0; file < m_request.plan.files.size(); ++file) {
        if (!stageFile(file))
            return;
        tell("stage", m_request.plan.files[file].path, m_request.plan.files[file].bytes, m_request.plan.files[file].bytes);
    }
}

// A piece's tensor is let go as soon as it is copied. False: the save has failed.
bool SaveJob::stageFile(std::size_t index)
{
    Cutter cutter(m_request.plan.files[index]);
    while (!cutter.atEnd()) {
        Block block = cutter.next(index);
        if (!takeBlock(block))
            return false;
        copyInto(cutter.copies(block));
        m_copier.settle();
        cutter.forgetCopied();
        queue(block);
        if (hasFailed())
            return false;
    }
    return true;
}

// --- the writing threads

void SaveJob::writeLoop()
{
    for (;;) {
        Block block;
        {
            std::unique_lock lock(m_mutex);
            m_changed.wait(lock, [&] { return !m_queue.empty() || m_allQueued || m_failure || m_cancelled; });
            if (m_queue.empty())
                return;
            block = m_queue.front();
            m_queue.pop_front();
        }
        if (!hasFailed()) {
            if (Status done = writeBlock(block); !done)
                fail(done.error());
        }
        m_pool.giveBack(block.memory, m_settings.keepStaging);
    }
}

Status SaveJob::openOnce(std::size_t index)
{
    Target &target = m_targets[index];
    const std::lock_guard lock(target.opening);
    if (target.output)
        return Done{};
    const std::int64_t bytes = m_request.plan.files[index].bytes;
    auto output = OutputFile::create(m_files, pathOf(index), bytes >= kDirectFrom);
    if (!output)
        return output.error();
    if ((*output)->isDirect()) {
        if (Status reserved = (*output)->reserve(alignedUp(bytes)); !reserved)
            return reserved;
    }
    target.output = std::move(*output);
    return Done{};
}

// Blocks of a file are taken from the queue in order, so the one before is being hashed or done; several of a file are written at once.
Status SaveJob::hashInOrder(const Block &block)
{
    Target &target = m_targets[block.file];
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [&] { return target.hashed == block.offset || m_failure || m_cancelled; });
    if (target.hashed != block.offset)
        return Done{};                       // the save has failed elsewhere
    lock.unlock();
    target.hasher.add(block.memory.data, static_cast<std::size_t>(block.bytes));
    lock.lock();
    target.hashed = block.offset + block.bytes;
    m_changed.notify_all();
    return Done{};
}

Status SaveJob::writeBlock(Block &block)
{
    const PlannedFile &file = m_request.plan.files[block.file];
    Target &target = m_targets[block.file];
    if (Status opened = openOnce(block.file); !opened)
        return opened;
    if (Status hashed = hashInOrder(block); !hashed)
        return hashed;
    const std::int64_t bytes = target.output->isDirect() ? alignedUp(block.bytes) : block.bytes;
    if (Status written = target.output->write(block.offset, block.memory.data, bytes); !written)
        return written;
    bool whole = false;
    {
        const std::lock_guard lock(m_mutex);
        target.written += block.bytes;
        whole = target.written == file.bytes;
    }
    tellBytes(block.file, block.bytes);
    if (!whole)
        return Done{};
    tell("flush", file.path, file.bytes, file.bytes);
    return target.output->finish(file.bytes);
}

// --- commit

Status SaveJob::writeManifest()
{
    Manifest &manifest = m_request.manifest;
    manifest.tensors = m_request.plan.tensors;
    for (std::size_t at = 0; at < m_targets.size(); ++at)
        manifest.files.push_back({m_request.plan.files[at].path, m_request.plan.files[at].bytes, m_targets[at].hasher.hex()});
    manifest.created = wallSeconds();
    const std::string text = toJsonText(manifest);
    auto output = OutputFile::create(m_files, m_request.temporary / kManifestFile, false);
    if (!output)
        return output.error();
    if (Status written = (*output)->write(0, text.data(), static_cast<std::int64_t>(text.size())); !written)
        return written;
    return (*output)->finish(static_cast<std::int64_t>(text.size()));
}

Status SaveJob::flushFolders()
{
    std::vector<fs::path> folders{m_request.temporary};
    for (const std::string_view name : {kModelFolder, kOptimizerFolder, kOwnFolder})
        folders.push_back(m_request.temporary / name);
    for (const fs::path &folder : folders) {
        if (m_files.flushFolder(folder) != 0)
            return ioError("flush the folder", folder, errno);
    }
    return Done{};
}

Status SaveJob::commit()
{
    tell("commit", {}, m_request.plan.bytes, m_request.plan.bytes);
    if (Status done = writeManifest(); !done)
        return done;
    if (Status done = flushFolders(); !done)
        return done;
    if (m_cancelled)
        return Done{};
    if (Status done = m_transaction.commit(); !done)
        return done;
    const std::lock_guard lock(m_mutex);
    m_outcome.committed = m_committed = true;
    m_outcome.totalSeconds = steadySeconds() - m_request.startedAt;
    m_changed.notify_all();
    return Done{};
}

// --- after the commit: nothing here may lose the checkpoint

void SaveJob::verifyAndPrune()
{
    if (Status verified = verify(); !verified) {
        if (!m_cancelled)
            fail(verified.error());
        return;
    }
    {
        const std::lock_guard lock(m_mutex);
        m_outcome.verified = true;
    }
    removeReplaced();
    prune();
}

Status SaveJob::verify()
{
    double told = 0;
    const auto progress = [&](std::int64_t done, std::int64_t total, const std::string &file) {
        if (const double now = steadySeconds(); now - told >= 0.1) {
            told = now;
            tell("verify", file, done, total);
        }
        return !m_cancelled;
    };
    tell("verify", {}, 0, m_request.plan.bytes);
    auto files = compareHashes(m_request.target, m_request.manifest, progress);
    if (!m_transaction.holdsName())
        return standBack();
    if (!files)
        return files.error();
    if (const InspectedFile *fault = firstFault(*files)) {
        Error error(ExitCode::Checkpoint, "checkpoint.damaged-file", m_request.target.string() + " was written, but reads back wrong: " + fault->sentence
                        + "; it is kept as " + m_request.target.filename().string() + ".damaged and not counted. Check the disk", m_request.target.string());
        if (Status back = m_transaction.rollBack(); !back)
            logger("core.checkpoint")->error("{}", back.error().message());
        const std::lock_guard lock(m_mutex);
        m_outcome.committed = false;
        return error;
    }
    return markVerified(m_request.target, m_request.manifest);
}

void SaveJob::removeReplaced()
{
    if (Status removed = m_transaction.removeReplaced(); !removed)
        logger("core.checkpoint")->warn("{}", removed.error().message());
}

// Another program has the name now, or took the folder away. What this save had replaced is let go only where that one is known to be whole.
Error SaveJob::standBack()
{
    const auto theirs = readManifest(m_request.target);
    if (theirs && isMarkedVerified(m_request.target, *theirs))
        removeReplaced();
    const std::lock_guard lock(m_mutex);
    m_outcome.committed = false;
    return Error(ExitCode::Checkpoint, "checkpoint.replaced", "another program replaced or removed " + m_request.target.string() + " before it was verified; let each run save into a folder of its own",
                 m_request.target.string());
}

// An older one of this run that was never verified (its writer was killed) is verified now, so that only verified ones are counted.
void SaveJob::verifyOlder(std::vector<ListedCheckpoint> &listed)
{
    for (ListedCheckpoint &checkpoint : listed) {
        if (!checkpoint.ours || checkpoint.run != m_request.manifest.run || checkpoint.badge != Badge::Unverified)
            continue;
        const auto manifest = readManifest(checkpoint.path);
        if (!manifest)
            continue;
        const auto files = compareHashes(checkpoint.path, *manifest, [this](auto, auto, const auto &) { return !m_cancelled.load(); });
        if (!files)
            continue;
        if (const InspectedFile *fault = firstFault(*files))
            (void)markDamaged(checkpoint.path, *manifest, {fault->path, fault->sentence});       // so that it is not read again with every save
        else if (markVerified(checkpoint.path, *manifest))
            checkpoint.badge = Badge::Verified;
    }
}

void SaveJob::prune()
{
    RetentionRule rule{m_request.options.keepNewest, m_request.options.keepEvery, m_request.manifest.run};
    if (rule.keepNewest <= 0)
        return;
    auto listed = listCheckpoints(m_request.target.parent_path());
    if (!listed) {
        logger("core.checkpoint")->warn("nothing was pruned: {}", listed.error().message());
        return;
    }
    verifyOlder(*listed);
    if (m_cancelled)
        return;
    const Pruned pruned = ckptfile::prune(prunable(*listed, rule, m_request.target), m_files);
    for (const Error &error : pruned.errors)
        logger("core.checkpoint")->warn("{}", error.message());
    const std::lock_guard lock(m_mutex);
    m_outcome.pruned = pruned.removed;
}

// --- progress

void SaveJob::tell(const char *phase, const std::string &file, std::int64_t bytes, std::int64_t total, const std::string &sentence)
{
    if (!m_settings.progress)
        return;
    events::Checkpoint record;
    record.path = m_request.target.string();
    record.phase = phase;
    record.file = file;
    record.bytes = bytes;
    record.totalBytes = total;
    record.sentence = sentence;
    record.seconds = steadySeconds() - m_request.startedAt;
    {
        const std::lock_guard lock(m_mutex);
        record.blockedSeconds = m_committed ? m_outcome.blockedSeconds : 0;
    }
    const std::lock_guard lock(m_telling);
    m_settings.progress(record);
}

// Ten times a second for each file, and once for all files together.
void SaveJob::tellBytes(std::size_t index, std::int64_t added)
{
    const double now = steadySeconds();
    const PlannedFile &file = m_request.plan.files[index];
    bool tellFile = false, tellAll = false;
    std::int64_t written = 0, all = 0;
    {
        const std::lock_guard lock(m_mutex);
        Target &target = m_targets[index];
        m_writtenBytes += added;
        written = target.written;
        all = m_writtenBytes;
        tellFile = now - target.told >= 0.1 || written == file.bytes;
        tellAll = now - m_toldAll >= 0.1 || all == m_request.plan.bytes;
        if (tellFile)
            target.told = now;
        if (tellAll)
            m_toldAll = now;
    }
    if (tellFile)
        tell("write", file.path, written, file.bytes);
    if (tellAll)
        tell("write", {}, all, m_request.plan.bytes);
}

} // namespace stagewright::checkpoint
