// What measured runs on this machine say about predictions: a store of both side by side, kept from run to run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/known_devices.h"
#include "core/events/plan.h"

namespace stagewright::plan {

// One bucket of one run: the highest of its updates after the first, and the median of their times.
struct Measurement {
    double time = 0;                   // seconds since 1970
    std::string device, dtype, bucket;
    std::int64_t predictedPeak = 0, measuredPeak = 0;
    double predictedSeconds = 0, measuredSeconds = 0;
    std::int64_t updates = 0;
};

std::filesystem::path measurementsPath();              // plan-measurements.jsonl among what is remembered between starts
Status addMeasurements(const std::vector<Measurement> &measurements, const std::filesystem::path &file = measurementsPath());
// The newest 2,000; damaged lines are skipped. Empty where there is no file.
std::vector<Measurement> readMeasurements(const std::filesystem::path &file = measurementsPath());

events::PlanScore score(const std::vector<Measurement> &measurements);

// The device with its rates scaled so that predicted step times match the median of what was measured on it.
config::TargetDevice calibrated(config::TargetDevice device, const std::vector<Measurement> &measurements);

} // namespace stagewright::plan
