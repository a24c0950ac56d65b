#include "ui/session/run_buckets.h"

#include <algorithm>
#include <cstdlib>

namespace stagewright::session {

BucketName bucketNameOf(const events::Bucket &bucket) { return {std::atoi(bucket.resolution.c_str()), bucket.resolution, bucket.frames}; }

std::int64_t predictedPeak(const events::Prediction &prediction, const events::Bucket &bucket)
{
    const auto found = std::find_if(prediction.buckets.begin(), prediction.buckets.end(), [&](const events::PredictedBucket &predicted) {
        return predicted.bucket.resolution == bucket.resolution && predicted.bucket.frames == bucket.frames && predicted.bucket.batchSize == bucket.batchSize;
    });
    return found == prediction.buckets.end() ? 0 : found->peakBytes;
}

double RunBucket::stallShare() const
{
    const double update = updates > 0 ? seconds / double(updates) : 0;
    return update > 0 ? std::min(1.0, stallOfUpdate() / update) : 0;
}

void RunBuckets::take(const events::Record &record)
{
    if (const auto *step = std::get_if<events::Step>(&record.payload))
        takeStep(record.step, *step);
    else if (const auto *buffer = std::get_if<events::Buffer>(&record.payload))
        takeBuffer(*buffer);
    else if (const auto *prediction = std::get_if<events::Prediction>(&record.payload))
        takePrediction(*prediction);
}

RunBucket &RunBuckets::of(const events::Bucket &now)
{
    RunBucket &bucket = m_buckets[bucketNameOf(now)];
    if (bucket.bucket != now) {
        bucket.bucket = now;
        bucket.predictedBytes = m_prediction ? predictedPeak(*m_prediction, now) : 0;
    }
    return bucket;
}

void RunBuckets::takeStep(std::int64_t step, const events::Step &update)
{
    RunBucket &bucket = of(update.bucket);
    ++bucket.updates;
    bucket.seconds += update.seconds;
    if (update.peakBytes > bucket.peakBytes) {
        bucket.peakBytes = update.peakBytes;
        bucket.peakStep = step;
    }
}

void RunBuckets::takeBuffer(const events::Buffer &buffer)
{
    RunBucket &bucket = of(buffer.bucket);
    ++bucket.tellings;
    bucket.highWaterBytes = std::max(bucket.highWaterBytes, buffer.highWaterBytes);
    bucket.keptBlocks = std::max(bucket.keptBlocks, buffer.keptBlocks);
    bucket.offloadedBlocks = buffer.offloadedBlocks;
    bucket.stallSeconds += buffer.stallSeconds;
    m_highWater = std::max(m_highWater, buffer.highWaterBytes);
}

void RunBuckets::takePrediction(const events::Prediction &prediction)
{
    m_prediction = prediction;
    for (auto &[name, bucket] : m_buckets)
        bucket.predictedBytes = predictedPeak(prediction, bucket.bucket);
}

const RunBucket *RunBuckets::mostAbovePrediction() const
{
    const RunBucket *most = nullptr;
    double largest = m_prediction ? 1 + m_prediction->errorBand : 0;
    for (const auto &[name, bucket] : m_buckets) {
        const double ratio = bucket.predictedBytes > 0 ? double(bucket.peakBytes) / double(bucket.predictedBytes) : 0;
        if (ratio <= largest || largest == 0)
            continue;
        largest = ratio;
        most = &bucket;
    }
    return most;
}

} // namespace stagewright::session
