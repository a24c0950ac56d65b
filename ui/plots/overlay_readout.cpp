// What the plot of several runs says in words under the pointer.
#include "ui/plots/overlay_plot.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/units.h"
#include "ui/look/words.h"
#include "ui/plots/custom_plot.h"
#include "ui/plots/plot_overlay.h"

namespace stagewright::plots {

using namespace Qt::StringLiterals;

static constexpr double kReach = 0.01;                 // of the range that is shown

QString OverlayPlot::valuesOf(std::size_t run, double x) const
{
    // Of a long run not every old step is kept: the nearest one counts, where the eye cannot tell them apart.
    const double reach = m_contents.columns.isEmpty() ? std::max(0.5, (m_to - m_from) * kReach) : 0;
    const auto value = [&](OverlayLane lane) -> std::optional<double> {
        const auto points = m_contents.points(run, lane, false, x, x, 2);
        const auto nearest = std::min_element(points.begin(), points.end(), [&](const auto &a, const auto &b) { return std::fabs(a.x - x) < std::fabs(b.x - x); });
        return nearest != points.end() && std::fabs(nearest->x - x) <= reach && std::isfinite(nearest->y) ? std::optional(nearest->y) : std::nullopt;
    };
    QStringList words;
    if (const auto memory = value(OverlayLane::Memory))
        words << look::bytes(*memory * kGiB);
    if (const auto seconds = value(OverlayLane::StepTime))
        words << tr("%1 a step").arg(look::duration(*seconds));
    if (const auto loss = value(OverlayLane::Loss))
        words << tr("loss %1").arg(look::figure(*loss));
    return words.join(u" · "_s);
}

QStringList OverlayPlot::readoutLines(double x, QString *title) const
{
    const double at = std::round(x);
    const bool isColumn = !m_contents.columns.isEmpty();
    *title = !isColumn ? tr("step %1").arg(look::count(std::int64_t(at))) : at >= 0 && at < double(m_contents.columns.size()) ? m_contents.columns[qsizetype(at)] : QString();
    QStringList lines;
    for (qsizetype run = 0; run < m_contents.runs.size(); ++run)
        if (const QString values = valuesOf(std::size_t(run), at); !values.isEmpty())
            lines << m_contents.runs[run] + u": "_s + values;
    return lines;
}

QString OverlayPlot::readoutAt(double x) const
{
    QString title;
    const QStringList lines = readoutLines(x, &title);
    return title + u'\n' + lines.join(u'\n');
}

QString OverlayPlot::shownReadout() const { return m_overlay->text(); }

void OverlayPlot::hover(const QPoint &at)
{
    const QRect top = m_lanes.at(OverlayLane::Memory).rect->rect(), bottom = m_lanes.at(OverlayLane::Loss).rect->rect();
    QString title;
    const QStringList lines = m_contents.runs.isEmpty() ? QStringList() : readoutLines(xOf(at.x()), &title);
    if (at.x() < top.left() || at.x() > top.right() || lines.isEmpty())
        return m_overlay->clear();
    m_overlay->show(at.x(), QRect(top.left(), top.top(), top.width(), bottom.bottom() - top.top()), title, lines);
}

} // namespace stagewright::plots
