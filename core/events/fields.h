// The fields of every record, each named once: writing and parsing both walk these lists. To add a field, add a line here and to README.md.
#pragma once

#include "core/events/field_concepts.h"

namespace stagewright::events {

// A visitor is called as visit(jsonName, member) for each field; zeros and empty values are the visitor's affair.

void fields(Is<Bucket> auto &b, auto &visit)
{
    visit("resolution", b.resolution);
    visit("frames", b.frames);
    visit("height", b.height);
    visit("width", b.width);
    visit("batch_size", b.batchSize);
}

void fields(Is<RunStarted> auto &r, auto &visit)
{
    visit("run", r.run);
    visit("device", r.device);
    visit("device_reason", r.deviceReason);
    visit("device_name", r.deviceName);
    visit("device_total_bytes", r.deviceTotalBytes);
    visit("parameters", r.parameters);
    visit("steps_per_epoch", r.stepsPerEpoch);
    visit("max_steps", r.maxSteps);
    visit("first_step", r.firstStep);
    visit("double_blocks", r.doubleBlocks);
    visit("single_blocks", r.singleBlocks);
}

void fields(Is<State> auto &s, auto &visit)
{
    visit("state", s.state);
    visit("sentence", s.sentence);
    visit("exit", s.exit);
}

void fields(Is<Step> auto &s, auto &visit)
{
    visit("loss", s.loss);
    visit("lr", s.lr);
    visit("grad_norm", s.gradNorm);
    visit("bucket", s.bucket);
    visit("seconds", s.seconds);
    visit("data_wait_seconds", s.dataWaitSeconds);
    visit("peak_bytes", s.peakBytes);
    visit("peak_by_kind", s.peakByKind);
    visit("phase_seconds", s.phaseSeconds);
    visit("epoch", s.epoch);
    visit("micro_steps", s.microSteps);
    visit("samples", s.samples);
    visit("skipped", s.skipped);
    visit("rows", s.rows);
    visit("blocked_seconds", s.blockedSeconds);
}

void fields(Is<MemoryTrace> auto &m, auto &visit)
{
    visit("bucket", m.bucket);
    visit("at", m.at);
    visit("phase", m.phase);
    visit("bytes", m.bytes);
    visit("host", m.host);
    visit("resident_bytes", m.residentBytes);
    visit("reserved_bytes", m.reservedBytes);
}

void fields(Is<Milestone> auto &m, auto &visit)
{
    visit("at", m.at);
    visit("allocated_bytes", m.allocatedBytes);
    visit("peak_bytes", m.peakBytes);
    visit("resident_bytes", m.residentBytes);
    visit("by_kind", m.byKind);
}

void fields(Is<Buffer> auto &b, auto &visit)
{
    visit("capacity_bytes", b.capacityBytes);
    visit("high_water_bytes", b.highWaterBytes);
    visit("offloaded_blocks", b.offloadedBlocks);
    visit("kept_blocks", b.keptBlocks);
    visit("stall_seconds", b.stallSeconds);
    visit("bucket", b.bucket);
}

void fields(Is<Checkpoint> auto &c, auto &visit)
{
    visit("path", c.path);
    visit("phase", c.phase);
    visit("file", c.file);
    visit("bytes", c.bytes);
    visit("total_bytes", c.totalBytes);
    visit("seconds", c.seconds);
    visit("blocked_seconds", c.blockedSeconds);
    visit("sentence", c.sentence);
}

void fields(Is<Note> auto &n, auto &visit)
{
    visit("level", n.level);
    visit("sentence", n.sentence);
    visit("code", n.code);
}

void fields(Is<Edit> auto &e, auto &visit)
{
    visit("path", e.path);
    visit("from", e.from);
    visit("to", e.to);
}

void fields(Is<Fix> auto &f, auto &visit)
{
    visit("title", f.title);
    visit("edits", f.edits);
}

void fields(Is<Problem> auto &p, auto &visit)
{
    visit("severity", p.severity);
    visit("code", p.code);
    visit("path", p.path);
    visit("message", p.message);
    visit("file", p.file);
    visit("line", p.line);
    visit("column", p.column);
    visit("fix", p.fix);
}

// A problem's fields stand beside "event" and "time", as everywhere else in the command line's contract.
void fields(Is<ProblemRecord> auto &p, auto &visit) { fields(p.problem, visit); }

void fields(Is<BadSample> auto &b, auto &visit)
{
    visit("row", b.row);
    visit("path", b.path);
    visit("reason", b.reason);
    visit("replaced_by", b.replacedBy);
    visit("total", b.total);
}

void fields(Is<CheckpointSummary> auto &c, auto &visit)
{
    visit("path", c.path);
    visit("bytes", c.bytes);
    visit("blocked_seconds", c.blockedSeconds);
    visit("total_seconds", c.totalSeconds);
}

void fields(Is<Summary> auto &s, auto &visit)
{
    visit("run", s.run);
    visit("steps", s.steps);
    visit("loss", s.loss);
    visit("peak_bytes", s.peakBytes);
    visit("predicted_peak_bytes", s.predictedPeakBytes);
    visit("checkpoints", s.checkpoints);
    visit("seconds", s.seconds);
    visit("exit", s.exit);
}

void fields(Is<PredictedBucket> auto &b, auto &visit)
{
    visit("bucket", b.bucket);
    visit("peak_bytes", b.peakBytes);
    visit("step_seconds", b.stepSeconds);
}

void fields(Is<Prediction> auto &p, auto &visit)
{
    visit("peak_bytes", p.peakBytes);
    visit("error_band", p.errorBand);
    visit("error_band_reason", p.errorBandReason);
    visit("buckets", p.buckets);
}

// In the order of Payload's alternatives.
inline constexpr std::array<const char *, std::variant_size_v<Payload>> kEventNames{
    "run", "state", "step", "memory", "milestone", "buffer", "checkpoint", "note", "problem", "bad_sample", "summary", "prediction"};

} // namespace stagewright::events
