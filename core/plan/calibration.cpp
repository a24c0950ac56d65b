#include "core/plan/calibration.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/base/files.h"
#include "core/base/paths.h"
#include "core/events/json_reader.h"
#include "core/events/json_writer.h"

namespace stagewright::plan {

using events::Is;

void fields(Is<Measurement> auto &m, auto &visit)
{
    visit("time", m.time);
    visit("device", m.device);
    visit("dtype", m.dtype);
    visit("bucket", m.bucket);
    visit("predicted_peak_bytes", m.predictedPeak);
    visit("measured_peak_bytes", m.measuredPeak);
    visit("predicted_seconds", m.predictedSeconds);
    visit("measured_seconds", m.measuredSeconds);
    visit("updates", m.updates);
}

namespace {

constexpr std::size_t kNewest = 2000;
constexpr double kUnder = 0.01;                // measured above predicted by more than this is an under-estimate

double median(std::vector<double> values)
{
    if (values.empty())
        return 0;
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

} // namespace

std::filesystem::path measurementsPath()
{
    return stateFolder() / "plan-measurements.jsonl";
}

Status addMeasurements(const std::vector<Measurement> &measurements, const std::filesystem::path &file)
{
    std::ofstream out(file, std::ios::app);
    for (const auto &measurement : measurements)
        out << events::toJsonObject(measurement) << '\n';
    out.flush();
    if (!out)
        return Error(ExitCode::InputOutput, "env.io", "what this run measured could not be kept for later plans: " + file.string() + " cannot be written", file.string());
    return Done{};
}

std::vector<Measurement> readMeasurements(const std::filesystem::path &file)
{
    std::vector<Measurement> all;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        Measurement measurement;
        if (!events::fromJsonObject(line, measurement) && measurement.measuredPeak > 0)
            all.push_back(std::move(measurement));
    }
    if (all.size() > kNewest)
        all.erase(all.begin(), all.end() - kNewest);
    return all;
}

events::PlanScore score(const std::vector<Measurement> &measurements)
{
    events::PlanScore score;
    std::vector<double> deviations;
    for (const auto &m : measurements) {
        if (m.predictedPeak <= 0)
            continue;
        const double deviation = static_cast<double>(m.predictedPeak) / static_cast<double>(m.measuredPeak) - 1;
        deviations.push_back(std::abs(deviation));
        score.underEstimates += deviation < -kUnder;
        score.worst = std::max(score.worst, std::abs(deviation));
    }
    score.runs = static_cast<std::int64_t>(deviations.size());
    score.median = median(std::move(deviations));
    return score;
}

config::TargetDevice calibrated(config::TargetDevice device, const std::vector<Measurement> &measurements)
{
    std::vector<double> ratios;
    for (const auto &m : measurements) {
        if (m.device == device.name && m.predictedSeconds > 0 && m.measuredSeconds > 0)
            ratios.push_back(m.predictedSeconds / m.measuredSeconds);
    }
    if (ratios.empty())
        return device;
    const double factor = median(std::move(ratios));
    for (double *rate : {&device.halfFlops, &device.singleFlops, &device.memoryRate, &device.linkRate})
        *rate *= factor;
    return device;
}

} // namespace stagewright::plan
