// What is asked of the planning helper and what it answers, declared once: one JSON object a line, on its standard input and output.
// Bytes mean allocated on the device unless a name says reserved; times are seconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/events/fields.h"

namespace stagewright::events {

struct PlanValue {                       // an option and its value as Python spells it
    std::string path, text;
};

struct PlanVary {                        // an option and the values to try; none: whatever makes sense for it (fit only)
    std::string path;
    std::vector<std::string> values;
};

// How a request and an answer call a bucket: "256px/129".
inline std::string bucketName(const std::string &resolution, std::int64_t frames) { return resolution + "/" + std::to_string(frames); }

struct PlanRequest {
    std::int64_t id = 0;                 // comes back with the answer
    std::string ask;                     // plan, sweep, fit, remedies, score, cancel (of the request `cancels`; has no answer of its own)
    std::string config;                  // the stage as YAML
    std::string fitDevice;               // name or GiB; empty: the device here
    std::int64_t worldSize = 0;          // 0: as few processes as the stage's parallel sizes need
    std::string bucket;                  // its bucketName(): only this one; empty: all
    std::vector<PlanVary> vary;          // sweep: all combinations, the last option fastest
    std::int64_t cancels = 0;
    bool uncorrected = false;            // step times as the data sheet says, not corrected by what was measured: what corrections are made from
};

struct PlannedBucket {
    std::string resolution, aspectRatio;
    std::int64_t frames = 0, height = 0, width = 0, batchSize = 0;
    std::int64_t peakBytes = 0, peakReservedBytes = 0;
    KindBytes byKind{};                  // at the peak
    std::string phase;                   // of the peak
    std::int64_t block = -1;             // of the peak; -1: outside the blocks
    double stepSeconds = 0;              // estimate
    std::int64_t bufferBytes = 0;        // of the activation buffer
    std::int64_t keptBlocks = 0;         // checkpointed blocks that the buffer has no room for
    bool fits = true;
};

struct PlannedHost {
    std::int64_t pinned = 0, staging = 0, data = 0, total = 0;
};

struct Plan {
    std::string fitDevice;               // its full name
    std::int64_t capacityBytes = 0;      // of the device
    std::int64_t contextBytes = 0;       // what the allocator does not see: context, libraries
    std::int64_t peakBytes = 0, peakReservedBytes = 0, deviceTotalBytes = 0;
    KindBytes byKind{};
    PlannedHost host;
    std::vector<PlannedBucket> buckets;
    std::int64_t worstBucket = 0;        // index
    double errorBand = 0;                // fraction of peakBytes, either way
    std::string errorBandReason;
    bool fits = true;
    double seconds = 0;                  // that planning took
    std::int64_t checkedPoints = 0;      // compared against a run of all blocks
    double largestDeviation = 0;         // of those, fraction
};

struct PlannedPoint {
    std::vector<PlanValue> values;
    std::int64_t peakBytes = 0;          // of the worst bucket; 0 with a sentence
    double stepSeconds = 0;              // mean over the buckets
    bool fits = true;
    std::string sentence;                // why there is no prediction
};

struct PlannedFit {
    std::vector<PlanValue> values;
    std::int64_t peakBytes = 0;
    double stepSeconds = 0;
    double stepTimeRelative = 0;         // to the stage as it is
    std::vector<PlanValue> stoppedBy;    // the next faster values
    std::string stoppedByBucket;         // that does not fit then
    std::int64_t stoppedByPeakBytes = 0;
    std::string sentence;
    std::int64_t tried = 0;
};

struct PlannedRemedy {                   // against memory that does not suffice; in the order of what helps most
    std::string title;                   // of a button
    std::string sentence;
    std::vector<PlanValue> values;
    std::int64_t peakBytes = 0, savedBytes = 0;
    double timeRelative = 0;             // of a sample, to the stage as it is
    bool fits = true;                    // by itself
};

struct PlanScore {                       // of predictions against measured runs on this machine
    std::int64_t runs = 0;               // buckets of runs
    double median = 0, worst = 0;        // deviation, fraction
    std::int64_t underEstimates = 0;     // by more than 1 %, or memory ran out where it was predicted to suffice
    std::int64_t falseAlarms = 0;        // predicted not to fit, and did
};

struct PlanAnswer {
    std::int64_t id = 0;
    std::optional<Problem> problem;      // instead of an answer
    std::vector<Problem> notes;
    std::optional<Plan> plan;
    std::vector<PlannedPoint> points;
    std::optional<PlannedFit> fit;
    std::optional<PlanScore> score;      // with a plan: of what was measured on its device
    std::vector<PlannedRemedy> remedies;
};

void fields(Is<PlanValue> auto &v, auto &visit)
{
    visit("path", v.path);
    visit("text", v.text);
}

void fields(Is<PlanVary> auto &v, auto &visit)
{
    visit("path", v.path);
    visit("values", v.values);
}

void fields(Is<PlanRequest> auto &r, auto &visit)
{
    visit("id", r.id);
    visit("ask", r.ask);
    visit("config", r.config);
    visit("fit_device", r.fitDevice);
    visit("world_size", r.worldSize);
    visit("bucket", r.bucket);
    visit("vary", r.vary);
    visit("cancels", r.cancels);
    visit("uncorrected", r.uncorrected);
}

void fields(Is<PlannedBucket> auto &b, auto &visit)
{
    visit("resolution", b.resolution);
    visit("frames", b.frames);
    visit("aspect_ratio", b.aspectRatio);
    visit("height", b.height);
    visit("width", b.width);
    visit("batch_size", b.batchSize);
    visit("peak_bytes", b.peakBytes);
    visit("peak_reserved_bytes", b.peakReservedBytes);
    visit("by_kind", b.byKind);
    visit("phase", b.phase);
    visit("block", b.block);
    visit("step_seconds", b.stepSeconds);
    visit("buffer_bytes", b.bufferBytes);
    visit("kept_blocks", b.keptBlocks);
    visit("fits", b.fits);
}

void fields(Is<PlannedHost> auto &h, auto &visit)
{
    visit("pinned", h.pinned);
    visit("staging", h.staging);
    visit("data", h.data);
    visit("total", h.total);
}

void fields(Is<Plan> auto &p, auto &visit)
{
    visit("fit_device", p.fitDevice);
    visit("capacity_bytes", p.capacityBytes);
    visit("context_bytes", p.contextBytes);
    visit("peak_bytes", p.peakBytes);
    visit("peak_reserved_bytes", p.peakReservedBytes);
    visit("device_total_bytes", p.deviceTotalBytes);
    visit("by_kind", p.byKind);
    visit("host_bytes", p.host);
    visit("buckets", p.buckets);
    visit("worst_bucket_index", p.worstBucket);
    visit("error_band", p.errorBand);
    visit("error_band_reason", p.errorBandReason);
    visit("fits", p.fits);
    visit("seconds", p.seconds);
    visit("checked_points", p.checkedPoints);
    visit("largest_deviation", p.largestDeviation);
}

void fields(Is<PlannedPoint> auto &p, auto &visit)
{
    visit("values", p.values);
    visit("peak_bytes", p.peakBytes);
    visit("step_seconds", p.stepSeconds);
    visit("fits", p.fits);
    visit("sentence", p.sentence);
}

void fields(Is<PlannedFit> auto &f, auto &visit)
{
    visit("values", f.values);
    visit("peak_bytes", f.peakBytes);
    visit("step_seconds", f.stepSeconds);
    visit("step_time_relative", f.stepTimeRelative);
    visit("stopped_by", f.stoppedBy);
    visit("stopped_by_bucket", f.stoppedByBucket);
    visit("stopped_by_peak_bytes", f.stoppedByPeakBytes);
    visit("sentence", f.sentence);
    visit("tried", f.tried);
}

void fields(Is<PlannedRemedy> auto &r, auto &visit)
{
    visit("title", r.title);
    visit("sentence", r.sentence);
    visit("values", r.values);
    visit("peak_bytes", r.peakBytes);
    visit("saved_bytes", r.savedBytes);
    visit("time_relative", r.timeRelative);
    visit("fits", r.fits);
}

void fields(Is<PlanScore> auto &s, auto &visit)
{
    visit("runs", s.runs);
    visit("median", s.median);
    visit("worst", s.worst);
    visit("under_estimates", s.underEstimates);
    visit("false_alarms", s.falseAlarms);
}

void fields(Is<PlanAnswer> auto &a, auto &visit)
{
    visit("id", a.id);
    visit("problem", a.problem);
    visit("notes", a.notes);
    visit("plan", a.plan);
    visit("points", a.points);
    visit("fit", a.fit);
    visit("score", a.score);
    visit("remedies", a.remedies);
}

} // namespace stagewright::events
