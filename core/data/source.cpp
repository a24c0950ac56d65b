#include "core/data/source.h"

#include <utility>

#include "core/data/prefetcher.h"

namespace stagewright::data {

namespace {

// A data set of which more than half is unreadable is a mistake, not bad luck; judged once so many files were met.
constexpr std::int64_t kJudgeAfter = 64;

// Keeps the place in the order, and counts. One thread.
class PrefetchingSource final : public BatchSource
{
public:
    explicit PrefetchingSource(SourceOptions options)
        : m_options(std::move(options)), m_plans(m_options), m_quarantine(m_options.table, m_options.knownBad, m_options.quarantineFile)
    {
    }

    Status check()
    {
        m_plan = m_plans.plan(0);
        m_fingerprint = table::fingerprint(*m_options.table, m_options.rules);
        return table::checkBatches(*m_options.table, m_plan->plan, m_options.worldSize);
    }

    Result<std::optional<Batch>> next() override
    {
        if (m_failure)
            return *m_failure;
        auto delivery = m_options.workers > 0 ? prefetched() : loadedHere();
        if (!delivery)
            return fail(delivery.error());
        if (delivery->batch)
            return deliver(std::move(*delivery));
        if (delivery->plan->batches == 0)
            return fail(table::checkBatches(*m_options.table, delivery->plan->plan, m_options.worldSize).error().during("epoch " + std::to_string(m_position.epoch)));
        m_position = {m_position.epoch + 1, 0};
        m_plan = nullptr;
        return std::optional<Batch>();
    }

    std::int64_t batchesPerEpoch() const override
    {
        if (!m_plan)
            m_plan = m_plans.plan(m_position.epoch);
        return m_plan->batches;
    }

    Position position() const override { return m_position; }

    Status seek(Position position) override
    {
        const auto plan = position.epoch >= 0 ? m_plans.plan(position.epoch) : nullptr;
        if (!plan || position.index < 0 || position.index > plan->batches) {
            return Error(ExitCode::Data, "data.no-such-position", "there is no batch " + std::to_string(position.index) + " in epoch " + std::to_string(position.epoch)
                         + (plan ? ", which has " + std::to_string(plan->batches) : std::string())
                         + ": the table, the buckets or the number of ranks are not those of the checkpoint");
        }
        m_prefetcher.reset();
        m_random.reset();
        m_failure.reset();
        m_position = position;
        m_plan = plan;
        return Done{};
    }

    std::string fingerprint() const override { return m_fingerprint; }

private:
    Result<Delivery> prefetched()
    {
        if (!m_prefetcher)
            m_prefetcher = std::make_unique<Prefetcher>(m_options, m_plans, m_quarantine, m_position.epoch, m_position.index);
        return m_prefetcher->take();
    }

    Result<Delivery> loadedHere()
    {
        Delivery delivery;
        if (!m_plan)
            m_plan = m_plans.plan(m_position.epoch);
        delivery.plan = m_plan;
        if (m_position.index >= m_plan->batches)
            return delivery;
        if (m_options.compat == Compat::OpenSora && !m_random)
            m_random.emplace(m_options.seed);
        table::PythonRandom *random = m_random ? &*m_random : nullptr;
        BatchWork work(m_options, m_plan, m_position.index, m_quarantine);
        for (std::int64_t sample = 0; sample < work.size(); ++sample)
            work.load(sample, random, nullptr);
        auto batch = work.finish(random, nullptr);
        if (!batch)
            return batch.error();
        delivery.batch = std::move(*batch);
        return delivery;
    }

    Result<std::optional<Batch>> deliver(Delivery delivery)
    {
        m_plan = delivery.plan;
        for (events::BadSample &bad : delivery.batch->bad) {
            m_badRows += note(bad.row);
            bad.total = m_badRows;
        }
        for (const std::int64_t row : delivery.batch->rows)
            m_goodRows += note(row);
        if (m_goodRows + m_badRows >= kJudgeAfter && m_badRows > m_goodRows)
            return fail(tooManyBad(*delivery.batch));
        ++m_position.index;
        return std::optional<Batch>(std::move(delivery.batch));
    }

    // Whether this row is met for the first time.
    bool note(std::int64_t row)
    {
        m_met.resize(static_cast<std::size_t>(m_options.table->rowCount()));
        return !std::exchange(m_met[static_cast<std::size_t>(row)], 1);
    }

    Error tooManyBad(const Batch &batch) const
    {
        const std::string file = m_options.table->file().string();
        std::string message = file + ": " + std::to_string(m_badRows) + " of the " + std::to_string(m_badRows + m_goodRows) + " files met so far cannot be used";
        if (!batch.bad.empty())
            message += ", the last one " + batch.bad.back().path + " (" + batch.bad.back().reason + ")";
        return Error(ExitCode::Data, "data.too-many-bad", message + "; check the paths of the table and the files", file);
    }

    Result<std::optional<Batch>> fail(Error error)
    {
        m_prefetcher.reset();
        m_failure = std::move(error);
        return *m_failure;
    }

    SourceOptions m_options;
    mutable EpochPlans m_plans;
    Quarantine m_quarantine;
    Position m_position;
    mutable std::shared_ptr<const EpochPlan> m_plan;   // of m_position.epoch, or null
    std::string m_fingerprint;
    std::optional<table::PythonRandom> m_random;       // without workers, as one stream
    std::vector<char> m_met;                           // by row: was in a batch that was delivered, or was replaced there
    std::int64_t m_goodRows = 0, m_badRows = 0;        // of those
    std::optional<Error> m_failure;
    std::unique_ptr<Prefetcher> m_prefetcher;          // last: its threads use what is above
};

} // namespace

Result<std::unique_ptr<BatchSource>> makeBatchSource(SourceOptions options)
{
    auto source = std::make_unique<PrefetchingSource>(std::move(options));
    if (Status status = source->check(); !status)
        return status.error();
    return std::unique_ptr<BatchSource>(std::move(source));
}

Result<std::unique_ptr<BatchSource>> makeBatchSource(const config::Stage &stage, std::int64_t rank, std::int64_t worldSize)
{
    auto options = sourceOptions(stage, rank, worldSize);
    if (!options)
        return options.error();
    return makeBatchSource(std::move(*options));
}

} // namespace stagewright::data
