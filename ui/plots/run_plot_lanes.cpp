// How the run plot's lanes are made, laid out, coloured and scaled.
#include "ui/plots/run_plot.h"

#include <cmath>

#include "ui/plots/custom_plot.h"

#include "core/base/units.h"
#include "ui/look/kind_colors.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/plots/byte_ticker.h"
#include "ui/plots/elapsed_ticker.h"
#include "ui/plots/plot_overlay.h"
#include "ui/plots/prediction_band.h"
#include "ui/plots/stacked_memory.h"
#include "ui/plots/strip_lane.h"

namespace stagewright::plots {

using namespace Qt::StringLiterals;
using look::tokens;

static constexpr int kTitleHeight = 16;

QWidget *RunPlot::canvas() const { return m_plot; }

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
        if (lane == Lane::Memory || lane == Lane::Host)
            left->setTicker(QSharedPointer<ByteTicker>::create());
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
        // A strip's title stands beside it, a curve's over it.
        parts.title->position->setCoords(0, isStrip(lane) ? 0.5 : 0);
        parts.title->setPositionAlignment(isStrip(lane) ? Qt::AlignRight | Qt::AlignVCenter : Qt::AlignLeft | Qt::AlignBottom);
        parts.title->setPadding(isStrip(lane) ? QMargins(0, 0, 6, 0) : QMargins(0, 0, 0, 2));
        m_lanes[lane] = parts;
    }
}

void RunPlot::createCurves()
{
    const auto left = [this](Lane lane) { return m_lanes[lane].rect->axis(QCPAxis::atLeft); };
    m_memory = new StackedMemory(timeAxis(Lane::Memory), left(Lane::Memory), &m_data);
    m_predicted = new PredictionBand(timeAxis(Lane::Memory), left(Lane::Memory), &m_data);
    new StripLane(timeAxis(Lane::Phases), left(Lane::Phases), &m_data.phases(), StripLane::Filled);
    new StripLane(timeAxis(Lane::Buckets), left(Lane::Buckets), &m_data.buckets(), StripLane::Framed);
    new StripLane(timeAxis(Lane::Saves), left(Lane::Saves), &m_data.saves(), StripLane::Filled);
    for (const Lane lane : {Lane::StepTime, Lane::StepTime, Lane::StepTime, Lane::Host, Lane::Loss, Lane::Loss, Lane::LearningRate, Lane::GradNorm, Lane::Throughput}) {
        auto *graph = m_plot->addGraph(timeAxis(lane), left(lane));
        graph->setAdaptiveSampling(true);
        graph->setSelectable(QCP::stNone);
        if (lane == Lane::Host)
            graph->setLineStyle(QCPGraph::lsStepLeft);
        if (lane == Lane::StepTime && !m_lanes[lane].graphs.empty())
            graph->setLineStyle(QCPGraph::lsImpulse);
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
        text->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
        text->setPadding(QMargins(0, 0, 0, 2));
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
        // Over a curve there is room for its title and for the upper half of its highest tick's label.
        m_lanes[lane].rect->setMargins(QMargins(46, isStrip(lane) ? 0 : kTitleHeight, 12, 0));
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
    m_lanes[Lane::StepTime].graphs[0]->setPen(pen(t.text, 1.2, 170));
    m_lanes[Lane::StepTime].graphs[1]->setPen(pen(look::colorOf(Phase::Data), 3));
    m_lanes[Lane::StepTime].graphs[2]->setPen(pen(look::colorOfSavePhase("stage"), 3));
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
        if (lane != Lane::Memory && lane != Lane::Host)    // these name their unit, see fitLane()
            parts.title->setText(shortTitleOf(lane));
    setAccessibleName(tr("Run plot"));
    setToolTip({});
}

void RunPlot::fitValues()
{
    for (const Lane lane : m_visible)
        if (!isStrip(lane))
            fitLane(lane);
}

void RunPlot::fitLane(Lane lane)
{
    lane == Lane::Memory ? fitMemory() : fitCurves(lane);
    if (lane != Lane::Memory && lane != Lane::Host)
        return;
    auto *axis = m_lanes[lane].rect->axis(QCPAxis::atLeft);
    const auto ticker = qSharedPointerCast<ByteTicker>(axis->ticker());
    ticker->setHighest(axis->range().upper);
    const QString title = shortTitleOf(lane).arg(QLatin1String(ticker->unit()));
    m_lanes[lane].title->setText(lane == Lane::Memory && m_data.hasPrediction() ? tr("%1; dashed: predicted peak").arg(title) : title);
}

void RunPlot::fitMemory()
{
    auto *axis = m_lanes[Lane::Memory].rect->axis(QCPAxis::atLeft);
    const double highest = std::max(m_memory->highestIn({m_from, m_to}), m_predicted->highestIn({m_from, m_to})), limit = double(m_data.limitBytes()) / kGiB;
    // A limit far above the curve would flatten it: then it is named instead of drawn.
    const bool inside = limit > 0 && highest > 0.4 * limit;
    const double top = std::max(inside ? std::max(limit, highest) : highest, 0.001) * (inside ? 1.1 : 1.04);
    axis->setRange(0, top);
    m_limitLine->setVisible(isLaneVisible(Lane::Memory) && inside);
    m_limitLine->start->setCoords(0, limit);
    m_limitLine->end->setCoords(1, limit);
    m_limitText->setText(limit <= 0 ? QString() : inside ? tr("limit %1 GiB").arg(limit, 0, 'f', 1) : tr("limit %1 GiB ↑").arg(limit, 0, 'f', 1));
    m_limitText->position->setCoords(1, inside ? std::max(0.0, 1 - limit / top) : 0);
}

void RunPlot::fitCurves(Lane lane)
{
    auto *axis = m_lanes[lane].rect->axis(QCPAxis::atLeft);
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
    if (lane == Lane::Host || lane == Lane::Throughput || lane == Lane::LearningRate || lane == Lane::StepTime)
        range.lower = std::min(0.0, range.lower);
    const double span = range.upper > range.lower ? range.upper - range.lower : std::max(std::fabs(range.upper) * 0.2, 1e-12);
    axis->setRange(range.lower == 0 ? 0 : range.lower - span * 0.08, range.upper + span * 0.08);
}

} // namespace stagewright::plots
