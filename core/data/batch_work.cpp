#include "core/data/batch_work.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/table/caption.h"

namespace stagewright::data {

BatchWork::BatchWork(const SourceOptions &options, std::shared_ptr<const EpochPlan> plan, std::int64_t index, Quarantine &quarantine)
    : m_options(options), m_plan(std::move(plan)), m_quarantine(quarantine), m_index(index)
{
    setUp(index);
}

std::int64_t BatchWork::bytesOf(const table::Bucket &bucket, std::int64_t samples)
{
    return samples * 3 * bucket.frames * bucket.height * bucket.width * static_cast<std::int64_t>(sizeof(float));
}

void BatchWork::setUp(std::int64_t index)
{
    m_source = index;
    m_entry = m_plan->order.at(index);
    m_samples.clear();
    m_samples.resize(m_entry.rows.size());
    for (std::size_t i = 0; i < m_samples.size(); ++i)
        m_samples[i].row = m_samples[i].wantedRow = m_entry.rows[i];
    m_bytes = bytesOf(bucket(), size());
    m_video = torch::Tensor();
    m_latentShape.clear();
    m_tokenShape.clear();
    if (m_options.transform == Transform::RandSizeCrop || m_options.cached.video)
        return;
    const std::vector<std::int64_t> shape{size(), 3, bucket().frames, bucket().height, bucket().width};
    m_video = m_options.allocate ? m_options.allocate(shape) : torch::empty(shape, torch::kFloat32);
}

std::string BatchWork::pathOf(std::int64_t sample) const
{
    return m_options.table->mediaPath(m_entry.rows[static_cast<std::size_t>(sample)]).string();
}

void BatchWork::load(std::int64_t position, table::PythonRandom *python, const std::atomic<bool> *stop)
{
    Sample &sample = m_samples[static_cast<std::size_t>(position)];
    loadRow(sample, position, sample.wantedRow, 0, python, stop);
}

void BatchWork::loadRow(Sample &sample, std::int64_t position, std::int64_t row, std::int64_t attempt, table::PythonRandom *python, const std::atomic<bool> *stop)
{
    sample.row = row;
    sample.failure = m_quarantine.reason(row, bucket().frames);
    if (sample.failure)
        return;
    const Status loaded = loadInto(sample, position, row, attempt, python, stop);
    if (loaded)
        return;
    sample.failure = loaded.error().message();
    const std::string &code = loaded.error().problem.code;
    // What a cache lacks may be built before the next run.
    const bool passes = code == "data.timeout" || code == "data.cache-missing" || code == "data.cache-damaged";
    if (code != "data.stopped")
        m_quarantine.add(row, bucket().frames, *sample.failure, passes ? Quarantine::Lasts::ThisRun : Quarantine::Lasts::UntilItsFilesChange);
}

Status BatchWork::loadInto(Sample &sample, std::int64_t position, std::int64_t row, std::int64_t attempt, table::PythonRandom *python, const std::atomic<bool> *stop)
{
    if (m_options.cached.video || m_options.cached.text) {
        sample.cached = {};
        const cache::ClipShape cell{bucket().frames, bucket().height, bucket().width};
        if (Status loaded = loadCached(m_options, row, cell, wordsOf(row, position), sample.cached); !loaded)
            return loaded;
        const auto differs = [](const torch::Tensor &tensor, const std::vector<std::int64_t> &shape) { return tensor.defined() && !shape.empty() && tensor.sizes().vec() != shape; };
        if (differs(sample.cached.latents, m_latentShape) || differs(sample.cached.tokens, m_tokenShape))
            return Error(ExitCode::Data, "data.bad-sample", m_options.table->mediaPath(row).string() + ": its cached tensors have another shape than the rest of its batch");
        if (m_options.cached.video)
            return Done{};
    }
    const std::int64_t access = table::accessIndex(m_source, m_options.worldSize) + m_options.rank;
    Draws draws = python ? Draws(python) : Draws(sampleGenerator(m_options.seed, m_plan->plan.epoch, access, position, attempt));
    const SampleShape shape{bucket().frames, static_cast<int>(bucket().height), static_cast<int>(bucket().width)};
    const auto target = [&](int height, int width) -> float * {
        if (m_video.defined())
            return m_video.data_ptr<float>() + position * 3 * shape.frames * height * width;
        sample.own = torch::empty({3, shape.frames, height, width}, torch::kFloat32);
        return sample.own.data_ptr<float>();
    };
    media::Limits limits = media::Limits::within(m_options.clipDeadline);
    limits.stop = stop;
    limits.budget = m_options.decodeBudget.get();
    return loadSample(m_options, row, shape, draws, target, limits);
}

// Cached tensors of a batch are stacked, so they need one shape: the one that most of them have.
void BatchWork::agreeOnShapes()
{
    std::map<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>, int> votes;
    const auto shapesOf = [](const Sample &sample) {
        const auto shape = [](const torch::Tensor &tensor) { return tensor.defined() ? tensor.sizes().vec() : std::vector<std::int64_t>(); };
        return std::pair(shape(sample.cached.latents), shape(sample.cached.tokens));
    };
    for (const Sample &sample : m_samples) {
        if (!sample.failure)
            ++votes[shapesOf(sample)];
    }
    if (votes.empty())
        return;
    const auto most = std::max_element(votes.begin(), votes.end(), [](const auto &a, const auto &b) { return a.second < b.second; });
    std::tie(m_latentShape, m_tokenShape) = most->first;
    for (Sample &sample : m_samples) {
        if (!sample.failure && shapesOf(sample) != most->first)
            sample.failure = m_options.table->mediaPath(sample.row).string() + ": its cached tensors have another shape than the rest of its batch";
    }
}

void BatchWork::report(const Sample &sample, std::int64_t replacedBy)
{
    events::BadSample bad;
    bad.row = sample.row;
    bad.path = m_options.table->mediaPath(sample.row).string();
    bad.reason = sample.failure.value_or("");
    if (bad.reason.starts_with(bad.path + ": "))
        bad.reason.erase(0, bad.path.size() + 2);
    bad.replacedBy = replacedBy;
    m_bad.push_back(std::move(bad));
}

// Each bad sample by the next usable row of its bucket in the epoch's order, counted from the end of the batch. False where there is none.
bool BatchWork::replaceBad(table::PythonRandom *python, const std::atomic<bool> *stop)
{
    const auto candidates = m_plan->order.bucketRows(m_entry.bucket);
    const auto total = static_cast<std::int64_t>(candidates.size());
    std::int64_t next = m_entry.firstInBucket + size();
    for (std::int64_t position = 0; position < size(); ++position) {
        Sample &sample = m_samples[static_cast<std::size_t>(position)];
        if (!sample.failure)
            continue;
        const Sample wanted = sample;
        for (std::int64_t attempt = 1; attempt <= total && sample.failure; ++attempt, ++next) {
            const std::int64_t row = candidates[static_cast<std::size_t>(next % total)];
            const bool knownBad = m_quarantine.reason(row, bucket().frames).has_value();
            loadRow(sample, position, row, attempt, python, stop);
            if (stop && stop->load())
                return true;
            if (sample.failure && !knownBad)
                report(sample, -1);
        }
        report(wanted, sample.failure ? -1 : sample.row);
        if (sample.failure)
            return false;
    }
    return true;
}

// As the original: the good ones alone. False where there are none.
bool BatchWork::shrink()
{
    std::vector<std::int64_t> good;
    std::vector<Sample> kept;
    for (std::int64_t position = 0; position < size(); ++position) {
        Sample &sample = m_samples[static_cast<std::size_t>(position)];
        if (!sample.failure) {
            good.push_back(position);
            kept.push_back(sample);
        }
    }
    if (good.empty())
        return false;
    if (good.size() == m_samples.size())
        return true;
    for (const Sample &sample : m_samples) {
        if (sample.failure)
            report(sample, -1);
    }
    if (m_video.defined())
        m_video = m_video.index_select(0, torch::tensor(good));
    m_samples = std::move(kept);
    return true;
}

bool BatchWork::complete(table::PythonRandom *python, const std::atomic<bool> *stop)
{
    if (m_options.cached.video || m_options.cached.text)
        agreeOnShapes();
    if (m_options.compat == Compat::OpenSora && shrink())
        return true;
    return replaceBad(python, stop);
}

// A bucket without a single usable row: the batch that comes next in another bucket takes its place, so that all ranks make the same number of steps.
bool BatchWork::takeAnotherBucket(table::PythonRandom *python, const std::atomic<bool> *stop)
{
    std::set<std::int32_t> unusable{m_entry.bucket};
    for (std::int64_t step = 1; step < m_plan->batches; ++step) {
        const std::int64_t index = (m_index + step) % m_plan->batches;
        if (unusable.contains(m_plan->order.at(index).bucket))
            continue;
        setUp(index);
        for (std::int64_t position = 0; position < size(); ++position)
            load(position, python, stop);
        if (complete(python, stop))
            return true;
        unusable.insert(m_entry.bucket);
    }
    return false;
}

Result<Batch> BatchWork::finish(table::PythonRandom *python, const std::atomic<bool> *stop)
{
    if (complete(python, stop) || takeAnotherBucket(python, stop))
        return assemble();
    const std::string file = m_options.table->file().string();
    std::string message = file + ": not a single file of the " + std::to_string(m_plan->plan.kept) + " rows in buckets can be used";
    if (!m_bad.empty())
        message += "; the first: row " + std::to_string(m_bad.front().row) + ", " + m_bad.front().path + ": " + m_bad.front().reason;
    return Error(ExitCode::Data, "data.no-usable-file", message, file);
}

std::optional<table::FrameRate> BatchWork::rateOf(std::int64_t row) const
{
    return table::frameRateFor(m_options.rules, m_options.table->number(table::NumberColumn::Fps, row),
                               m_options.table->number(table::NumberColumn::NumFrames, row), bucket().frames);
}

// One of a row's captions, drawn apart from the draws of the pictures.
std::int64_t BatchWork::whichCaption(std::int64_t row, std::int64_t position) const
{
    constexpr std::int64_t kCaptionStream = std::int64_t(1) << 32;     // beyond every attempt
    const std::int64_t count = m_options.table->captionCount(row);
    if (count == 1)
        return 0;
    const std::int64_t access = table::accessIndex(m_source, m_options.worldSize) + m_options.rank;
    return sampleGenerator(m_options.seed, m_plan->plan.epoch, access, position, kCaptionStream).between(0, count - 1);
}

std::string BatchWork::wordsOf(std::int64_t row, std::int64_t position) const
{
    return table::captionOf(*m_options.table, {m_options.rules.fpsMax, m_options.motionScore}, row, rateOf(row), whichCaption(row, position));
}

Batch BatchWork::assemble()
{
    Batch batch;
    if (m_video.defined()) {
        batch.video = std::move(m_video);
    } else if (!m_options.cached.video) {
        std::vector<torch::Tensor> own;
        for (Sample &sample : m_samples)
            own.push_back(std::move(sample.own));
        batch.video = own.empty() || !own.front().defined() ? torch::Tensor() : torch::stack(own);
    }
    const auto stacked = [&](torch::Tensor CachedTensors::*which) {
        std::vector<torch::Tensor> all;
        for (const Sample &sample : m_samples)
            all.push_back(sample.cached.*which);
        return torch::stack(all);
    };
    if (m_options.cached.video)
        batch.latents = stacked(&CachedTensors::latents);
    if (m_options.cached.text) {
        batch.tokens = stacked(&CachedTensors::tokens);
        batch.pooled = stacked(&CachedTensors::pooled);
    }
    for (std::size_t position = 0; position < m_samples.size(); ++position) {
        const std::int64_t row = m_samples[position].row;
        batch.rows.push_back(row);
        batch.texts.push_back(wordsOf(row, static_cast<std::int64_t>(position)));
    }
    batch.bucket = {bucket().resolution, bucket().frames, bucket().height, bucket().width, bucket().batchSize};
    const auto rate = rateOf(batch.rows.front());
    batch.fps = rate && bucket().frames > 1 ? rate->newFps : 0;
    batch.epoch = m_plan->plan.epoch;
    batch.index = m_index;
    batch.bad = std::move(m_bad);
    return batch;
}

} // namespace stagewright::data
