#include "core/data/epoch_plan.h"

#include <algorithm>

namespace stagewright::data {

namespace {

constexpr std::size_t kKept = 2;

std::shared_ptr<EpochPlan> makePlan(const SourceOptions &options, std::int64_t epoch)
{
    table::BucketPlan plan = table::assignBuckets(*options.table, options.rules, epoch);
    table::BatchOrder order(plan, epoch, options.worldSize, options.rank);
    const std::int64_t batches = order.size();
    return std::make_shared<EpochPlan>(EpochPlan{std::move(plan), std::move(order), batches});
}

} // namespace

std::shared_ptr<const EpochPlan> EpochPlans::plan(std::int64_t epoch)
{
    const std::lock_guard lock(m_mutex);
    if (const auto found = m_plans.find(epoch); found != m_plans.end())
        return found->second;
    auto made = makePlan(m_options, epoch);
    if (m_options.compat == Compat::OpenSora) {        // the original counts an epoch's batches once
        if (m_firstEpochBatches < 0)
            m_firstEpochBatches = epoch == 0 ? made->batches : makePlan(m_options, 0)->batches;
        made->batches = std::min(made->batches, m_firstEpochBatches);
    }
    if (m_plans.size() >= kKept)                       // the one that is farthest away
        m_plans.erase(std::abs(m_plans.begin()->first - epoch) > std::abs(m_plans.rbegin()->first - epoch) ? m_plans.begin() : std::prev(m_plans.end()));
    m_plans[epoch] = made;
    return made;
}

} // namespace stagewright::data
