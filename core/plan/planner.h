// Plans of stages: every bucket, for a device. Remembers what it has worked out, so that a changed setting is answered in milliseconds.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/config/known_devices.h"
#include "core/events/plan.h"
#include "core/plan/compose.h"

namespace stagewright::plan {

// Asked between points; true ends the work with an error (code memory.plan-cancelled).
using Cancelled = std::function<bool()>;

// Half the width of the band around a predicted peak, as a fraction, and why.
struct ErrorBand { double fraction = 0; std::string reason; };

struct PlanQuery {
    config::TargetDevice device;
    std::int64_t world = 0;            // 0: as few processes as the stage's parallel sizes need
    std::string bucket;                // "256px/129"; empty: all
    bool reserved = true;              // replay the caching allocator (GPUs)
    std::optional<ErrorBand> measured{}; // of runs on this device; nothing: what such devices need
};

// A stage as a query sees it, worked out once.
struct AskedStage {
    Work work;
    std::vector<ClipShape> shapes;     // of the query's bucket, or all; at least one
    std::int64_t accumulation = 1;
};

// Errors (Usage): those of workOf and worstShapes, a bucket that does not exist. notes as for workOf.
Result<AskedStage> askedStage(const config::Stage &stage, const PlanQuery &query, Problems &notes);

// One bucket's answer.
struct BucketPrediction {
    ClipShape shape;
    Prediction memory;
    double stepSeconds = 0;
    bool fits = true;
    std::int64_t deviceBytes = 0;      // reserved and context
};

// One thread; one planner a process, since the meta device's ledger is one.
class Planner
{
public:
    // Errors: sizes that no model can have (Usage), a bucket that does not exist (Usage), cancelled.
    Result<events::Plan> plan(const config::Stage &stage, const PlanQuery &query, Problems &notes, const Cancelled &cancelled = {});

    // The buckets alone, for many stages that differ a little.
    Result<std::vector<BucketPrediction>> buckets(const AskedStage &asked, const PlanQuery &query, const Cancelled &cancelled = {});

    std::int64_t checkedPoints() const { return m_checked; }
    double largestDeviation() const { return m_deviation; }
    void setCheckAll(bool on) { m_checkAll = on; }             // compare every composition with a whole dry run

private:
    struct Remembered {
        std::string key;
        std::shared_ptr<const DryRun> run;
    };
    Result<BucketPrediction> bucket(const AskedStage &asked, const ClipShape &shape, const PlanQuery &query);
    Result<Prediction> predicted(const Work &work, const ClipShape &shape, bool reserved);
    Result<Prediction> composed(const Reduced &plan, const ClipShape &shape, bool reserved);
    Result<std::shared_ptr<const DryRun>> dryRunOf(const Reduced &plan, const ClipShape &shape);

    std::unordered_map<std::string, Prediction> m_predictions;
    std::list<Remembered> m_runs;                              // the newest first
    std::unordered_map<std::string, std::list<Remembered>::iterator> m_runByKey;
    std::int64_t m_checked = 0;
    double m_deviation = 0;
    bool m_checkAll = false;
};

// That of the query, where runs were measured; else what is known of such devices and stages.
ErrorBand errorBand(const Work &work, const PlanQuery &query);

std::string bucketName(const ClipShape &shape);                // "256px/129"
// Mean over the buckets, each as often as it is drawn.
double meanStepSeconds(const std::vector<BucketPrediction> &buckets);

} // namespace stagewright::plan
