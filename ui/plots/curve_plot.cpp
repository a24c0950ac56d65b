#include "ui/plots/curve_plot.h"

#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/plots/byte_ticker.h"
#include "ui/plots/picture_export.h"
#include "ui/plots/plot_look.h"

namespace stagewright::plots {

static constexpr std::size_t kManyDots = 60;           // are drawn small

CurvePlot::CurvePlot(Values values, QWidget *parent) : QWidget(parent), m_plot(new QCustomPlot(this)), m_values(values)
{
    embed(m_plot, this);
    (values == Values::BytesUp ? m_plot->yAxis : m_plot->xAxis)->setTicker(QSharedPointer<ByteTicker>::create());
    m_limitLine = new QCPItemLine(m_plot);
    m_limitText = new QCPItemText(m_plot);
    for (auto *position : {m_limitLine->start, m_limitLine->end})
        position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    m_limitText->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
    m_limitText->setPadding(QMargins(4, 0, 0, 2));
    connect(m_plot, &QCustomPlot::beforeReplot, this, &CurvePlot::declutter);
    connect(m_plot, &QCustomPlot::afterReplot, this, &CurvePlot::painted);
    connect(&look::theme(), &look::Theme::changed, this, &CurvePlot::refresh);
    refresh();
}

QWidget *CurvePlot::canvas() const { return m_plot; }

void CurvePlot::setCurves(std::vector<Curve> curves)
{
    m_curves = std::move(curves);
    refresh();
}

void CurvePlot::setColumns(const QStringList &labels)
{
    m_columns = labels;
    relabel();
}

void CurvePlot::setTitles(const QString &x, const QString &y)
{
    m_xTitle = x;
    m_yTitle = y;
    refresh();
}

void CurvePlot::setLimit(double y, const QString &words)
{
    m_limit = y;
    m_limitWords = words;
    refresh();
}

void CurvePlot::drawCurve(const Curve &curve, const QColor &color)
{
    const auto &t = look::tokens();
    QCPGraph *graph = m_plot->addGraph();
    graph->setSelectable(QCP::stNone);
    graph->setAdaptiveSampling(true);
    graph->setData(QVector<double>(curve.x.begin(), curve.x.end()), QVector<double>(curve.y.begin(), curve.y.end()), true);
    if (curve.dotsOnly) {
        graph->setAdaptiveSampling(false);
        graph->setLineStyle(QCPGraph::lsNone);
        graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(color, 2), QBrush(t.ground), curve.x.size() > kManyDots ? 4 : 9));
        return;
    }
    graph->setPen(curve.quiet ? QPen(t.border, 1) : QPen(color, curve.strong ? 2.6 : 1.6));
    if (curve.x.size() == 1)
        graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, 6));
    if (curve.quiet || curve.label.isEmpty() || curve.x.empty())
        return;
    auto *text = new QCPItemText(m_plot);
    text->position->setCoords(curve.x.back(), curve.y.back());
    text->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    text->setPadding(QMargins(5, 0, 0, 0));
    text->setClipToAxisRect(false);
    text->setText(curve.label);
    text->setColor(color);
    text->setFont(look::Theme::uiFont(11, curve.strong ? QFont::DemiBold : QFont::Normal));
    m_labels.push_back(text);
}

void CurvePlot::refresh()
{
    const auto &t = look::tokens();
    dress(m_plot);
    m_plot->xAxis->grid()->setVisible(false);
    m_plot->yAxis->setBasePen(Qt::NoPen);
    m_plot->clearGraphs();
    for (auto *item : m_labels)
        m_plot->removeItem(item);
    m_labels.clear();
    const auto colors = curveColors();
    double left = 0, right = m_columns.isEmpty() ? 0 : double(m_columns.size() - 1), lowest = std::numeric_limits<double>::infinity(), highest = 0;
    bool any = !m_columns.isEmpty();
    int widest = 0;
    const QFontMetrics metrics(look::Theme::uiFont(11, QFont::DemiBold));
    for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t i = 0; i < m_curves.size(); ++i) {
            const Curve &curve = m_curves[i];
            if ((curve.strong || curve.dotsOnly) != (pass == 1))
                continue;
            drawCurve(curve, colors[(curve.color >= 0 ? curve.color : int(i)) % colors.size()]);
            for (std::size_t p = 0; p < curve.x.size(); ++p) {
                if (!std::isfinite(curve.y[p]))
                    continue;
                left = any ? std::min(left, curve.x[p]) : curve.x[p];
                right = any ? std::max(right, curve.x[p]) : curve.x[p];
                any = true;
                highest = std::max(highest, curve.y[p]);
                lowest = std::min(lowest, curve.y[p]);
            }
            if (!curve.quiet && !curve.dotsOnly)
                widest = std::max(widest, metrics.horizontalAdvance(curve.label));
        }
    }
    const double span = std::max(right - left, m_columns.isEmpty() ? 1e-9 : 1.0);
    m_plot->xAxis->setRange(left - span * 0.03, right + span * 0.03);
    const bool drawn = isLimitDrawn(m_limit, highest);
    const double top = std::max({highest, drawn ? m_limit : 0, 1e-6});
    // From zero, but for curves that lie close together far above it.
    const bool isFlat = !drawn && lowest > 0.5 * highest && lowest < highest;
    const double bottom = isFlat ? lowest - (highest - lowest) * 0.3 : 0;
    m_plot->yAxis->setRange(bottom, top + (top - bottom) * (drawn || m_limit <= 0 ? 0.1 : 0.2));
    m_plot->axisRect()->setMinimumMargins(QMargins(8, 8, std::min(widest + 12, 150), 8));
    setByteUnit(m_values == Values::BytesUp ? top : right);
    m_limitLine->setVisible(drawn);
    m_limitText->setVisible(m_limit > 0);
    m_limitLine->setPen(QPen(t.error, 1.6));
    m_limitLine->start->setCoords(0, m_limit);
    m_limitLine->end->setCoords(1, m_limit);
    m_limitText->position->setCoords(0, drawn ? m_limit : m_plot->yAxis->range().upper);
    m_limitText->setPositionAlignment(Qt::AlignLeft | (drawn ? Qt::AlignBottom : Qt::AlignTop));
    m_limitText->setText(drawn ? m_limitWords : m_limitWords + QStringLiteral(" ↑"));
    m_limitText->setColor(t.error);
    m_limitText->setFont(look::Theme::uiFont(11));
    relabel();
}

void CurvePlot::setByteUnit(double highest)
{
    const bool isUp = m_values == Values::BytesUp;
    const auto ticker = qSharedPointerCast<ByteTicker>((isUp ? m_plot->yAxis : m_plot->xAxis)->ticker());
    ticker->setHighest(highest);
    const auto titled = [&](const QString &title, bool hasUnit) {
        const QString unit = hasUnit ? QLatin1String(ticker->unit()) : QString();
        return title.isEmpty() ? unit : hasUnit ? title + QLatin1String(", ") + unit : title;
    };
    m_plot->xAxis->setLabel(titled(m_xTitle, !isUp));
    m_plot->yAxis->setLabel(titled(m_yTitle, isUp));
}

void CurvePlot::relabel()
{
    if (m_columns.isEmpty()) {
        m_plot->xAxis->ticker()->setTickCount(std::clamp(m_plot->width() / 90, 2, 6));
    } else {
        m_plot->xAxis->setTicker(thinned(m_columns, std::max(80, m_plot->width() - 120), false));
    }
    replotSoon(m_plot);
}

// Labels that would lie over others are left out; the strong curves' come last, and win.
void CurvePlot::declutter()
{
    constexpr double kLeast = 13;
    std::vector<double> taken;
    for (auto label = m_labels.rbegin(); label != m_labels.rend(); ++label) {
        const double y = m_plot->yAxis->coordToPixel((*label)->position->value());
        const bool free = std::none_of(taken.begin(), taken.end(), [&](double other) { return std::fabs(other - y) < kLeast; });
        (*label)->setVisible(free);
        if (free)
            taken.push_back(y);
    }
}

bool CurvePlot::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_plot && event->type() == QEvent::Show)
        replotSoon(m_plot);
    if (watched == m_plot && event->type() == QEvent::Wheel) {
        event->ignore();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void CurvePlot::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    relabel();
}

QString CurvePlot::exportPicture(const QString &file) { return plots::exportPicture(m_plot, file, accessibleName()); }

} // namespace stagewright::plots
