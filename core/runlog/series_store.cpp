#include <array>
#include <cmath>
#include <limits>

#include "core/runlog/series.h"

namespace stagewright::runlog {

namespace {

template <std::size_t N>
std::array<std::string, N> prefixed(const char *prefix, const std::array<std::string_view, N> &names)
{
    std::array<std::string, N> all;
    for (std::size_t at = 0; at < N; ++at)
        all[at] = prefix + std::string(names[at]);
    return all;
}

// Straight line between the two known points around x; the nearest one beyond the ends.
double interpolated(const Series &series, double x)
{
    const std::vector<Point> around = series.range(x, x, 2);
    if (around.empty())
        return std::numeric_limits<double>::quiet_NaN();
    const Point a = around.front(), b = around.back();
    if (b.x <= a.x || x >= b.x)
        return b.y;
    return x <= a.x ? a.y : a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x);
}

constexpr const char *kStepByTime = "step_by_time";

} // namespace

void SeriesStore::put(std::string_view name, double x, double y)
{
    auto found = m_series.find(name);
    if (found == m_series.end())
        found = m_series.emplace(std::string(name), Series()).first;
    found->second.append(x, y);
}

void SeriesStore::append(const events::Record &record)
{
    static const auto kinds = prefixed("peak_bytes.", kMemoryKindNames);
    static const auto phases = prefixed("phase.", kPhaseNames);
    static const auto hosts = prefixed("host.", kHostKindNames);
    const double x = static_cast<double>(record.step);
    // What was zero all along gets no curve; what becomes zero stays one.
    const auto putSeen = [&](const std::string &name, double y) {
        if (y != 0 || m_series.find(name) != m_series.end())
            put(name, x, y);
    };
    if (record.step < 0)
        return;
    if (const auto *step = std::get_if<events::Step>(&record.payload)) {
        put("time", x, record.time);
        put(kStepByTime, record.time, x);
        put("loss", x, step->loss);
        put("lr", x, step->lr);
        put("grad_norm", x, step->gradNorm);
        put("seconds", x, step->seconds);
        put("data_wait_seconds", x, step->dataWaitSeconds);
        put("samples_per_second", x, step->seconds > 0 ? static_cast<double>(step->samples) / step->seconds : std::nan(""));
        put("peak_bytes", x, static_cast<double>(step->peakBytes));
        put("blocked_seconds", x, step->blockedSeconds);
        for (std::size_t at = 0; at < kinds.size(); ++at)
            putSeen(kinds[at], static_cast<double>(step->peakByKind[at]));
        for (std::size_t at = 0; at < phases.size(); ++at)
            putSeen(phases[at], step->phaseSeconds[at]);
    } else if (const auto *trace = std::get_if<events::MemoryTrace>(&record.payload)) {
        put("resident_bytes", x, static_cast<double>(trace->residentBytes));
        putSeen("reserved_bytes", static_cast<double>(trace->reservedBytes));
        for (std::size_t at = 0; at < hosts.size(); ++at)
            putSeen(hosts[at], static_cast<double>(trace->host[at]));
    } else if (const auto *buffer = std::get_if<events::Buffer>(&record.payload)) {
        put("buffer.high_water_bytes", x, static_cast<double>(buffer->highWaterBytes));
        put("buffer.capacity_bytes", x, static_cast<double>(buffer->capacityBytes));
        put("buffer.stall_seconds", x, buffer->stallSeconds);
    }
}

const Series *SeriesStore::find(std::string_view name) const
{
    const auto found = m_series.find(name);
    return found == m_series.end() ? nullptr : &found->second;
}

std::vector<std::string> SeriesStore::names() const
{
    std::vector<std::string> names;
    for (const auto &[name, series] : m_series) {
        if (name != kStepByTime)
            names.push_back(name);
    }
    return names;
}

double SeriesStore::timeOfStep(double step) const
{
    const Series *series = find("time");
    return series ? interpolated(*series, step) : std::numeric_limits<double>::quiet_NaN();
}

double SeriesStore::stepAtTime(double time) const
{
    const Series *series = find(kStepByTime);
    return series ? interpolated(*series, time) : std::numeric_limits<double>::quiet_NaN();
}

std::size_t SeriesStore::memoryBytes() const
{
    std::size_t bytes = 0;
    for (const auto &[name, series] : m_series)
        bytes += series.memoryBytes();
    return bytes;
}

} // namespace stagewright::runlog
