#include "core/config/bucket_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stagewright::config {

namespace {

constexpr std::int64_t kMostBatch = 1'000'000;

std::optional<std::int64_t> digits(const std::string &text)
{
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || code != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

Error rowError(const char *code, const std::string &resolution, const DictKey &frames, const Value &value, const std::string &sentence)
{
    Error error(ExitCode::Usage, code, sentence, value.origin.fileName(), value.origin.line);
    error.problem.path = "bucket_config." + resolution + "." + frames.text();
    error.problem.column = value.origin.column;
    return error;
}

Error withFix(Error error, const std::string &title, const Value &from, const Value &to)
{
    error.problem.fix = Fix{title, {{error.problem.path, toPython(from), toPython(to)}}};
    return error;
}

bool isProbability(const Value &value)
{
    return value.isNumber() && value.number() >= 0 && value.number() <= 1;
}

Value asTuple(const Value &value)
{
    Value tuple = value;
    if (value.type() == Type::List) {
        tuple = Value::tuple(value.items());
        tuple.origin = value.origin;
    }
    return tuple;
}

Value normalisedRow(const Value &value)
{
    Value row = asTuple(value);
    if (row.type() == Type::Tuple) {
        for (Value &item : row.items())
            item = asTuple(item);
    }
    return row;
}

bool isNormal(const DictKey &key, const Value &row)
{
    if (!key.isInteger() && digits(key.text()))
        return false;
    if (row.type() == Type::List)
        return false;
    return row.type() != Type::Tuple || std::none_of(row.items().begin(), row.items().end(), [](const Value &item) { return item.type() == Type::List; });
}

// Frame keys of one resolution as integers where they are digits.
void normaliseFrames(Dict &rows)
{
    if (std::all_of(rows.begin(), rows.end(), [](const auto &entry) { return isNormal(entry.first, entry.second); }))
        return;
    Dict normalised;
    for (const auto &[key, value] : rows) {
        DictKey name = key;
        if (const auto number = digits(key.text()); number && !key.isInteger()) {
            const DictKey frames(*number);
            if (!rows.find(frames) && !normalised.find(frames))
                name = frames;
        }
        normalised.set(name, normalisedRow(value));
    }
    rows = std::move(normalised);
}

const Value *bucketTable(const Stage &stage)
{
    const Value *table = lookUp(stage.values(), "bucket_config");
    return table && table->isDict() ? table : nullptr;
}

int atLeastOne(const Stage &stage, std::string_view path)
{
    const Value &value = stage.at(path);
    return value.type() == Type::Int ? static_cast<int>(std::clamp<std::int64_t>(value.integer(), 1, 1 << 20)) : 1;
}

} // namespace

Result<BucketRow> bucketRow(const std::string &resolution, const DictKey &frames, const Value &value)
{
    const std::string where = "bucket_config " + resolution + ", " + frames.text() + " frames";
    if (!frames.isInteger())
        return rowError("config.frames", resolution, frames, value, "\"" + frames.text() + "\" in bucket_config " + resolution + " is not a number of frames");
    const std::int64_t count = std::get<std::int64_t>(frames.key);
    if (count < 1 || count > 100000)
        return rowError("config.frames", resolution, frames, value, where + ": a clip has at least 1 frame (1 means images) and at most 100000");
    if (!value.isSequence() || value.items().size() != 2)
        return rowError("config.bucket-row", resolution, frames, value,
            where + ": expected (probability, batch size), for example (1.0, 4), but found " + toPython(value));

    BucketRow row;
    row.resolution = resolution;
    row.frames = static_cast<int>(count);
    const Value &probability = value.items()[0], &batch = value.items()[1];
    if (probability.isSequence()) {
        const List &pair = probability.items();
        if (pair.size() != 2 || !isProbability(pair[0]) || !isProbability(pair[1]))
            return rowError("config.probability", resolution, frames, value,
                where + ": a list of probabilities has exactly two, (keep, hand on to the next smaller frame count), each from 0 to 1, but this is " + toPython(probability));
        row.probability = pair[0].number();
        row.nextProbability = pair[1].number();
    } else if (isProbability(probability)) {
        row.probability = probability.number();
    } else {
        return rowError("config.probability", resolution, frames, value,
            where + ": the probability must be a number from 0 to 1 (or a pair of them), not " + toPython(probability));
    }

    if (batch.isNone() && row.probability == 0)
        return row;
    if (batch.type() == Type::Float && batch.number() == std::floor(batch.number()) && batch.number() >= 1 && batch.number() <= kMostBatch) {
        const Value whole = Value::tuple({probability, Value(static_cast<std::int64_t>(batch.number()))});
        return withFix(rowError("config.batch-size", resolution, frames, value,
                           where + ": the batch size must be a whole number; write " + toPython(whole.items()[1]) + " instead of " + toPython(batch)),
            "Write " + toPython(whole.items()[1]), value, whole);
    }
    if (batch.type() != Type::Int || batch.integer() < 1 || batch.integer() > kMostBatch)
        return rowError("config.batch-size", resolution, frames, value, where + ": the batch size must be a whole number from 1 to " + std::to_string(kMostBatch) + ", not " + toPython(batch)
                + (batch.isNone() ? "; None is only for rows with probability 0" : ""));
    row.batchSize = static_cast<int>(batch.integer());
    return row;
}

void normaliseBuckets(Dict &stageValues)
{
    Value *table = stageValues.find("bucket_config");
    if (!table || !table->isDict())
        return;
    for (auto &[resolution, rows] : table->dict()) {
        if (rows.isDict())
            normaliseFrames(rows.dict());
    }
}

Result<std::vector<BucketRow>> bucketRows(const Stage &stage)
{
    std::vector<BucketRow> rows;
    const Value *table = lookUp(stage.values(), "bucket_config");
    if (!table || table->isNone())
        return rows;
    const auto wrong = [&](const Value &at, const std::string &sentence) {
        return Error(ExitCode::Usage, "config.bucket-row", sentence, at.origin.fileName(), at.origin.line);
    };
    if (!table->isDict())
        return wrong(*table, "bucket_config must be a dict of resolutions, not " + std::string(typeName(table->type())));
    for (const auto &[resolution, frames] : bucketTable(stage)->dict()) {
        if (const auto parsed = parseResolution(resolution.text()); !parsed)
            return parsed.error();
        if (!frames.isDict())
            return wrong(frames, "bucket_config " + resolution.text() + " must be a dict of frame counts, not " + typeName(frames.type()));
        for (const auto &[count, value] : frames.dict()) {
            auto row = bucketRow(resolution.text(), count, value);
            if (!row)
                return row.error();
            rows.push_back(std::move(*row));
        }
    }
    return rows;
}

Stage withOnlyBucket(Stage stage, const std::string &bucket)
{
    const auto slash = bucket.find('/');
    Value *table = config::lookUp(stage.values(), "bucket_config");
    if (slash == std::string::npos || !table || !table->isDict())
        return stage;
    config::Dict kept;
    for (const auto &[resolution, rows] : table->dict()) {
        if (resolution.text() != bucket.substr(0, slash) || !rows.isDict())
            continue;
        for (const auto &[frames, row] : rows.dict()) {
            if (frames.text() != bucket.substr(slash + 1))
                continue;
            config::Dict only;
            only.set(frames, row);
            kept.set(resolution, Value::dict(std::move(only)));
        }
    }
    if (!kept.empty())
        *table = Value::dict(std::move(kept));
    return stage;
}

LatentGeometry latentGeometry(const Stage &stage)
{
    LatentGeometry geometry;
    geometry.timeRatio = atLeastOne(stage, "ae.time_compression_ratio");
    geometry.spaceRatio = atLeastOne(stage, "ae.spatial_compression_ratio");
    geometry.channels = atLeastOne(stage, "ae.latent_channels");
    geometry.patch = atLeastOne(stage, "patch_size");
    return geometry;
}

CachedParts cachedParts(const Stage &stage)
{
    if (stage.isSet("encoding_cache"))
        return {!stage.isSet("condition_config"), true};
    return {stage.boolean("cached_video"), stage.boolean("cached_text")};
}

int aspectGranularity(const Stage &stage)
{
    constexpr int kOriginalsDefault = 16;
    return stage.isSet("ae_spatial_compression") ? atLeastOne(stage, "ae_spatial_compression") : kOriginalsDefault;
}

} // namespace stagewright::config
