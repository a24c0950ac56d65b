#include "ui/session/run_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "core/config/diff.h"
#include "core/runlog/run_directory.h"

namespace stagewright::session {

namespace fs = std::filesystem;

static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void UpdateTimes::take(double updateSeconds, bool isFirst)
{
    ++updates;
    seconds += updateSeconds;
    setUps += isFirst;
    setUpSeconds += isFirst ? updateSeconds : 0;
}

double UpdateTimes::mean() const
{
    if (updates > setUps)
        return (seconds - setUpSeconds) / double(updates - setUps);
    return updates > 0 ? seconds / double(updates) : 0;
}

double BucketFigures::meanLoss() const { return losses > 0 ? loss / double(losses) : kNaN; }

double ComparedRun::lastLoss() const
{
    double sum = 0;
    for (const double loss : lastLosses)
        sum += loss;
    return lastLosses.empty() ? kNaN : sum / double(lastLosses.size());
}

RunReading::RunReading(const fs::path &folder) : m_reader(runlog::historyPath(folder))
{
    m_run.folder = folder.string();
    m_run.name = folder.filename().string();
}

void RunReading::readStage()
{
    if (std::exchange(m_stageRead, true))
        return;
    auto stage = config::loadStage(runlog::configPath(fs::path(m_run.folder)));
    if (stage)
        m_run.stage = std::make_shared<const config::Stage>(std::move(*stage));
    else
        m_run.sentence = stage.error().message();
}

void RunReading::readMore(const std::atomic<bool> &go)
{
    readStage();
    const auto before = m_run.state;
    m_run.state = runlog::stateOf(m_run.folder);       // first: what is written after it is read below
    if (m_run.state != before)
        m_snapshot.reset();
    while (go) {
        auto batch = m_reader.read();
        if (!batch) {
            m_run.sentence = batch.error().message();
            m_snapshot.reset();
            return;
        }
        for (const auto &record : batch->records)
            take(record);
        if (!batch->records.empty())
            m_snapshot.reset();
        if (batch->atEnd)
            return;
    }
}

void RunReading::take(const events::Record &record)
{
    m_run.series.append(record);
    if (const auto *update = std::get_if<events::Step>(&record.payload))
        takeStep(record.step, *update);
}

void RunReading::takeStep(std::int64_t step, const events::Step &update)
{
    constexpr double kKept = 0.95;
    const bool isFirst = m_run.times.updates == 0;
    m_run.times.take(update.seconds, isFirst);
    m_run.lastStep = step;
    if (update.peakBytes > m_run.peakBytes) {
        m_run.peakBytes = update.peakBytes;
        m_run.peakByKind = update.peakByKind;
    }
    BucketFigures &bucket = m_run.buckets[bucketNameOf(update.bucket)];
    bucket.times.take(update.seconds, isFirst);
    bucket.peakBytes = std::max(bucket.peakBytes, update.peakBytes);
    bucket.batchSize = update.bucket.batchSize;
    if (!std::isfinite(update.loss))
        return;
    ++bucket.losses;
    bucket.loss += update.loss;
    m_run.lastLosses.push_back(update.loss);
    if (m_run.lastLosses.size() > ComparedRun::kLastLosses)
        m_run.lastLosses.pop_front();
    m_smooth = kKept * m_smooth + (1 - kKept) * update.loss;
    m_weight = kKept * m_weight + (1 - kKept);
    m_run.smoothLoss.append(double(step), m_smooth / m_weight);
}

ComparedRunPtr RunReading::snapshot()
{
    if (!m_snapshot)
        m_snapshot = std::make_shared<const ComparedRun>(m_run);
    return m_snapshot;
}

namespace {

// Of each option that differs anywhere: what the first run with a config has, and what each other one has that differs.
struct Differences {
    std::vector<SettingRow> rows;
    std::map<std::string, std::size_t> places;

    SettingRow &row(const config::Change &change, std::size_t runs, const std::vector<std::size_t> &readable)
    {
        const auto known = places.find(change.path);
        if (known != places.end())
            return rows[known->second];
        places[change.path] = rows.size();
        SettingRow made{change.path, std::vector<std::optional<config::Value>>(runs), change.changesResults};
        for (const std::size_t run : readable)
            made.values[run] = change.a;
        rows.push_back(std::move(made));
        return rows.back();
    }
};

} // namespace

std::vector<SettingRow> settingsThatDiffer(const std::vector<ComparedRunPtr> &runs)
{
    std::vector<std::size_t> readable;
    for (std::size_t i = 0; i < runs.size(); ++i)
        if (runs[i]->stage)
            readable.push_back(i);
    Differences found;
    for (std::size_t i = 1; i < readable.size(); ++i)
        for (const config::Change &change : config::diff(*runs[readable.front()]->stage, *runs[readable[i]]->stage))
            found.row(change, runs.size(), readable).values[readable[i]] = change.b;
    return std::move(found.rows);
}

std::vector<BucketName> bucketsOf(const std::vector<ComparedRunPtr> &runs)
{
    std::set<BucketName> names;
    for (const auto &run : runs)
        for (const auto &[name, figures] : run->buckets)
            names.insert(name);
    return {names.begin(), names.end()};
}

} // namespace stagewright::session
