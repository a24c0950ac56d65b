#include "ui/plots/run_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <cmath>

#include "ui/plots/plot_look.h"
#include "ui/plots/custom_plot.h"

#include "core/base/units.h"
#include "ui/look/kind_colors.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/plots/elapsed_ticker.h"
#include "ui/plots/plot_overlay.h"
#include "ui/plots/stacked_memory.h"
#include "ui/plots/strip_lane.h"

namespace stagewright::plots {

using namespace Qt::StringLiterals;
using look::tokens;

RunPlot::RunPlot(QWidget *parent) : QWidget(parent), m_plot(new QCustomPlot(this)), m_overlay(new PlotOverlay(this))
{
    embed(m_plot, this);
    setMinimumHeight(220);
    setFocusPolicy(Qt::StrongFocus);
    m_plot->setMouseTracking(true);
    m_plot->plotLayout()->clear();
    m_plot->plotLayout()->setRowSpacing(5);
    m_plot->setNoAntialiasingOnDrag(true);
    m_plot->setPlottingHint(QCP::phFastPolylines);
    m_margins = new QCPMarginGroup(m_plot);
    createLanes();
    createCurves();
    for (const Lane lane : kLanes)
        if (lane != Lane::GradNorm && lane != Lane::Throughput)
            m_visible.insert(lane);
    layOut();
    recolor();
    retitle();
    m_timer.setSingleShot(true);
    connect(&m_timer, &QTimer::timeout, this, &RunPlot::replotNow);
    connect(&look::theme(), &look::Theme::changed, this, [this] { recolor(); scheduleReplot(); });
    m_overlay->raise();
    applyRange(0, 30);
}

RunPlot::~RunPlot() = default;

void RunPlot::take(const std::vector<events::Record> &records)
{
    const auto seen = m_data.kindsSeen();
    for (const auto &record : records) {
        m_data.take(record);
        m_newest = std::max(m_newest, record.time);
    }
    if (seen != m_data.kindsSeen())
        Q_EMIT kindsChanged();
    scheduleReplot();
}

void RunPlot::clear()
{
    m_data.clear();
    for (auto &[lane, parts] : m_lanes)
        for (auto *graph : parts.graphs)
            graph->data()->clear();
    m_stepsDrawn = m_hostDrawn = 0;
    m_smoothLoss = m_smoothWeight = m_newest = 0;
    m_span = 300;
    m_overlay->clear();
    setFollowing(true);
    applyRange(0, 30);
    Q_EMIT kindsChanged();
    scheduleReplot();
}

// Appends what came since the last time; the loss is also shown smoothed (exponential mean over about 20 steps, bias corrected).
void RunPlot::fillGraphs()
{
    const auto &steps = m_data.steps();
    m_stepsDrawn = std::min(m_stepsDrawn, steps.size());
    const auto add = [this](Lane lane, std::size_t which, double x, double y) {
        if (std::isfinite(y))
            m_lanes[lane].graphs[which]->addData(x, y);
    };
    for (; m_stepsDrawn < steps.size(); ++m_stepsDrawn) {
        const StepMark &mark = steps[m_stepsDrawn];
        add(Lane::Loss, 0, mark.to, mark.loss);
        if (std::isfinite(mark.loss)) {
            m_smoothLoss = 0.95 * m_smoothLoss + 0.05 * mark.loss;
            m_smoothWeight = 0.95 * m_smoothWeight + 0.05;
            add(Lane::Loss, 1, mark.to, m_smoothLoss / m_smoothWeight);
        }
        add(Lane::StepTime, 0, mark.to, mark.seconds);
        if (mark.wait > 0)
            add(Lane::StepTime, 1, mark.to, mark.wait);
        if (mark.blocked > 0)
            add(Lane::StepTime, 2, mark.to, mark.blocked);
        add(Lane::LearningRate, 0, mark.to, mark.lr);
        add(Lane::GradNorm, 0, mark.to, mark.gradNorm);
        add(Lane::Throughput, 0, mark.to, mark.samplesPerSecond);
    }
    for (; m_hostDrawn < m_data.host().size(); ++m_hostDrawn)
        add(Lane::Host, 0, m_data.host()[m_hostDrawn].at, double(m_data.host()[m_hostDrawn].resident) / kGiB);
    if (!m_data.host().empty()) {
        const HostSample &now = m_data.host().back();
        QString words = tr("worker %1").arg(look::bytes(double(now.resident)));
        for (std::size_t i = 0; i < now.kinds.size(); ++i)
            if (now.kinds[i] > 0)
                words += u" · "_s + look::wordOf(HostKind(i)) + u' ' + look::bytes(double(now.kinds[i]));
        m_hostText->setText(words);
    } else {
        m_hostText->setText({});
    }
}

void RunPlot::scheduleReplot()
{
    m_dirty = true;
    if (!isVisible() || m_timer.isActive())
        return;
    const qint64 since = m_sinceReplot.isValid() ? m_sinceReplot.elapsed() : kReplotMs;
    m_timer.start(int(std::max<qint64>(0, kReplotMs - since)));
}

void RunPlot::replotNow()
{
    if (!isVisible())
        return;                                        // showEvent() will see m_dirty
    m_dirty = false;
    fillGraphs();
    if (m_following)
        followNewest();
    fitValues();
    m_plot->replot(QCustomPlot::rpQueuedRefresh);
    m_sinceReplot.restart();
    if (m_overlay->isShowing() && m_hoverAt.x() >= 0)
        hover(m_hoverAt);
    setAccessibleDescription(textAlternative());
    Q_EMIT plotted(m_newest);
}

void RunPlot::followNewest()
{
    const double end = std::max(m_data.end(), 10.0);
    const double span = std::min(m_span, end * 1.04);
    applyRange(std::max(0.0, end - span * 0.97), std::max(0.0, end - span * 0.97) + span);
}

void RunPlot::applyRange(double from, double to)
{
    m_from = from;
    m_to = std::max(to, from + 0.05);
    for (const Lane lane : kLanes)
        timeAxis(lane)->setRange(m_from, m_to);
}

std::pair<double, double> RunPlot::range() const { return {m_from, m_to}; }

void RunPlot::setRange(double from, double to)
{
    const double span = std::clamp(to - from, 0.05, std::max(60.0, m_data.end() * 1.5));
    from = std::clamp(from, -span * 0.2, std::max(0.0, m_data.end()));
    applyRange(from, from + span);
    m_span = span;
    setFollowing(m_following && m_to >= m_data.end() && m_from < m_data.end());
    scheduleReplot();
}

void RunPlot::setFollowing(bool following)
{
    if (m_following == following)
        return;
    m_following = following;
    Q_EMIT followingChanged(following);
    scheduleReplot();
}

void RunPlot::showWholeRun()
{
    m_span = 1e12;
    setFollowing(true);
    scheduleReplot();
}

void RunPlot::setLaneVisible(Lane lane, bool visible)
{
    if (visible == isLaneVisible(lane))
        return;
    visible ? void(m_visible.insert(lane)) : void(m_visible.erase(lane));
    layOut();
    recolor();
    scheduleReplot();
}

void RunPlot::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    if (m_dirty)
        scheduleReplot();
}

void RunPlot::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    m_overlay->setGeometry(rect());
}

void RunPlot::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::LanguageChange) {
        retitle();
        scheduleReplot();
    }
}

bool RunPlot::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_plot)
        return QWidget::eventFilter(watched, event);
    auto *mouse = static_cast<QMouseEvent *>(event);
    switch (event->type()) {
    case QEvent::Wheel: wheel(static_cast<QWheelEvent *>(event)); return true;
    case QEvent::MouseButtonPress:
        if (mouse->button() == Qt::LeftButton) {
            setFocus(Qt::MouseFocusReason);
            m_dragging = true;
            m_dragFrom = mouse->pos();
            m_dragRangeFrom = m_from;
            m_dragRangeTo = m_to;
        }
        return true;
    case QEvent::MouseButtonRelease:
        m_dragging = false;
        m_plot->unsetCursor();
        return true;
    case QEvent::MouseButtonDblClick: setFollowing(true); return true;
    case QEvent::MouseMove:
        if (m_dragging) {
            const double perPixel = (m_dragRangeTo - m_dragRangeFrom) / std::max(1, timeAxis(*m_visible.begin())->axisRect()->width());
            const double shift = (m_dragFrom.x() - mouse->pos().x()) * perPixel;
            m_plot->setCursor(Qt::ClosedHandCursor);
            setRange(m_dragRangeFrom + shift, m_dragRangeTo + shift);
        }
        hover(mouse->pos());
        return true;
    case QEvent::Leave:
        m_hoverAt = {-1, -1};
        m_overlay->clear();
        return false;
    default: return QWidget::eventFilter(watched, event);
    }
}

void RunPlot::wheel(QWheelEvent *event)
{
    if (m_visible.empty())
        return;
    const double turns = event->angleDelta().y() / 120.0, sideways = event->angleDelta().x() / 120.0;
    const double span = m_to - m_from;
    if (std::fabs(sideways) > std::fabs(turns)) {
        setRange(m_from - sideways * span * 0.08, m_to - sideways * span * 0.08);
        return;
    }
    // While the newest is followed the right edge is held, else the moment under the pointer.
    const double anchor = m_following ? m_data.end() : timeAxis(*m_visible.begin())->pixelToCoord(event->position().x());
    const double factor = std::pow(0.8, turns);
    setRange(anchor - (anchor - m_from) * factor, anchor + (m_to - anchor) * factor);
}

void RunPlot::keyPressEvent(QKeyEvent *event)
{
    const double span = m_to - m_from, middle = (m_from + m_to) / 2;
    switch (event->key()) {
    case Qt::Key_Left: setRange(m_from - span * 0.1, m_to - span * 0.1); break;
    case Qt::Key_Right: setRange(m_from + span * 0.1, m_to + span * 0.1); break;
    case Qt::Key_Plus:
    case Qt::Key_Equal: m_following ? setRange(m_data.end() - span * 0.75, m_data.end() + span * 0.03) : setRange(middle - span * 0.4, middle + span * 0.4); break;
    case Qt::Key_Minus: m_following ? setRange(m_data.end() - span * 1.25, m_data.end() + span * 0.03) : setRange(middle - span * 0.62, middle + span * 0.62); break;
    case Qt::Key_Home: showWholeRun(); break;
    case Qt::Key_End: setFollowing(true); break;
    default: QWidget::keyPressEvent(event);
    }
}

void RunPlot::hover(const QPoint &at)
{
    m_hoverAt = at;
    if (m_visible.empty() || m_data.isEmpty()) {
        m_overlay->clear();
        return;
    }
    const QRect area = timeAxis(*m_visible.begin())->axisRect()->rect();
    const double x = timeAxis(*m_visible.begin())->pixelToCoord(at.x());
    if (at.x() < area.left() || at.x() > area.right() || x < 0 || x > m_data.end()) {
        m_overlay->clear();
        return;
    }
    QString title;
    const QStringList lines = readoutLines(x, &title);
    const QRect last = timeAxis(*m_visible.rbegin())->axisRect()->rect();
    m_overlay->show(at.x(), QRect(area.left(), area.top(), area.width(), last.bottom() - area.top()), title, lines);
}

} // namespace stagewright::plots
