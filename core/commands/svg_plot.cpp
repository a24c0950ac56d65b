#include "core/commands/svg_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

namespace stagewright::commands {

namespace {

constexpr double kWidth = 900, kHeight = 240, kLeft = 70, kRight = 10, kTop = 10, kBottom = 34;
constexpr std::size_t kMostPoints = 2000;

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    void take(double value)
    {
        if (std::isfinite(value)) {
            low = std::min(low, value);
            high = std::max(high, value);
        }
    }
    bool empty() const { return low > high; }
};

// Both extremes of every run of points survive, in their order, so that a peak is never thinned away.
SvgSeries thinned(const SvgSeries &series)
{
    const std::size_t count = series.x.size();
    if (count <= kMostPoints)
        return series;
    SvgSeries out{series.title, series.colour, {}, {}};
    const std::size_t bin = (count + kMostPoints / 2 - 1) / (kMostPoints / 2);
    for (std::size_t begin = 0; begin < count; begin += bin) {
        const std::size_t end = std::min(begin + bin, count);
        std::size_t low = begin, high = begin;
        for (std::size_t i = begin; i < end; ++i) {
            if (series.y[i] < series.y[low])
                low = i;
            if (series.y[i] > series.y[high])
                high = i;
        }
        for (const std::size_t i : {std::min(low, high), std::max(low, high)}) {
            out.x.push_back(series.x[i]);
            out.y.push_back(series.y[i]);
        }
    }
    return out;
}

// Running sums of the stacked series; areas are thinned by position, all alike, so that they stay aligned.
std::vector<SvgSeries> accumulated(const std::vector<SvgSeries> &stacked)
{
    std::vector<SvgSeries> sums;
    if (stacked.empty())
        return sums;
    const std::size_t count = stacked[0].x.size();
    const std::size_t stride = std::max<std::size_t>(1, (count + kMostPoints - 1) / kMostPoints);
    // Of every run of `stride` points the one with the largest total is kept.
    std::vector<std::size_t> kept;
    for (std::size_t begin = 0; begin < count; begin += stride) {
        std::size_t best = begin;
        double bestTotal = -1;
        for (std::size_t i = begin; i < std::min(begin + stride, count); ++i) {
            double total = 0;
            for (const SvgSeries &series : stacked)
                total += series.y[i];
            if (total > bestTotal) {
                bestTotal = total;
                best = i;
            }
        }
        kept.push_back(best);
    }
    std::vector<double> base(kept.size(), 0.0);
    for (const SvgSeries &series : stacked) {
        SvgSeries sum{series.title, series.colour, {}, {}};
        for (std::size_t k = 0; k < kept.size(); ++k) {
            base[k] += series.y[kept[k]];
            sum.x.push_back(series.x[kept[k]]);
            sum.y.push_back(base[k]);
        }
        sums.push_back(std::move(sum));
    }
    return sums;
}

double niceStep(double span)
{
    const double raw = span / 4;
    const double power = std::pow(10, std::floor(std::log10(raw)));
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
        if (raw <= factor * power)
            return factor * power;
    }
    return 10 * power;
}

std::string number(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", value);
    return text.data();
}

class Canvas
{
public:
    Canvas(Range x, Range y) : m_x(x), m_y(y)
    {
        if (m_x.high <= m_x.low)
            m_x.high = m_x.low + 1;
        if (m_y.high <= m_y.low)
            m_y.high = m_y.low + (m_y.low == 0 ? 1 : std::fabs(m_y.low) * 0.1);
    }
    double px(double x) const { return kLeft + (x - m_x.low) / (m_x.high - m_x.low) * (kWidth - kLeft - kRight); }
    double py(double y) const { return kHeight - kBottom - (y - m_y.low) / (m_y.high - m_y.low) * (kHeight - kTop - kBottom); }

    std::string axes(const SvgPlot &plot) const
    {
        std::string out;
        const double step = niceStep(m_y.high - m_y.low);
        for (double y = std::ceil(m_y.low / step) * step; y <= m_y.high + step * 1e-9; y += step) {
            const std::string at = number(py(y));
            out += "<line class=grid x1=" + number(kLeft) + " x2=" + number(kWidth - kRight) + " y1=" + at + " y2=" + at + " />";
            out += "<text x=" + number(kLeft - 6) + " y=" + number(py(y) + 4) + " text-anchor=end>" + htmlEscaped(plot.yText(y)) + "</text>";
        }
        const double xStep = std::max(1.0, niceStep(m_x.high - m_x.low));
        for (double x = std::ceil(m_x.low / xStep) * xStep; x <= m_x.high; x += xStep)
            out += "<text x=" + number(px(x)) + " y=" + number(kHeight - kBottom + 16) + " text-anchor=middle>" + number(x).substr(0, number(x).find('.')) + "</text>";
        out += "<text x=" + number(kWidth - kRight) + " y=" + number(kHeight - 2) + " text-anchor=end>" + htmlEscaped(plot.xTitle) + "</text>";
        return out;
    }
    std::string points(const SvgSeries &series, bool backwards = false) const
    {
        std::string out;
        for (std::size_t k = 0; k < series.x.size(); ++k) {
            const std::size_t i = backwards ? series.x.size() - 1 - k : k;
            if (std::isfinite(series.y[i]))
                out += number(px(series.x[i])) + "," + number(py(series.y[i])) + " ";
        }
        return out;
    }

private:
    Range m_x, m_y;
};

std::string legend(const SvgPlot &plot)
{
    std::string out = "<div class=legend>";
    for (const auto *group : {&plot.stacked, &plot.lines}) {
        for (const SvgSeries &series : *group)
            out += "<span><i style=\"background:" + series.colour + "\"></i>" + htmlEscaped(series.title) + "</span>";
    }
    return out + "</div>";
}

std::string alternative(const SvgPlot &plot)
{
    std::string text = plot.title + ".";
    for (const auto *group : {&plot.stacked, &plot.lines}) {
        for (const SvgSeries &series : *group) {
            Range range;
            for (const double y : series.y)
                range.take(y);
            if (!range.empty())
                text += " " + series.title + ": from " + plot.yText(range.low) + " to " + plot.yText(range.high) + ", last "
                    + plot.yText(series.y.back()) + ".";
        }
    }
    return text;
}

} // namespace

std::string htmlEscaped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += c;
        }
    }
    return out;
}

std::string toHtml(const SvgPlot &plot)
{
    const std::vector<SvgSeries> sums = accumulated(plot.stacked);
    Range x, y;
    if (plot.yFromZero || !sums.empty())
        y.take(0);
    for (const auto *group : {&sums, &plot.lines}) {
        for (const SvgSeries &series : *group) {
            for (const double value : series.x)
                x.take(value);
            for (const double value : series.y)
                y.take(value);
        }
    }
    std::string out = "<figure><figcaption>" + htmlEscaped(plot.title) + "</figcaption>";
    if (x.empty() || y.empty())
        return out + "<p class=empty>Nothing was recorded.</p></figure>";
    const Canvas canvas(x, y);
    out += legend(plot) + "<svg viewBox=\"0 0 " + number(kWidth) + " " + number(kHeight) + "\" role=img aria-label=\"" + htmlEscaped(alternative(plot)) + "\">"
        + canvas.axes(plot);
    const SvgSeries *below = nullptr;
    for (const SvgSeries &sum : sums) {
        SvgSeries floor{"", "", sum.x, std::vector<double>(sum.x.size(), 0.0)};
        out += "<polygon fill=\"" + sum.colour + "\" points=\"" + canvas.points(sum) + canvas.points(below ? *below : floor, true) + "\" />";
        below = &sum;
    }
    for (const SvgSeries &series : plot.lines)
        out += "<polyline fill=none stroke=\"" + series.colour + "\" stroke-width=1.5 points=\"" + canvas.points(thinned(series)) + "\" />";
    return out + "</svg></figure>";
}

} // namespace stagewright::commands
