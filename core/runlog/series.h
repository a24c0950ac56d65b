// Curves of a run in bounded memory: however many points come, the highest and the lowest of every stretch survive.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/events/record.h"

namespace stagewright::runlog {

struct Point {
    double x = 0, y = 0;
    bool operator==(const Point &) const = default;
};

// One curve with x never decreasing (a point further left is put at the last x). The newest points are kept exactly; older ones as the lowest and highest point of each
// stretch, stretches doubling in length whenever the memory is full. NaN breaks the curve: it is counted and its place is kept. One thread.
class Series
{
public:
    // About 80 bytes a stretch and 16 a recent point: with the defaults at most 3 MB a series.
    explicit Series(std::size_t maxStretches = 1 << 15, std::size_t recentPoints = 1 << 14);

    void append(double x, double y);
    std::int64_t count() const { return m_count; }           // points ever appended, NaN included
    std::int64_t notFinite() const { return m_notFinite; }
    bool isEmpty() const { return m_count == 0; }
    Point first() const { return m_first; }
    Point last() const { return m_last; }
    double minimum() const { return m_minimum; }             // over all finite points; NaN where there are none
    double maximum() const { return m_maximum; }

    // The points with x in [from, to] in order, plus one neighbour on either side, no more than about maxPoints: each column of the picture contributes its lowest and highest point.
    // A stretch of NaN contributes one NaN. Cost: proportional to what is stored in the range.
    std::vector<Point> range(double from, double to, std::size_t maxPoints) const;
    std::vector<Point> all(std::size_t maxPoints) const;
    std::size_t memoryBytes() const;

private:
    struct Stretch {
        double from = 0, to = 0;                              // x of first and last point
        Point low, high;                                      // NaN where none is finite
        std::int64_t points = 0;
        std::int64_t notFinite = 0;
        void take(Point point);
        void take(const Stretch &next);
    };
    void retire(Point point);                                // from the recent points into a stretch
    void halve();

    std::size_t m_maxStretches, m_maxRecent;
    std::int64_t m_pointsPerStretch = 1;
    std::vector<Stretch> m_stretches;
    std::vector<Point> m_recent;                              // ring
    std::size_t m_recentStart = 0;
    std::int64_t m_count = 0, m_notFinite = 0;
    Point m_first, m_last;
    double m_minimum, m_maximum;
};

// All curves of a run, by name, x = update step: "loss", "lr", "grad_norm", "seconds", "data_wait_seconds", "samples_per_second",
// "peak_bytes", "peak_bytes.parameter" … (every kind), "phase.forward" … (every phase), "blocked_seconds", "buffer.high_water_bytes",
// "resident_bytes", "reserved_bytes", "host.pinned_activations" …; "time" is the wall time of each step, by which a time axis is made. One thread.
class SeriesStore
{
public:
    void append(const events::Record &record);
    const Series *find(std::string_view name) const;
    std::vector<std::string> names() const;
    // Wall time at which a step ended, between known ones by straight line; NaN where none is known.
    double timeOfStep(double step) const;
    double stepAtTime(double time) const;
    std::size_t memoryBytes() const;
    void clear() { m_series.clear(); }

private:
    void put(std::string_view name, double x, double y);
    std::map<std::string, Series, std::less<>> m_series;
};

} // namespace stagewright::runlog
