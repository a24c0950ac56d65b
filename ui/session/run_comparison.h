// Runs side by side: how each went, what it took, and the settings in which they differ. Plain data and functions for any thread.
#pragma once

#include <atomic>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/config/stage.h"
#include "core/runlog/event_reader.h"
#include "core/runlog/run_state.h"
#include "core/runlog/series.h"
#include "ui/session/run_buckets.h"

namespace stagewright::session {

// Over updates. The run's first one sets up too: it is left out of the mean time, unless it is the only one.
struct UpdateTimes {
    std::int64_t updates = 0, setUps = 0;
    double seconds = 0, setUpSeconds = 0;  // sums over all of them, and over the first
    void take(double updateSeconds, bool isFirst);
    double mean() const;                   // 0 where there is none
};

struct BucketFigures {                     // over a run's updates whose last micro-step was of this bucket
    UpdateTimes times;
    std::int64_t losses = 0;               // that were finite
    double loss = 0;                       // sum over these
    std::int64_t peakBytes = 0;            // highest
    std::int64_t batchSize = 0;            // the newest
    double meanLoss() const;               // NaN where none was finite
};

struct ComparedRun {
    static constexpr std::size_t kLastLosses = 20;     // their mean is the loss at the end

    std::string folder, name;
    std::string sentence;                  // why its history or config cannot be read; empty where they can
    runlog::RunState state = runlog::RunState::Unknown;
    runlog::SeriesStore series;
    runlog::Series smoothLoss;             // exponential mean over about 20 updates, bias corrected
    std::map<BucketName, BucketFigures> buckets;
    UpdateTimes times;
    std::int64_t lastStep = -1;
    std::int64_t peakBytes = 0;
    events::KindBytes peakByKind{};        // when it was highest
    std::deque<double> lastLosses;
    std::shared_ptr<const config::Stage> stage;        // null: it cannot be read
    double lastLoss() const;               // NaN where no update had one
};
using ComparedRunPtr = std::shared_ptr<const ComparedRun>;

// Reads a run and goes on as it grows. Used by one thread at a time.
class RunReading
{
public:
    explicit RunReading(const std::filesystem::path &folder);      // touches no disk
    // Reads what there is; `go` turning false ends it early.
    void readMore(const std::atomic<bool> &go);
    ComparedRunPtr snapshot();             // the last one again where nothing was read since

private:
    void take(const events::Record &record);
    void takeStep(std::int64_t step, const events::Step &update);
    void readStage();

    bool m_stageRead = false;
    runlog::EventReader m_reader;
    ComparedRun m_run;
    ComparedRunPtr m_snapshot;
    double m_smooth = 0, m_weight = 0;
};

struct SettingRow {
    std::string path;                      // as config::Change says
    std::vector<std::optional<config::Value>> values;  // a run each; nothing: not set there, or its config cannot be read
    bool changesResults = true;
};
// In the order of the form. Runs whose config cannot be read take no part.
std::vector<SettingRow> settingsThatDiffer(const std::vector<ComparedRunPtr> &runs);

std::vector<BucketName> bucketsOf(const std::vector<ComparedRunPtr> &runs);    // of any of them, in order

} // namespace stagewright::session
