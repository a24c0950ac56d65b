#include "core/cache/wanted.h"

namespace stagewright::cache {

Wanted wantedBy(const Store &store, std::int64_t epochs)
{
    std::set<WantedClip> clips;
    Wanted wanted;
    wanted.texts.insert(std::string());
    const std::int64_t most = epochs > 0 ? epochs : store.epochs();
    std::int64_t quiet = 0;
    for (std::int64_t epoch = 0; epoch < most && (epochs > 0 || quiet < kQuietEpochs); ++epoch) {
        const std::size_t before = clips.size();
        const table::BucketPlan plan = table::assignBuckets(store.table(), store.rules(), epoch);
        for (const table::Bucket &bucket : plan.buckets) {
            for (const std::int64_t row : bucket.rows) {
                if (!clips.insert({row, {bucket.frames, bucket.height, bucket.width}}).second)
                    continue;
                for (std::int64_t caption = 0; caption < store.table().captionCount(row); ++caption)
                    wanted.texts.insert(store.wordsOf(row, bucket.frames, caption));
            }
        }
        quiet = clips.size() > before ? 0 : quiet + 1;
    }
    if (store.hasLatents())
        wanted.clips.assign(clips.begin(), clips.end());
    return wanted;
}

} // namespace stagewright::cache
