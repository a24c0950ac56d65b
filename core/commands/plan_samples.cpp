#include "core/commands/plan_samples.h"

#include "core/table/buckets.h"
#include "core/table/table.h"

namespace stagewright::commands {

PlanSamples samplesOf(const config::Stage &stage)
{
    PlanSamples counted;
    if (!stage.isSet("dataset.data_path")) {
        counted.absent = "dataset.data_path is not set, so how many samples a bucket gets is not known";
        return counted;
    }
    const auto data = table::readTable(stage.string("dataset.data_path"), table::readOptions(stage));
    if (!data) {
        counted.absent = data.error().message();
        return counted;
    }
    const auto plan = table::assignBuckets(**data, stage, 0);
    if (!plan) {
        counted.absent = plan.error().message();
        return counted;
    }
    for (const table::Bucket &bucket : plan->buckets) {
        auto &all = counted.ofBucket[{bucket.resolution, bucket.frames}];
        all.samples += bucket.samples();
        all.batches += bucket.batches();
    }
    return counted;
}

} // namespace stagewright::commands
