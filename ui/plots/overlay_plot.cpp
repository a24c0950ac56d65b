#include "ui/plots/overlay_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/look/theme.h"
#include "ui/plots/byte_ticker.h"
#include "ui/plots/picture_export.h"
#include "ui/plots/plot_look.h"
#include "ui/plots/plot_overlay.h"

namespace stagewright::plots {

namespace {

constexpr int kOverlayTitle = 18, kFaintAlpha = 70;
constexpr double kMargin = 0.02;                       // of the range, beside the curves

} // namespace

QColor runColor(int run)
{
    const auto colors = curveColors();
    return colors[run % colors.size()];
}

Qt::PenStyle runLine(int run)
{
    constexpr Qt::PenStyle kStyles[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};
    return kStyles[std::size_t(run) % std::size(kStyles)];
}

OverlayPlot::OverlayPlot(QWidget *parent) : QWidget(parent), m_plot(new QCustomPlot(this)), m_overlay(new PlotOverlay(this))
{
    embed(m_plot, this);
    setFocusPolicy(Qt::StrongFocus);
    m_plot->setMouseTracking(true);
    m_plot->plotLayout()->clear();
    m_plot->plotLayout()->setRowSpacing(4);
    m_margins = new QCPMarginGroup(m_plot);
    createLanes();
    connect(m_plot, &QCustomPlot::afterReplot, this, &OverlayPlot::painted);
    connect(&look::theme(), &look::Theme::changed, this, [this] { recolor(); refill(); });
    m_overlay->raise();
    recolor();
    retitle();
}

void OverlayPlot::createLanes()
{
    int row = 0;
    for (const OverlayLane lane : kOverlayLanes) {
        Parts parts;
        parts.rect = new QCPAxisRect(m_plot, false);
        m_plot->plotLayout()->addElement(row++, 0, parts.rect);
        auto *left = parts.rect->addAxis(QCPAxis::atLeft);
        auto *bottom = parts.rect->addAxis(QCPAxis::atBottom);
        parts.rect->setMarginGroup(QCP::msLeft | QCP::msRight, m_margins);
        parts.rect->setMinimumMargins(QMargins(46, kOverlayTitle, 12, 0));
        if (lane == OverlayLane::Memory)
            left->setTicker(QSharedPointer<ByteTicker>::create());
        left->ticker()->setTickCount(4);
        bottom->setTickLabels(lane == OverlayLane::Loss);
        parts.title = new QCPItemText(m_plot);
        parts.title->setClipToAxisRect(false);
        parts.title->position->setAxisRect(parts.rect);
        parts.title->position->setType(QCPItemPosition::ptAxisRectRatio);
        parts.title->position->setCoords(0, 0);
        parts.title->setPositionAlignment(Qt::AlignLeft | Qt::AlignBottom);
        parts.title->setPadding(QMargins(0, 0, 0, 2));
        m_lanes[lane] = parts;
    }
}

QWidget *OverlayPlot::canvas() const { return m_plot; }

QCPAxis *OverlayPlot::axis() const { return m_lanes.at(OverlayLane::Loss).rect->axis(QCPAxis::atBottom); }

double OverlayPlot::xOf(int pixel) const { return axis()->pixelToCoord(pixel); }

void OverlayPlot::setContents(OverlayContents contents, bool keepRange)
{
    const bool isKept = keepRange && !m_showsAll && contents.columns == m_contents.columns;
    m_contents = std::move(contents);
    createGraphs();
    isKept ? setRange(m_from, m_to) : showAll();
}

// Behind all others the losses as they are; of the rest the first run's on top.
void OverlayPlot::createGraphs()
{
    m_plot->clearGraphs();
    const auto add = [this](OverlayLane lane) {
        auto *rect = m_lanes[lane].rect;
        QCPGraph *graph = m_plot->addGraph(rect->axis(QCPAxis::atBottom), rect->axis(QCPAxis::atLeft));
        graph->setSelectable(QCP::stNone);
        return graph;
    };
    for (auto &[lane, parts] : m_lanes) {
        parts.graphs.assign(std::size_t(m_contents.runs.size()), nullptr);
        parts.faint.clear();
        if (lane == OverlayLane::Loss && m_contents.columns.isEmpty())
            for (qsizetype run = 0; run < m_contents.runs.size(); ++run)
                parts.faint.push_back(add(lane));
        for (std::size_t run = parts.graphs.size(); run-- > 0;)
            parts.graphs[run] = add(lane);
    }
    recolor();
}

void OverlayPlot::recolor()
{
    const auto &t = look::tokens();
    dress(m_plot);
    for (auto &[lane, parts] : m_lanes) {
        parts.title->setColor(t.muted);
        parts.title->setFont(look::Theme::uiFont(11));
        parts.rect->axis(QCPAxis::atBottom)->grid()->setVisible(false);
        for (std::size_t run = 0; run < parts.graphs.size(); ++run) {
            const QColor color = runColor(int(run));
            parts.graphs[run]->setPen(QPen(color, 1.8, runLine(int(run))));
            parts.graphs[run]->setScatterStyle(m_contents.columns.isEmpty() ? QCPScatterStyle() : QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(color, 1.8), QBrush(t.ground), 7));
            if (run >= parts.faint.size())
                continue;
            QColor faint = color;
            faint.setAlpha(kFaintAlpha);
            parts.faint[run]->setPen(QPen(faint, 1));
        }
    }
    replotSoon(m_plot);
}

void OverlayPlot::retitle()
{
    const auto ticker = qSharedPointerCast<ByteTicker>(m_lanes[OverlayLane::Memory].rect->axis(QCPAxis::atLeft)->ticker());
    m_lanes[OverlayLane::Memory].title->setText(tr("peak device memory, %1").arg(QLatin1String(ticker->unit())));
    m_lanes[OverlayLane::StepTime].title->setText(tr("seconds a step"));
    m_lanes[OverlayLane::Loss].title->setText(m_contents.columns.isEmpty() ? tr("loss, smoothed over about 20 steps") : tr("mean loss"));
    axis()->setLabel(m_contents.columns.isEmpty() ? tr("step") : tr("bucket"));
}

void OverlayPlot::setRange(double from, double to)
{
    const double whole = std::max(m_contents.last - m_contents.first, 1.0);
    const double span = std::clamp(to - from, std::min(1.0, whole), whole * (1 + 2 * kMargin));
    m_from = std::clamp(from, m_contents.first - whole * kMargin, std::max(m_contents.first - whole * kMargin, m_contents.last + whole * kMargin - span));
    m_to = m_from + span;
    for (auto &[lane, parts] : m_lanes)
        parts.rect->axis(QCPAxis::atBottom)->setRange(m_from, m_to);
    m_showsAll = m_from <= m_contents.first && m_to >= m_contents.last;
    refill();
}

void OverlayPlot::showAll()
{
    const double whole = std::max(m_contents.last - m_contents.first, 1.0);
    setRange(m_contents.first - whole * kMargin, m_contents.first + whole * (1 + kMargin));
}

// Asks for what the range shows, at the resolution of the screen.
void OverlayPlot::refill()
{
    const std::size_t most = std::size_t(std::max(200, 2 * m_plot->width()));
    const auto fill = [&](QCPGraph *graph, std::size_t run, OverlayLane lane, bool faint) {
        QVector<double> x, y;
        for (const auto &point : m_contents.points(run, lane, faint, m_from, m_to, most)) {
            x << point.x;
            y << point.y;
        }
        graph->setData(x, y, true);
    };
    for (auto &[lane, parts] : m_lanes) {
        for (std::size_t run = 0; run < parts.graphs.size(); ++run)
            fill(parts.graphs[run], run, lane, false);
        for (std::size_t run = 0; run < parts.faint.size(); ++run)
            fill(parts.faint[run], run, lane, true);
        fitLane(lane);
        auto *bottom = parts.rect->axis(QCPAxis::atBottom);
        bottom->setTicker(m_contents.columns.isEmpty() ? QSharedPointer<QCPAxisTicker>::create()
                                                       : QSharedPointer<QCPAxisTicker>(thinned(m_contents.columns, std::max(80, m_plot->width() - 90), false)));
        bottom->setTickLabels(lane == OverlayLane::Loss);
    }
    retitle();
    replotSoon(m_plot);
}

// From zero, but for curves far above it.
void OverlayPlot::fitLane(OverlayLane lane)
{
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto *graphs : {&m_lanes[lane].graphs, &m_lanes[lane].faint}) {
        for (const QCPGraph *graph : *graphs) {
            for (const auto &point : *graph->data()) {
                if (!std::isfinite(point.value) || point.key < m_from || point.key > m_to)
                    continue;
                low = std::min(low, point.value);
                high = std::max(high, point.value);
            }
        }
    }
    if (low > high)
        low = high = 0;
    auto *left = m_lanes[lane].rect->axis(QCPAxis::atLeft);
    const double room = high > low ? (high - low) * 0.08 : std::max(1e-6, std::fabs(high) * 0.1);
    left->setRange(low > 0 && low < 0.5 * high ? 0 : low - room, high + room);
    if (lane == OverlayLane::Memory)
        qSharedPointerCast<ByteTicker>(left->ticker())->setHighest(high);
}

int OverlayPlot::drawnPoints(int run, OverlayLane lane) const
{
    const auto &graphs = m_lanes.at(lane).graphs;
    return run >= 0 && run < int(graphs.size()) ? graphs[std::size_t(run)]->dataCount() : 0;
}

bool OverlayPlot::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_plot)
        return QWidget::eventFilter(watched, event);
    auto *mouse = static_cast<QMouseEvent *>(event);
    switch (event->type()) {
    case QEvent::Show:
        refill();
        return false;
    case QEvent::Wheel: {
        const auto *wheel = static_cast<QWheelEvent *>(event);
        const double at = xOf(int(wheel->position().x())), factor = std::pow(0.8, wheel->angleDelta().y() / 120.0);
        setRange(at - (at - m_from) * factor, at + (m_to - at) * factor);
        return true;
    }
    case QEvent::MouseButtonPress:
        setFocus(Qt::MouseFocusReason);
        m_dragging = mouse->button() == Qt::LeftButton;
        m_dragX = mouse->pos().x();
        m_dragFrom = m_from;
        m_dragTo = m_to;
        return true;
    case QEvent::MouseButtonRelease:
        m_dragging = false;
        m_plot->unsetCursor();
        return true;
    case QEvent::MouseButtonDblClick: showAll(); return true;
    case QEvent::MouseMove:
        if (m_dragging) {
            const double shift = (m_dragX - mouse->pos().x()) * (m_dragTo - m_dragFrom) / std::max(1, axis()->axisRect()->width());
            m_plot->setCursor(Qt::ClosedHandCursor);
            setRange(m_dragFrom + shift, m_dragTo + shift);
        }
        hover(mouse->pos());
        return true;
    case QEvent::Leave:
        m_overlay->clear();
        return false;
    default: return QWidget::eventFilter(watched, event);
    }
}

void OverlayPlot::keyPressEvent(QKeyEvent *event)
{
    const double span = m_to - m_from, middle = (m_from + m_to) / 2;
    switch (event->key()) {
    case Qt::Key_Left: setRange(m_from - span * 0.1, m_to - span * 0.1); break;
    case Qt::Key_Right: setRange(m_from + span * 0.1, m_to + span * 0.1); break;
    case Qt::Key_Plus:
    case Qt::Key_Equal: setRange(middle - span * 0.4, middle + span * 0.4); break;
    case Qt::Key_Minus: setRange(middle - span * 0.625, middle + span * 0.625); break;
    case Qt::Key_Home: showAll(); break;
    default: QWidget::keyPressEvent(event);
    }
}

void OverlayPlot::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    m_overlay->setGeometry(rect());
    if (!m_contents.runs.isEmpty())
        refill();
}

void OverlayPlot::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::LanguageChange) {
        retitle();
        replotSoon(m_plot);
    }
}

QString OverlayPlot::exportPicture(const QString &file) { return plots::exportPicture(m_plot, file, accessibleName()); }

} // namespace stagewright::plots
