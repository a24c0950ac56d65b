// The grouping and order of single epochs, made when they are needed and shared by everybody who still works on one.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "core/data/source.h"
#include "core/table/order.h"

namespace stagewright::data {

struct EpochPlan {
    table::BucketPlan plan;
    table::BatchOrder order;
    std::int64_t batches = 0;                          // of this rank: order.size(), under Compat::OpenSora at most epoch 0's
};

// Any thread.
class EpochPlans
{
public:
    explicit EpochPlans(const SourceOptions &options) : m_options(options) {}
    // Waits while the plan is made (half a second for millions of rows). Keeps the last few.
    std::shared_ptr<const EpochPlan> plan(std::int64_t epoch);

private:
    const SourceOptions &m_options;
    std::mutex m_mutex;
    std::map<std::int64_t, std::shared_ptr<const EpochPlan>> m_plans;
    std::int64_t m_firstEpochBatches = -1;
};

} // namespace stagewright::data
