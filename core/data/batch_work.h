// One batch while it is being made: its samples may be loaded by several threads, and bad ones are replaced when all have been tried.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/data/batch.h"
#include "core/data/cached.h"
#include "core/data/epoch_plan.h"
#include "core/data/quarantine.h"
#include "core/data/sample.h"

namespace stagewright::data {

class BatchWork
{
public:
    // index < plan->batches. Allocates the batch's pixels.
    BatchWork(const SourceOptions &options, std::shared_ptr<const EpochPlan> plan, std::int64_t index, Quarantine &quarantine);

    std::int64_t size() const { return static_cast<std::int64_t>(m_samples.size()); }
    std::int64_t index() const { return m_index; }
    std::int64_t bytes() const { return m_bytes; }
    static std::int64_t bytesOf(const table::Bucket &bucket, std::int64_t samples);
    std::string pathOf(std::int64_t sample) const;

    // Loads one sample. Different samples of a batch may be loaded at the same time. python: the generator of the loader process that the original would have
    // used; null for draws of the sample's own.
    void load(std::int64_t sample, table::PythonRandom *python, const std::atomic<bool> *stop);
    // After all samples were loaded, by one thread: replaces bad ones, makes the batch. An error where nothing at all can be read.
    Result<Batch> finish(table::PythonRandom *python, const std::atomic<bool> *stop);

private:
    struct Sample {
        std::int64_t row = 0, wantedRow = 0;
        torch::Tensor own;                             // pixels of a window that has a size of its own
        CachedTensors cached;
        std::optional<std::string> failure;
    };
    const table::Bucket &bucket() const { return m_plan->plan.buckets[static_cast<std::size_t>(m_entry.bucket)]; }
    void setUp(std::int64_t index);
    void loadRow(Sample &sample, std::int64_t position, std::int64_t row, std::int64_t attempt, table::PythonRandom *python, const std::atomic<bool> *stop);
    Status loadInto(Sample &sample, std::int64_t position, std::int64_t row, std::int64_t attempt, table::PythonRandom *python, const std::atomic<bool> *stop);
    void agreeOnShapes();
    bool replaceBad(table::PythonRandom *python, const std::atomic<bool> *stop);
    bool shrink();
    bool takeAnotherBucket(table::PythonRandom *python, const std::atomic<bool> *stop);
    bool complete(table::PythonRandom *python, const std::atomic<bool> *stop);
    void report(const Sample &sample, std::int64_t replacedBy);
    Batch assemble();
    std::optional<table::FrameRate> rateOf(std::int64_t row) const;
    std::int64_t whichCaption(std::int64_t row, std::int64_t position) const;
    std::string wordsOf(std::int64_t row, std::int64_t position) const;        // what the row trains with at this place of the batch

    const SourceOptions &m_options;
    std::shared_ptr<const EpochPlan> m_plan;
    Quarantine &m_quarantine;
    std::int64_t m_index;                              // what the batch counts as
    std::int64_t m_source;                             // whose rows it has: another one only where a whole bucket is unreadable
    table::BatchOrder::Entry m_entry;
    std::int64_t m_bytes = 0;
    torch::Tensor m_video;                             // [B,3,T,H,W]
    std::vector<Sample> m_samples;
    std::vector<std::int64_t> m_latentShape, m_tokenShape;             // that cached tensors must have; empty: not agreed on yet
    std::vector<events::BadSample> m_bad;
};

} // namespace stagewright::data
