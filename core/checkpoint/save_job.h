// One save from snapshot to retention, on its own threads.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "core/checkpoint/save_plan.h"
#include "core/checkpoint/staging_pool.h"
#include "core/checkpoint/transaction.h"
#include "core/checkpoint/writer.h"
#include "core/ckptfile/hash.h"
#include "core/ckptfile/listing.h"
#include "core/ckptfile/manifest.h"
#include "core/ckptfile/output_file.h"

namespace stagewright::checkpoint {

struct SaveRequest {
    SavePlan plan;
    std::filesystem::path temporary, target;     // temporary exists, with its folders
    SaveOptions options;
    ckptfile::Manifest manifest;                 // everything but files, tensors
    torch::Device device = torch::kCPU;
    double startedAt = 0;                        // steadySeconds() when begin() was entered
};

// start() once; the wait functions by the training thread; everything else happens on the job's threads.
class SaveJob
{
public:
    SaveJob(SaveRequest request, const WriterSettings &settings, StagingPool &pool);
    ~SaveJob();                                  // cancels what is not committed, joins

    void start();
    bool waitUntilStaged(double deadline);       // deadlines in steadySeconds(); false: passed
    bool waitUntilCommitted(double deadline);    // or failed
    bool waitUntilDone(double deadline);
    bool isStaged() const;
    bool isCommitted() const;                    // or failed
    bool isDone() const;
    void addBlocked(double seconds);
    SaveOutcome outcome() const;                 // final once done

private:
    struct Block { std::size_t file; std::int64_t offset, bytes; StagingPool::Block memory; };
    struct Copy { const Piece *from; std::int64_t offset, bytes; char *into; };
    class Cutter;                                // a file's stream of pieces, cut into blocks
    bool takeBlock(Block &block);                // memory for it; false: the save has failed
    void copyInto(const std::vector<Copy> &copies);
    struct Target {                              // one file being written
        std::mutex opening;
        std::unique_ptr<ckptfile::OutputFile> output;
        ckptfile::Hasher hasher;
        std::int64_t hashed = 0;                 // bytes, in order; guarded by m_mutex
        std::int64_t written = 0;
        double told = 0;                         // when progress was last told
    };

    void run();                                  // the coordinating thread
    void giveWay();                              // the calling thread to training
    void writeLoop();                            // each writing thread
    void guarded(const std::function<void()> &stage);    // what it throws is a failure of the save
    void allStaged();
    bool stagesAtOnce() const;
    void stageAtOnce();                          // on the calling (training) thread and its helpers
    void stageAll();
    bool stageFile(std::size_t index);
    void queue(const Block &block);
    Status writeBlock(Block &block);
    Status openOnce(std::size_t index);
    Status hashInOrder(const Block &block);
    Status commit();
    Status writeManifest();
    Status flushFolders();
    void verifyAndPrune();
    Status verify();
    Error standBack();
    void removeReplaced();
    void verifyOlder(std::vector<ckptfile::ListedCheckpoint> &listed);
    void prune();

    void fail(Error error);
    bool hasFailed() const;
    void tell(const char *phase, const std::string &file, std::int64_t bytes, std::int64_t total, const std::string &sentence = {});
    void tellBytes(std::size_t file, std::int64_t added);
    std::filesystem::path pathOf(std::size_t file) const { return m_request.temporary / m_request.plan.files[file].path; }

    SaveRequest m_request;
    const WriterSettings &m_settings;
    StagingPool &m_pool;
    ckptfile::FileSystem &m_files;
    SnapshotCopier &m_copier;
    Transaction m_transaction;

    std::thread m_coordinator;
    std::vector<std::thread> m_writers;
    std::deque<Target> m_targets;

    mutable std::mutex m_mutex;
    std::condition_variable m_changed;           // anything below
    std::deque<Block> m_queue;
    bool m_allQueued = false, m_staged = false, m_committed = false, m_done = false;
    std::optional<Error> m_failure;
    SaveOutcome m_outcome;
    std::int64_t m_writtenBytes = 0;
    double m_toldAll = 0;
    std::atomic<bool> m_cancelled{false};
    std::mutex m_telling;                        // progress goes out in order
};

} // namespace stagewright::checkpoint
