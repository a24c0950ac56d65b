#include "core/cache/wanted.h"

namespace stagewright::cache {

Wanted wantedBy(const Store &store, std::int64_t epochs)
{
    std::set<WantedClip> clips;
    Wanted wanted;
    wanted.texts.insert(std::string());
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
        const table::BucketPlan plan = table::assignBuckets(store.table(), store.rules(), epoch);
        for (const table::Bucket &bucket : plan.buckets) {
            for (const std::int64_t row : bucket.rows) {
                if (!clips.insert({row, {bucket.frames, bucket.height, bucket.width}}).second)
                    continue;
                for (std::int64_t caption = 0; caption < store.table().captionCount(row); ++caption)
                    wanted.texts.insert(store.wordsOf(row, bucket.frames, caption));
            }
        }
    }
    if (store.hasLatents())
        wanted.clips.assign(clips.begin(), clips.end());
    return wanted;
}

} // namespace stagewright::cache
