// What a run's updates took, bucket by bucket, to be compared with what was predicted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/events/plan.h"
#include "core/events/record.h"
#include "core/plan/calibration.h"

namespace stagewright::service {

// One thread.
class RunMeasurements
{
public:
    void add(const events::Step &step);
    // A sentence where this update took more than the prediction allows; once a bucket.
    std::optional<std::string> surprise(const events::Step &step, const events::Plan &plan);

    // Of every bucket that was trained at the size that was planned (the worst of its aspects) for some updates after its first. Where an update
    // is made of several batches their buckets may differ: then only a plan with one bucket can be compared.
    std::vector<plan::Measurement> compared(const events::Plan &plan, const std::string &dtype, std::int64_t accumulation, std::int64_t limitBytes, double now) const;

private:
    struct Taken {
        bool first = true;
        std::int64_t peak = 0, updates = 0;
        std::vector<double> seconds;           // of the first updates after the first one
    };
    static std::string keyOf(const std::string &resolution, std::int64_t frames, std::int64_t height, std::int64_t width, std::int64_t batch);
    std::map<std::string, Taken> m_taken;
    std::map<std::string, bool> m_said;        // by bucket
};

} // namespace stagewright::service
