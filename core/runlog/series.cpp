#include "core/runlog/series.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace stagewright::runlog {

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Puts points into columns of equal width and keeps of each its lowest and highest.
class Columns
{
public:
    Columns(double from, double to, std::size_t maxPoints)
        : m_from(from), m_count(std::max<std::size_t>(1, maxPoints / 2)),
          m_scale(to > from ? static_cast<double>(m_count) / (to - from) : 0)
    {
    }

    void take(Point point)
    {
        const double place = std::clamp((point.x - m_from) * m_scale, 0.0, static_cast<double>(m_count - 1));
        const auto column = static_cast<std::size_t>(place);
        if (m_begun && column != m_column)
            finish();
        m_column = column;
        if (!m_begun) {
            m_begun = true;
            m_low = m_high = point;
            return;
        }
        if (std::isnan(point.y))
            return;                                        // a gap shows only where a whole column is one
        if (std::isnan(m_low.y) || point.y < m_low.y)
            m_low = point;
        if (std::isnan(m_high.y) || point.y > m_high.y)
            m_high = point;
    }

    std::vector<Point> finished()
    {
        if (m_begun)
            finish();
        return std::move(m_points);
    }

private:
    void finish()
    {
        const bool lowFirst = m_low.x <= m_high.x;
        m_points.push_back(lowFirst ? m_low : m_high);
        if (m_low.x != m_high.x || m_low.y < m_high.y)
            m_points.push_back(lowFirst ? m_high : m_low);
        m_begun = false;
    }

    double m_from;
    std::size_t m_count;
    double m_scale;
    bool m_begun = false;
    std::size_t m_column = 0;
    Point m_low, m_high;
    std::vector<Point> m_points;
};

} // namespace

Series::Series(std::size_t maxStretches, std::size_t recentPoints)
    : m_maxStretches(std::max<std::size_t>(2, maxStretches)), m_maxRecent(std::max<std::size_t>(1, recentPoints)), m_minimum(kNaN), m_maximum(kNaN)
{
}

void Series::Stretch::take(Point point)
{
    to = point.x;
    if (points++ == 0)
        from = point.x;
    if (std::isnan(point.y)) {
        ++notFinite;
        return;
    }
    if (std::isnan(low.y) || point.y < low.y)
        low = point;
    if (std::isnan(high.y) || point.y > high.y)
        high = point;
}

void Series::Stretch::take(const Stretch &next)
{
    to = next.to;
    points += next.points;
    notFinite += next.notFinite;
    if (std::isnan(low.y) || next.low.y < low.y)
        low = next.low;
    if (std::isnan(high.y) || next.high.y > high.y)
        high = next.high;
}

void Series::append(double x, double y)
{
    if (!std::isfinite(y))
        y = kNaN;
    if (m_count > 0 && !(x >= m_last.x))
        x = m_last.x;
    const Point point{x, y};
    if (m_count++ == 0)
        m_first = point;
    m_last = point;
    if (std::isnan(y))
        ++m_notFinite;
    else {
        m_minimum = std::isnan(m_minimum) ? y : std::min(m_minimum, y);
        m_maximum = std::isnan(m_maximum) ? y : std::max(m_maximum, y);
    }
    if (m_recent.size() < m_maxRecent) {
        m_recent.push_back(point);
        return;
    }
    retire(m_recent[m_recentStart]);
    m_recent[m_recentStart] = point;
    m_recentStart = (m_recentStart + 1) % m_maxRecent;
}

void Series::retire(Point point)
{
    if (m_stretches.empty() || m_stretches.back().points >= m_pointsPerStretch) {
        if (m_stretches.size() >= m_maxStretches)
            halve();
        if (m_stretches.empty() || m_stretches.back().points >= m_pointsPerStretch)
            m_stretches.push_back({point.x, point.x, {point.x, kNaN}, {point.x, kNaN}, 0, 0});
    }
    m_stretches.back().take(point);
}

void Series::halve()
{
    m_pointsPerStretch *= 2;
    std::size_t kept = 0;
    for (std::size_t at = 0; at < m_stretches.size(); at += 2) {
        Stretch merged = m_stretches[at];
        if (at + 1 < m_stretches.size())
            merged.take(m_stretches[at + 1]);
        m_stretches[kept++] = merged;
    }
    m_stretches.resize(kept);
}

std::vector<Point> Series::range(double from, double to, std::size_t maxPoints) const
{
    std::vector<Point> inside;
    std::optional<Point> left, right;
    const auto take = [&](Point point) {
        if (point.x < from)
            left = point;
        else if (point.x <= to)
            inside.push_back(point);
        else if (!right)
            right = point;
    };
    // The stretches are sorted: only those that reach into the range, and one before, are looked at.
    auto stretch = std::partition_point(m_stretches.begin(), m_stretches.end(), [&](const Stretch &s) { return s.to < from; });
    if (stretch != m_stretches.begin())
        --stretch;
    for (; stretch != m_stretches.end() && !right; ++stretch) {
        const bool lowFirst = stretch->low.x <= stretch->high.x;
        take(lowFirst ? stretch->low : stretch->high);
        if (stretch->low.x != stretch->high.x || stretch->low.y != stretch->high.y) {
            if (!std::isnan(stretch->low.y))
                take(lowFirst ? stretch->high : stretch->low);
        }
    }
    const auto recent = [&](std::size_t at) { return m_recent[(m_recentStart + at) % m_recent.size()]; };
    std::size_t begin = 0;
    for (std::size_t step = m_recent.size(); step > 0; step /= 2) {      // first recent point in the range
        while (begin + step <= m_recent.size() && recent(begin + step - 1).x < from)
            begin += step;
    }
    if (begin > 0)
        --begin;
    for (std::size_t at = begin; at < m_recent.size() && !right; ++at)
        take(recent(at));

    std::vector<Point> points;
    if (left)
        points.push_back(*left);
    if (inside.size() <= maxPoints) {
        points.insert(points.end(), inside.begin(), inside.end());
    } else {
        Columns columns(inside.front().x, inside.back().x, maxPoints);
        for (const Point &point : inside)
            columns.take(point);
        const std::vector<Point> fewer = columns.finished();
        points.insert(points.end(), fewer.begin(), fewer.end());
    }
    if (right)
        points.push_back(*right);
    return points;
}

std::vector<Point> Series::all(std::size_t maxPoints) const
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return range(-infinity, infinity, maxPoints);
}

std::size_t Series::memoryBytes() const
{
    return sizeof *this + m_stretches.capacity() * sizeof(Stretch) + m_recent.capacity() * sizeof(Point);
}

} // namespace stagewright::runlog
