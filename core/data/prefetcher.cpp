#include "core/data/prefetcher.h"

#include "core/base/host.h"
#include "core/base/units.h"

namespace stagewright::data {

Prefetcher::Prefetcher(const SourceOptions &options, EpochPlans &plans, Quarantine &quarantine, std::int64_t epoch, std::int64_t index)
    : m_options(options), m_plans(plans), m_quarantine(quarantine), m_reading(static_cast<std::size_t>(options.workers))
{
    m_threads.emplace_back([this, epoch, index] { plan(epoch, index); });
    for (int worker = 0; worker < options.workers; ++worker)
        m_threads.emplace_back([this, worker] { work(worker); });
}

Prefetcher::~Prefetcher()
{
    {
        const std::lock_guard lock(m_mutex);
        m_stop = true;
    }
    m_room.notify_all();
    m_tasks.notify_all();
    for (std::thread &thread : m_threads)
        thread.join();
}

void Prefetcher::plan(std::int64_t epoch, std::int64_t index)
{
    for (;; ++epoch, index = 0) {
        const auto plan = m_plans.plan(epoch);
        for (std::int64_t ordinal = 0; index < plan->batches; ++index, ++ordinal) {
            auto slot = std::make_shared<Slot>();
            slot->plan = plan;
            slot->ordinal = ordinal;
            const auto entry = plan->order.at(index);
            slot->bytes = BatchWork::bytesOf(plan->plan.buckets[static_cast<std::size_t>(entry.bucket)], static_cast<std::int64_t>(entry.rows.size()));
            {
                std::unique_lock lock(m_mutex);
                m_room.wait(lock, [&] {
                    return m_stop || m_batches == 0 || (m_batches < m_options.batchesAhead && m_bytes + slot->bytes <= m_options.bytesAhead);
                });
            }
            if (m_stop)
                return;
            slot->work = std::make_unique<BatchWork>(m_options, plan, index, m_quarantine);    // allocates, so only once there is room
            slot->samples = slot->work->size();
            if (!push(std::move(slot)))
                return;
        }
        auto end = std::make_shared<Slot>();
        end->plan = plan;
        if (!push(std::move(end)))
            return;
        if (plan->batches == 0)                        // an epoch without batches ends the run: the taker says so
            return;
    }
}

bool Prefetcher::push(std::shared_ptr<Slot> slot)
{
    const std::lock_guard lock(m_mutex);
    if (m_stop)
        return false;
    m_bytes += slot->bytes;
    m_batches += slot->work != nullptr;
    m_queue.push_back(std::move(slot));
    m_tasks.notify_all();
    m_done.notify_all();
    return true;
}

// The earliest sample that nobody has; with the original's draws, the earliest batch of this worker's share.
std::optional<Prefetcher::Task> Prefetcher::findTask(int worker) const
{
    for (const auto &slot : m_queue) {
        if (!slot->work || slot->next >= slot->samples)
            continue;
        if (!followsLoaderProcesses())
            return Task{slot, slot->next};
        if (slot->ordinal % m_options.workers == worker)
            return Task{slot, -1};
    }
    return std::nullopt;
}

std::optional<Prefetcher::Task> Prefetcher::nextTask(int worker, std::unique_lock<std::mutex> &lock)
{
    std::optional<Task> task;
    m_tasks.wait(lock, [&] { return m_stop || (task = findTask(worker)); });
    if (m_stop)
        return std::nullopt;
    task->slot->next = task->sample < 0 ? task->slot->samples : task->sample + 1;
    return task;
}

void Prefetcher::work(int worker)
{
    // The original's loader processes start anew in each epoch, with the same seed.
    std::optional<table::PythonRandom> random;
    std::shared_ptr<const EpochPlan> stream;
    for (;;) {
        std::unique_lock lock(m_mutex);
        const auto task = nextTask(worker, lock);
        if (!task)
            return;
        lock.unlock();
        if (task->sample < 0)
            runWhole(*task->slot, worker, random, stream);
        else
            runShared(*task, worker);
    }
}

void Prefetcher::runShared(const Task &task, int worker)
{
    Slot &slot = *task.slot;
    noteReading(worker, slot.work->pathOf(task.sample));
    slot.work->load(task.sample, nullptr, &m_stop);
    bool last = false;
    {
        const std::lock_guard lock(m_mutex);
        last = ++slot.loaded == slot.samples;
    }
    if (last)
        conclude(slot, nullptr);
    noteReading(worker, {});
}

void Prefetcher::runWhole(Slot &slot, int worker, std::optional<table::PythonRandom> &random, std::shared_ptr<const EpochPlan> &stream)
{
    if (stream != slot.plan) {
        random.emplace(m_options.seed);
        stream = slot.plan;
    }
    for (std::int64_t sample = 0; sample < slot.work->size() && !m_stop; ++sample) {
        noteReading(worker, slot.work->pathOf(sample));
        slot.work->load(sample, &*random, &m_stop);
    }
    conclude(slot, &*random);
    noteReading(worker, {});
}

void Prefetcher::conclude(Slot &slot, table::PythonRandom *random)
{
    if (m_stop)
        return;
    Result<Batch> result = slot.work->finish(random, &m_stop);
    const std::lock_guard lock(m_mutex);
    slot.result.emplace(std::move(result));
    m_done.notify_all();
}

void Prefetcher::noteReading(int worker, const std::string &path)
{
    const std::lock_guard lock(m_mutex);
    m_reading[static_cast<std::size_t>(worker)] = {path, steadySeconds()};
}

Error Prefetcher::waitedTooLong() const
{
    std::string message = "no batch was ready for " + formatDuration(static_cast<double>(m_options.waitDeadline.count()) / 1000.0);
    for (const Reading &reading : m_reading) {
        if (!reading.path.empty())
            message += "; reading " + reading.path + " for " + formatDuration(steadySeconds() - reading.since);
    }
    return Error(ExitCode::Data, "data.timeout", message + ". Check the disk that the clips are on");
}

Result<Delivery> Prefetcher::take()
{
    std::unique_lock lock(m_mutex);
    const bool ready = m_done.wait_for(lock, m_options.waitDeadline, [this] {
        return !m_queue.empty() && (!m_queue.front()->work || m_queue.front()->result);
    });
    if (!ready)
        return waitedTooLong();
    const auto slot = std::move(m_queue.front());
    m_queue.pop_front();
    m_bytes -= slot->bytes;
    m_batches -= slot->work != nullptr;
    m_room.notify_one();
    Delivery delivery;
    delivery.plan = slot->plan;
    if (!slot->work)
        return delivery;
    if (!*slot->result)
        return slot->result->error();
    delivery.batch = std::move(slot->result->value());
    return delivery;
}

} // namespace stagewright::data
