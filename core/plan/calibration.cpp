#include "core/plan/calibration.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>

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
    visit("limit_bytes", m.limitBytes);
    visit("out_of_memory", m.outOfMemory);
}

namespace {

constexpr std::size_t kNewest = 2000;
constexpr double kUnder = 0.01;                // measured above predicted by more than this is an under-estimate
constexpr std::int64_t kMostFileBytes = 4 << 20;       // about ten times what the newest take
constexpr std::size_t kFewestForBand = 5, kMostForBand = 100;
constexpr double kNarrowestBand = 0.005;

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

namespace {

std::string linesOf(const std::vector<Measurement> &measurements)
{
    std::string lines;
    for (const auto &measurement : measurements)
        lines += events::toJsonObject(measurement) + "\n";
    return lines;
}

} // namespace

Status addMeasurements(const std::vector<Measurement> &measurements, const std::filesystem::path &file)
{
    const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    const int failed = fd < 0 ? errno : writeAll(fd, linesOf(measurements));
    const auto bytes = fd < 0 ? 0 : ::lseek(fd, 0, SEEK_END);
    if (fd >= 0)
        ::close(fd);
    if (failed != 0)
        return ioError("keep what this run measured, for later plans, in", file, failed);
    return bytes <= kMostFileBytes ? Status(Done{}) : replaceFile(file, linesOf(readMeasurements(file)));
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

const std::vector<Measurement> &MeasurementFile::now()
{
    std::error_code none;
    const auto changed = std::filesystem::last_write_time(m_file, none);
    const auto size = none ? 0 : std::filesystem::file_size(m_file, none);
    if (none) {
        m_all.clear();
        m_size = 0;
        m_changed = {};
    } else if (changed != m_changed || size != m_size) {
        m_all = readMeasurements(m_file);
        m_changed = changed;
        m_size = size;
        ++m_timesRead;
    }
    return m_all;
}

namespace {

double deviationOf(const Measurement &m)
{
    return static_cast<double>(m.predictedPeak) / static_cast<double>(m.measuredPeak) - 1;
}

} // namespace

events::PlanScore score(const std::vector<Measurement> &measurements)
{
    events::PlanScore score;
    std::vector<double> deviations;
    for (const auto &m : measurements) {
        if (m.predictedPeak <= 0)
            continue;
        ++score.runs;
        if (m.outOfMemory) {
            score.underEstimates += m.predictedPeak <= m.limitBytes;
            continue;
        }
        const double deviation = deviationOf(m);
        deviations.push_back(std::abs(deviation));
        score.underEstimates += deviation < -kUnder;
        score.falseAlarms += m.limitBytes > 0 && m.predictedPeak > m.limitBytes;
        score.worst = std::max(score.worst, std::abs(deviation));
    }
    score.median = median(std::move(deviations));
    return score;
}

std::optional<ErrorBand> measuredBand(const std::vector<Measurement> &measurements, const std::string &device, const std::string &dtype)
{
    std::size_t count = 0;
    double widest = kNarrowestBand;
    for (auto m = measurements.rbegin(); m != measurements.rend() && count < kMostForBand; ++m) {
        if (m->device != device || m->dtype != dtype || m->outOfMemory || m->predictedPeak <= 0)
            continue;
        ++count;
        widest = std::max(widest, std::abs(deviationOf(*m)));
    }
    if (count < kFewestForBand)
        return std::nullopt;
    return ErrorBand{widest, fmt::format("the largest deviation of the newest {} buckets that were measured on this device in {}", count, dtype)};
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
