// What each bucket of a run takes: at the peak against its prediction, and in the activation buffer.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/events/record.h"

namespace stagewright::session {

// Runs are aligned by these: their batch sizes may differ.
struct BucketName {
    int pixels = 0;                        // the number that the resolution begins with; sorts 256px before 1024px
    std::string resolution;
    std::int64_t frames = 0;
    auto operator<=>(const BucketName &) const = default;
};
BucketName bucketNameOf(const events::Bucket &bucket);

// Predicted for updates of this bucket; 0: nothing was.
std::int64_t predictedPeak(const events::Prediction &prediction, const events::Bucket &bucket);

struct RunBucket {
    events::Bucket bucket;                 // of its newest update
    std::int64_t predictedBytes = 0;       // 0: nothing was predicted
    std::int64_t peakBytes = 0, peakStep = -1;
    std::int64_t updates = 0;
    double seconds = 0;                    // sum over the updates
    // Of the activation buffer, over the updates that told of it.
    std::int64_t tellings = 0;
    std::int64_t highWaterBytes = 0, keptBlocks = 0;   // the most
    std::int64_t offloadedBlocks = 0;                  // the newest
    double stallSeconds = 0;                           // sum
    double stallOfUpdate() const { return tellings > 0 ? stallSeconds / double(tellings) : 0; }
    double stallShare() const;             // of an update's time
};

// Plain data, used on one thread.
class RunBuckets
{
public:
    void take(const events::Record &record);
    const std::optional<events::Prediction> &prediction() const { return m_prediction; }
    const std::map<BucketName, RunBucket> &all() const { return m_buckets; }   // that were trained
    std::int64_t highWaterBytes() const { return m_highWater; }                // of the activation buffer, of any bucket
    // The bucket whose peak left the prediction's band upwards by most; null where none did. A bucket is predicted at its worst aspect: less says nothing.
    const RunBucket *mostAbovePrediction() const;

private:
    RunBucket &of(const events::Bucket &now);
    void takeStep(std::int64_t step, const events::Step &update);
    void takeBuffer(const events::Buffer &buffer);
    void takePrediction(const events::Prediction &prediction);

    std::optional<events::Prediction> m_prediction;
    std::map<BucketName, RunBucket> m_buckets;
    std::int64_t m_highWater = 0;
};

} // namespace stagewright::session
