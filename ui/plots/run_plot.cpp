#include "ui/plots/run_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <cmath>

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
    auto *box = new QVBoxLayout(this);
    box->setContentsMargins(0, 0, 0, 0);
    box->addWidget(m_plot);
    setMinimumHeight(220);
    setFocusPolicy(Qt::StrongFocus);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setMouseTracking(true);
    m_plot->installEventFilter(this);
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

QCPAxis *RunPlot::timeAxis(Lane lane) const { return m_lanes.at(lane).rect->axis(QCPAxis::atBottom); }

void RunPlot::createLanes()
{
    for (const Lane lane : kLanes) {
        LaneParts parts;
        parts.rect = new QCPAxisRect(m_plot, false);
        // Items look for a rect in the layout when they are made; layOut() puts the lanes where they belong.
        m_plot->plotLayout()->addElement(m_plot->plotLayout()->rowCount(), 0, parts.rect);
        auto *left = parts.rect->addAxis(QCPAxis::atLeft);
        auto *bottom = parts.rect->addAxis(QCPAxis::atBottom);
        parts.rect->setMarginGroup(QCP::msLeft | QCP::msRight, m_margins);
        parts.rect->setMinimumMargins(QMargins(46, 0, 12, 0));
        parts.rect->setAutoMargins(QCP::msLeft | QCP::msRight);
        parts.rect->setMargins(QMargins(46, 0, 12, 0));
        if (isStrip(lane)) {
            parts.rect->setMinimumSize(10, 17);
            parts.rect->setMaximumSize(QWIDGETSIZE_MAX, 17);
            left->setRange(0, 1);
            left->setVisible(false);
        } else {
            parts.rect->setMinimumSize(10, lane == Lane::Memory ? 90 : 34);
        }
        left->setTickLabelPadding(4);
        left->setTickLengthIn(0);
        left->setSubTicks(false);
        left->setNumberFormat(lane == Lane::LearningRate ? u"gb"_s : u"g"_s);
        left->setNumberPrecision(lane == Lane::LearningRate ? 2 : 4);
        left->ticker()->setTickCount(lane == Lane::Memory ? 5 : 2);
        left->ticker()->setTickStepStrategy(QCPAxisTicker::tssReadability);
        bottom->setTickLengthIn(0);
        bottom->setSubTicks(false);
        parts.title = new QCPItemText(m_plot);
        parts.title->setClipToAxisRect(false);
        parts.title->position->setAxisRect(parts.rect);
        parts.title->position->setType(QCPItemPosition::ptAxisRectRatio);
        parts.title->position->setCoords(0, isStrip(lane) ? 0.5 : 0);
        parts.title->setPositionAlignment(isStrip(lane) ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignTop);
        parts.title->setPadding(isStrip(lane) ? QMargins(0, 0, 6, 0) : QMargins(6, 3, 0, 0));
        m_lanes[lane] = parts;
    }
}

void RunPlot::createCurves()
{
    const auto left = [this](Lane lane) { return m_lanes[lane].rect->axis(QCPAxis::atLeft); };
    m_memory = new StackedMemory(timeAxis(Lane::Memory), left(Lane::Memory), &m_data);
    new StripLane(timeAxis(Lane::Phases), left(Lane::Phases), &m_data.phases(), StripLane::Filled);
    new StripLane(timeAxis(Lane::Buckets), left(Lane::Buckets), &m_data.buckets(), StripLane::Framed);
    new StripLane(timeAxis(Lane::Saves), left(Lane::Saves), &m_data.saves(), StripLane::Filled);
    for (const Lane lane : {Lane::Host, Lane::Loss, Lane::Loss, Lane::LearningRate, Lane::GradNorm, Lane::Throughput}) {
        auto *graph = m_plot->addGraph(timeAxis(lane), left(lane));
        graph->setAdaptiveSampling(true);
        graph->setSelectable(QCP::stNone);
        if (lane == Lane::Host)
            graph->setLineStyle(QCPGraph::lsStepLeft);
        m_lanes[lane].graphs.push_back(graph);
    }
    m_limitLine = new QCPItemLine(m_plot);
    m_limitText = new QCPItemText(m_plot);
    m_hostText = new QCPItemText(m_plot);
    for (auto *position : {m_limitLine->start, m_limitLine->end}) {
        position->setAxisRect(m_lanes[Lane::Memory].rect);
        position->setAxes(timeAxis(Lane::Memory), left(Lane::Memory));
        position->setTypeX(QCPItemPosition::ptAxisRectRatio);
        position->setTypeY(QCPItemPosition::ptPlotCoords);
    }
    for (auto *text : {m_limitText, m_hostText}) {
        const Lane lane = text == m_limitText ? Lane::Memory : Lane::Host;
        text->setClipToAxisRect(false);
        text->position->setAxisRect(m_lanes[lane].rect);
        text->position->setType(QCPItemPosition::ptAxisRectRatio);
        text->position->setCoords(1, 0);
        text->setPositionAlignment(Qt::AlignRight | Qt::AlignTop);
        text->setPadding(QMargins(0, 3, 6, 0));
    }
}

// Only the visible lanes lie in the layout; the lowest has the time axis' labels.
void RunPlot::layOut()
{
    auto *layout = m_plot->plotLayout();
    for (auto &[lane, parts] : m_lanes)
        if (parts.rect->layout() == layout)
            layout->take(parts.rect);
    layout->simplify();
    std::optional<Lane> lowest;
    int row = 0;
    for (const Lane lane : kLanes) {
        const bool visible = isLaneVisible(lane);
        m_lanes[lane].rect->setVisible(visible);
        m_lanes[lane].title->setVisible(visible);
        if (!visible)
            continue;
        layout->addElement(row, 0, m_lanes[lane].rect);
        layout->setRowStretchFactor(row, isStrip(lane) ? 0.001 : lane == Lane::Memory ? 4.2 : lane == Lane::Loss ? 1.5 : 0.8);
        ++row;
        lowest = lane;
    }
    m_limitLine->setVisible(isLaneVisible(Lane::Memory));
    m_limitText->setVisible(isLaneVisible(Lane::Memory));
    m_hostText->setVisible(isLaneVisible(Lane::Host));
    for (const Lane lane : kLanes) {
        const bool labels = lowest && lane == *lowest;
        auto *bottom = timeAxis(lane);
        bottom->setTickLabels(labels);
        bottom->setVisible(labels);
        m_lanes[lane].rect->setAutoMargins(labels ? QCP::msLeft | QCP::msRight | QCP::msBottom : QCP::msLeft | QCP::msRight);
        if (!labels)
            m_lanes[lane].rect->setMargins(QMargins(46, 0, 12, 0));
        if (labels) {
            QSharedPointer<ElapsedTicker> ticker(new ElapsedTicker);
            ticker->setTickCount(7);
            ticker->stepAt = [this](double x) {
                const StepMark *mark = m_data.stepAt(x);
                return mark && x <= m_data.end() ? tr("step %1").arg(look::count(mark->step)) : QString();
            };
            bottom->setTicker(ticker);
        }
    }
}

void RunPlot::recolor()
{
    const auto &t = tokens();
    m_plot->setBackground(QBrush(t.ground));
    const QFont small = look::Theme::uiFont(11);
    for (auto &[lane, parts] : m_lanes) {
        for (auto *axis : parts.rect->axes()) {
            axis->setBasePen(axis->axisType() == QCPAxis::atBottom ? QPen(t.border) : QPen(Qt::NoPen));
            axis->setTickPen(Qt::NoPen);
            axis->setTickLabelColor(t.muted);
            axis->setTickLabelFont(small);
            axis->grid()->setPen(QPen(t.border, 1));
            axis->grid()->setZeroLinePen(Qt::NoPen);
            axis->grid()->setVisible(axis->axisType() == QCPAxis::atLeft && !isStrip(lane));
        }
        parts.title->setColor(t.muted);
        parts.title->setFont(small);
    }
    const QColor blue = t.dark ? QColor(0x56B4E9) : QColor(0x0072B2);
    const auto pen = [](QColor color, double width, int alpha = 255) { color.setAlpha(alpha); return QPen(color, width); };
    m_lanes[Lane::Host].graphs[0]->setPen(pen(look::colorOf(HostKind::Other), 1.5));
    m_lanes[Lane::Loss].graphs[0]->setPen(pen(blue, 1, 110));
    m_lanes[Lane::Loss].graphs[1]->setPen(pen(blue, 2));
    m_lanes[Lane::LearningRate].graphs[0]->setPen(pen(look::colorOf(MemoryKind::Optimizer), 1.5));
    m_lanes[Lane::GradNorm].graphs[0]->setPen(pen(look::colorOf(MemoryKind::Gradient), 1.2));
    m_lanes[Lane::Throughput].graphs[0]->setPen(pen(look::colorOf(MemoryKind::Ema), 1.2));
    m_limitLine->setPen(QPen(t.error, 1.5));
    m_limitText->setColor(t.error);
    m_limitText->setFont(small);
    m_hostText->setColor(t.muted);
    m_hostText->setFont(small);
    m_overlay->update();
}

void RunPlot::retitle()
{
    for (auto &[lane, parts] : m_lanes)
        parts.title->setText(shortTitleOf(lane));
    setAccessibleName(tr("Run plot"));
    setToolTip({});
}

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

void RunPlot::fitValues()
{
    for (const Lane lane : m_visible)
        if (!isStrip(lane))
            fitLane(lane);
}

void RunPlot::fitLane(Lane lane)
{
    auto *axis = m_lanes[lane].rect->axis(QCPAxis::atLeft);
    if (lane == Lane::Memory) {
        const double highest = m_memory->highestIn({m_from, m_to}), limit = double(m_data.limitBytes()) / kGiB;
        // A limit far above the curve would flatten it: then it is named instead of drawn.
        const bool inside = limit > 0 && highest > 0.4 * limit;
        const double top = inside ? std::max(limit, highest) * 1.06 : std::max(highest * 1.18, 0.01);
        axis->setRange(0, top);
        m_limitLine->setVisible(isLaneVisible(lane) && inside);
        m_limitLine->start->setCoords(0, limit);
        m_limitLine->end->setCoords(1, limit);
        m_limitText->setText(limit <= 0 ? QString() : inside ? tr("%1 GiB").arg(limit, 0, 'f', 1) : tr("limit %1 GiB ↑").arg(limit, 0, 'f', 1));
        m_limitText->position->setCoords(1, inside ? std::max(0.0, 1 - limit / top) : 0);
        return;
    }
    bool any = false;
    QCPRange range;
    for (auto *graph : m_lanes[lane].graphs) {
        bool found = false;
        const QCPRange own = graph->getValueRange(found, QCP::sdBoth, {m_from, m_to});
        if (found)
            range = any ? QCPRange(std::min(range.lower, own.lower), std::max(range.upper, own.upper)) : own;
        any = any || found;
    }
    if (!any)
        range = QCPRange(0, 1);
    if (lane == Lane::Host || lane == Lane::Throughput || lane == Lane::LearningRate)
        range.lower = std::min(0.0, range.lower);
    const double room = range.upper > range.lower ? (range.upper - range.lower) * 0.14 : std::max(std::fabs(range.upper) * 0.2, 1e-12);
    axis->setRange(range.lower == 0 ? 0 : range.lower - room, range.upper + room);
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

QString RunPlot::readoutAt(double seconds) const
{
    QString title;
    const QStringList lines = readoutLines(seconds, &title);
    return title + u'\n' + lines.join(u'\n');
}

QStringList RunPlot::readoutLines(double x, QString *title) const
{
    QStringList lines;
    const StepMark *step = m_data.stepAt(x);
    *title = look::elapsed(x);
    if (step)
        *title = tr("step %1 · %2").arg(look::count(step->step), look::elapsed(x));
    if (const Stretch *phase = m_data.stretchAt(m_data.phases(), x); phase && phase->phase >= 0)
        *title += u" · "_s + look::wordOf(Phase(phase->phase));
    if (const MemorySample *memory = m_data.memoryAt(x)) {
        const QString limit = m_data.limitBytes() > 0 ? tr(" of %1").arg(look::bytes(double(m_data.limitBytes()))) : QString();
        const bool measured = step && step->traced;
        lines << (measured || !step ? tr("%1%2 at this moment") : tr("%1%2, the step's peak")).arg(look::bytes(memory->total), limit);
        QStringList kinds;
        std::vector<std::pair<float, MemoryKind>> byAmount;
        for (const MemoryKind kind : look::kStackOrder)
            if (memory->bytes[std::size_t(kind)] > 0)
                byAmount.push_back({memory->bytes[std::size_t(kind)], kind});
        std::sort(byAmount.begin(), byAmount.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
        for (const auto &[amount, kind] : byAmount) {
            kinds << look::wordOf(kind) + u' ' + look::bytes(amount);
            if (kinds.size() == 2) {
                lines << kinds.join(u" · "_s);
                kinds.clear();
            }
        }
        if (!kinds.isEmpty())
            lines << kinds.join(u" · "_s);
    }
    if (step) {
        lines << tr("%1 × %2 frames, %3×%4, batch %5").arg(look::q(step->bucket.resolution)).arg(step->bucket.frames).arg(step->bucket.width).arg(step->bucket.height).arg(step->bucket.batchSize);
        lines << tr("loss %1 · lr %2 · grad norm %3").arg(look::figure(step->loss), look::figure(step->lr, 2), look::figure(step->gradNorm, 3));
        lines << tr("%1 a step · %2 clips/s · waited %3 for data").arg(look::duration(step->to - step->from), look::figure(step->samplesPerSecond, 3), look::duration(step->wait));
    }
    if (const Stretch *save = m_data.stretchAt(m_data.saves(), x))
        lines << tr("save: %1").arg(save->text);
    const auto &host = m_data.host();
    const auto after = std::upper_bound(host.begin(), host.end(), x, [](double at, const HostSample &s) { return at < s.at; });
    if (after != host.begin() && (after - 1)->resident > 0)
        lines << tr("host: worker %1").arg(look::bytes(double((after - 1)->resident)));
    return lines;
}

QString RunPlot::textAlternative() const
{
    if (m_data.steps().empty())
        return tr("No step yet.");
    const StepMark &last = m_data.steps().back();
    QString words = tr("Step %1 at %2: loss %3, peak device memory %4.")
                        .arg(look::count(last.step), look::elapsed(last.to), look::figure(last.loss), look::bytes(double(last.peakBytes)));
    if (const MemorySample *memory = m_data.memoryAt(m_data.memoryEnd())) {
        QStringList kinds;
        for (const MemoryKind kind : look::kStackOrder)
            if (memory->bytes[std::size_t(kind)] > 0)
                kinds << look::wordOf(kind) + u' ' + look::bytes(memory->bytes[std::size_t(kind)]);
        words += u' ' + kinds.join(u", "_s) + u'.';
    }
    return words;
}

} // namespace stagewright::plots
