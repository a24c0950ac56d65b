// The records of a run, declared once: on the socket, in events.jsonl and in the series of the window they are the same objects.
// JSON form: {"event": NAME, "time": seconds since 1970, "step": …, fields}. Frozen: fields are added, never renamed or removed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/memory_kind.h"
#include "core/base/problem.h"
#include "core/base/result.h"

namespace stagewright::events {

using KindBytes = std::array<std::int64_t, kMemoryKindNames.size()>;     // by MemoryKind; JSON: object by kind name, zeros left out
using HostBytes = std::array<std::int64_t, kHostKindNames.size()>;

struct Bucket {                          // JSON: {"resolution":"256px","frames":17,"height":192,"width":336,"batch_size":2}
    std::string resolution;
    std::int64_t frames = 0, height = 0, width = 0, batchSize = 0;
    bool operator==(const Bucket &) const = default;
};

// Once, first.
struct RunStarted {
    std::string run;                     // folder
    std::string device;                  // "cpu", "cuda:0"
    std::string deviceReason;            // why it was chosen (DECISIONS 16)
    std::string deviceName;
    std::int64_t deviceTotalBytes = 0;   // RAM for cpu
    std::int64_t parameters = 0;         // trainable
    std::int64_t stepsPerEpoch = 0;      // updates
    std::int64_t maxSteps = 0;           // the total that the run aims at; 0 unknown
    std::int64_t firstStep = 0;          // updates made before this process (resume)
    std::int64_t doubleBlocks = 0, singleBlocks = 0;
};

// State of the run, whenever it changes: starting, training, saving_last, stopping, finished, failed.
struct State {
    std::string state;
    std::string sentence;
    std::optional<int> exit;             // exit code, with finished and failed
};

// One per optimizer update, also for skipped ones.
struct Step {
    double loss = 0;                     // mean of the update's micro-steps; NaN is written as null
    double lr = 0;                       // used by this update
    double gradNorm = 0;                 // before clipping
    Bucket bucket;                       // of the last micro-step
    double seconds = 0;
    double dataWaitSeconds = 0;
    std::int64_t peakBytes = 0;          // device, allocated, inside this update
    KindBytes peakByKind{};
    std::array<double, kPhaseNames.size()> phaseSeconds{};     // JSON: object by phase name, zeros left out
    std::int64_t epoch = 0;
    std::int64_t microSteps = 1;
    std::int64_t samples = 0;
    bool skipped = false;                // not finite: nothing was updated
    std::vector<std::int64_t> rows;      // table rows of the last micro-step's batch, replacements included
    double blockedSeconds = 0;           // for which this step waited because of a save
};

// The memory timeline inside one update: only for the first updates of a bucket, new peaks and one in a hundred.
struct MemoryTrace {
    Bucket bucket;
    std::vector<double> at;              // seconds since the update's start
    std::vector<int> phase;              // Phase at that moment
    std::vector<KindBytes> bytes;        // JSON: {kind: [..]} columns
    HostBytes host{};
    std::int64_t residentBytes = 0;
    std::int64_t reservedBytes = 0;
};

// Memory after a milestone of the set-up, as the original logs it: "diffusion", "EMA", "autoencoder", "t5", "clip", "optimizer", "final" …
struct Milestone {
    std::string at;
    std::int64_t allocatedBytes = 0, peakBytes = 0, residentBytes = 0;
    KindBytes byKind{};
};

// The activation buffer in one update.
struct Buffer {
    std::int64_t capacityBytes = 0, highWaterBytes = 0;
    std::int64_t offloadedBlocks = 0, keptBlocks = 0;          // kept: did not fit and stayed on the device
    double stallSeconds = 0;                                   // compute waited for copies
    Bucket bucket;
};

// Progress of a save. Phases in order: stage, write, flush, commit, verify; then "done" or "failed".
struct Checkpoint {
    std::string path;                    // the final folder
    std::string phase;
    std::string file;                    // the file that bytes count towards, empty for all
    std::int64_t bytes = 0, totalBytes = 0;
    double seconds = 0;                  // since the save began
    double blockedSeconds = 0;           // for which a step waited, known from commit on
    std::string sentence;                // with failed: what and what to do
};

struct Note {                            // something a person should know; also logged
    std::string level;                   // "info", "warning", "error"
    std::string sentence;
    std::string code;                    // stable, may be empty
};

struct ProblemRecord { Problem problem; };

// A clip that could not be used: named, counted, replaced.
struct BadSample {
    std::int64_t row = 0;
    std::string path, reason;
    std::int64_t replacedBy = -1;        // row, -1: none
    std::int64_t total = 0;              // bad samples of this run so far
};

// Once, last (the command line's summary object has the same fields).
struct CheckpointSummary { std::string path; std::int64_t bytes = 0; double blockedSeconds = 0, totalSeconds = 0; };
struct Summary {
    std::string run;
    std::int64_t steps = 0;              // updates made by this process
    double loss = 0;
    std::int64_t peakBytes = 0, predictedPeakBytes = 0;
    std::vector<CheckpointSummary> checkpoints;
    double seconds = 0;
    int exit = 0;
};

// What this run was predicted to take, as soon as it is known: once, some seconds after the start, never before a step that waits for it.
struct PredictedBucket {
    Bucket bucket;                       // at its worst aspect
    std::int64_t peakBytes = 0;
    double stepSeconds = 0;
};
struct Prediction {
    std::int64_t peakBytes = 0;          // of the worst bucket, allocated, after the first update
    double errorBand = 0;                // fraction of it, either way
    std::string errorBandReason;
    std::vector<PredictedBucket> buckets;
};

using Payload = std::variant<RunStarted, State, Step, MemoryTrace, Milestone, Buffer, Checkpoint, Note, ProblemRecord, BadSample, Summary, Prediction>;

struct Record {
    double time = 0;                     // seconds since 1970
    std::int64_t step = -1;              // update this belongs to (DECISIONS 6); -1: none
    Payload payload;
};

const char *eventName(const Payload &payload);     // "run", "state", "step", "memory", "milestone", "buffer", "checkpoint", "note", "problem", "bad_sample", "summary", "prediction"
std::string toJsonLine(const Record &record);      // one line, no newline inside or at the end
// Unknown fields are ignored; an unknown event is an error with code run.unknown-event (a newer program wrote it; skip it).
Result<Record> parseRecord(std::string_view line);

} // namespace stagewright::events
