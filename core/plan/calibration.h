// What measured runs on this machine say about predictions: a store of both side by side, kept from run to run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/known_devices.h"
#include "core/events/plan.h"
#include "core/plan/planner.h"

namespace stagewright::plan {

// One bucket of one run: the highest of its updates after the first, and the median of their times.
struct Measurement {
    double time = 0;                   // seconds since 1970
    std::string device, dtype, bucket;
    std::int64_t predictedPeak = 0;
    std::int64_t measuredPeak = 0;     // where memory ran out: what it would have taken at least
    double predictedSeconds = 0;       // as the data sheet says, not corrected by measurements
    double measuredSeconds = 0;        // 0: not known
    std::int64_t updates = 0;
    std::int64_t limitBytes = 0;       // that it had to stay below
    bool outOfMemory = false;
};

std::filesystem::path measurementsPath();              // plan-measurements.jsonl among what is remembered between starts
// Adds them, in one write; a file that has grown past what is read is cut to that. Several processes may add at a time: then the newest may be lost in
// a cut, never a line in its middle.
Status addMeasurements(const std::vector<Measurement> &measurements, const std::filesystem::path &file = measurementsPath());
// The newest 2,000; damaged lines are skipped. Empty where there is no file.
std::vector<Measurement> readMeasurements(const std::filesystem::path &file = measurementsPath());

// The file's measurements, read again only where it has changed. One thread.
class MeasurementFile
{
public:
    explicit MeasurementFile(std::filesystem::path file = measurementsPath()) : m_file(std::move(file)) {}
    const std::vector<Measurement> &now();
    std::int64_t timesRead() const { return m_timesRead; }

private:
    std::filesystem::path m_file;
    std::filesystem::file_time_type m_changed{};
    std::uintmax_t m_size = 0;
    std::vector<Measurement> m_all;
    std::int64_t m_timesRead = 0;
};

// Deviations of all that were measured; a run that met its limit although the prediction lay below counts as an under-estimate, one that did not although
// the prediction lay above as a false alarm.
events::PlanScore score(const std::vector<Measurement> &measurements);

// The band that the newest measurements on this device in this dtype need; nothing where there are fewer than five.
std::optional<ErrorBand> measuredBand(const std::vector<Measurement> &measurements, const std::string &device, const std::string &dtype);

// The device with its rates scaled so that predicted step times match the median of what was measured on it.
config::TargetDevice calibrated(config::TargetDevice device, const std::vector<Measurement> &measurements);

} // namespace stagewright::plan
