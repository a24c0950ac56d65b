// Threads that make batches ahead of their use, in a fixed order and within a bound of bytes.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/data/batch_work.h"

namespace stagewright::data {

// What comes next in the order: a batch, or the end of an epoch.
struct Delivery {
    std::optional<Batch> batch;                        // nothing: the epoch is over
    std::shared_ptr<const EpochPlan> plan;             // of that epoch
};

// One thread takes; the others are its own. One planner thread puts batches into the queue and groups the next epoch while the last batches of this one
// are still being made; workers load samples, the earliest batch first. What comes out does not depend on how many workers there are. The destructor stops
// decoders in the middle of a file and waits for the threads.
class Prefetcher
{
public:
    // Starts at batch `index` of `epoch`. options, plans and quarantine must outlive it. options.workers ≥ 1.
    Prefetcher(const SourceOptions &options, EpochPlans &plans, Quarantine &quarantine, std::int64_t epoch, std::int64_t index);
    ~Prefetcher();

    // Waits for the next delivery, at most options.waitDeadline.
    Result<Delivery> take();

private:
    struct Slot {
        std::shared_ptr<const EpochPlan> plan;
        std::unique_ptr<BatchWork> work;               // null: the end of the epoch
        std::int64_t samples = 0;                      // as planned: the one that finishes the work may leave some out or take another bucket
        std::int64_t next = 0, loaded = 0;             // samples given out, samples done
        std::int64_t ordinal = 0;                      // batches since the threads started or the epoch began
        std::int64_t bytes = 0;
        std::optional<Result<Batch>> result;
    };
    struct Task {
        std::shared_ptr<Slot> slot;
        std::int64_t sample = 0;                       // -1: all, in order
    };
    struct Reading { std::string path; double since = 0; };            // what a worker has open

    void plan(std::int64_t epoch, std::int64_t index);
    bool push(std::shared_ptr<Slot> slot);             // waits for room; false: stopping
    void work(int worker);
    std::optional<Task> nextTask(int worker, std::unique_lock<std::mutex> &lock);
    std::optional<Task> findTask(int worker) const;
    void runShared(const Task &task, int worker);
    void runWhole(Slot &slot, int worker, std::optional<table::PythonRandom> &random, std::shared_ptr<const EpochPlan> &stream);
    void conclude(Slot &slot, table::PythonRandom *random);
    void noteReading(int worker, const std::string &path);
    bool followsLoaderProcesses() const { return m_options.compat == Compat::OpenSora; }
    Error waitedTooLong() const;

    const SourceOptions &m_options;
    EpochPlans &m_plans;
    Quarantine &m_quarantine;

    mutable std::mutex m_mutex;                        // guards everything below
    std::condition_variable m_room, m_tasks, m_done;
    std::deque<std::shared_ptr<Slot>> m_queue;
    std::int64_t m_bytes = 0, m_batches = 0;           // in the queue
    std::vector<Reading> m_reading;                    // by worker
    std::atomic<bool> m_stop{false};
    std::vector<std::thread> m_threads;
};

} // namespace stagewright::data
