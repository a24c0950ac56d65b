#include "core/config/bucket_table.h"
#include "core/table/buckets.h"
#include "core/table/table.h"

namespace stagewright::table {

namespace {

constexpr double kNoRateLimit = 999999999;             // what the original takes None for

} // namespace

Result<BucketRules> bucketRules(const config::Stage &stage)
{
    const auto rows = config::bucketRows(stage);
    if (!rows)
        return rows.error();
    if (rows->empty()) {
        return Error(ExitCode::Usage, "config.no-buckets", "bucket_config is not set, so no row can train; give it a resolution with frame counts, "
                     "for example {\"256px\": {1: (1.0, 4)}}");
    }
    const config::Value &limit = stage.at("dataset.fps_max");
    auto rules = bucketRules(*rows, config::aspectGranularity(stage), stage.integer("seed"), limit.isNone() ? kNoRateLimit : limit.number());
    if (rules && stage.string("data_policy") == "keep")
        rules->policy = DataPolicy::Keep;
    return rules;
}

Result<BucketPlan> assignBuckets(const Table &table, const config::Stage &stage, std::int64_t epoch)
{
    const auto rules = bucketRules(stage);
    if (!rules)
        return rules.error();
    return assignBuckets(table, *rules, epoch);
}

Result<std::string> fingerprint(const config::Stage &stage)
{
    auto rules = bucketRules(stage);
    if (!rules)
        return rules.error();
    auto data = readTable(stage);
    if (!data)
        return data.error();
    return fingerprint(**data, *rules);
}

} // namespace stagewright::table
