#include "ui/plots/kind_bars.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <numeric>

#include "core/base/units.h"
#include "ui/look/kind_colors.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/plots/byte_ticker.h"
#include "ui/plots/picture_export.h"
#include "ui/plots/plot_look.h"

namespace stagewright::plots {

static constexpr int kAroundPixels = 54;               // axis and the limit's words

static double total(const KindBar &bar) { return double(std::accumulate(bar.byKind.begin(), bar.byKind.end(), bar.extra)); }

KindBars::KindBars(QWidget *parent) : QWidget(parent), m_plot(new QCustomPlot(this))
{
    embed(m_plot, this);
    setFocusPolicy(Qt::StrongFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    m_plot->setMouseTracking(true);
    auto *keys = m_plot->yAxis, *values = m_plot->xAxis;
    keys->setRangeReversed(true);
    values->setTicker(QSharedPointer<ByteTicker>::create());
    QCPBars *below = nullptr;
    for (std::size_t i = 0; i <= std::size(look::kStackOrder); ++i) {
        auto *bars = new QCPBars(keys, values);
        bars->setWidthType(QCPBars::wtAbsolute);
        bars->setWidth(15);
        bars->setSelectable(QCP::stNone);
        bars->setAntialiased(false);
        if (below)
            bars->moveAbove(below);
        m_kinds.push_back(below = bars);
    }
    m_totals = m_plot->addGraph(keys, values);
    m_totals->setLineStyle(QCPGraph::lsNone);
    m_totals->setSelectable(QCP::stNone);
    m_bands = new QCPErrorBars(keys, values);
    m_bands->setDataPlottable(m_totals);
    m_bands->setSelectable(QCP::stNone);
    m_bands->setSymbolGap(0);
    m_limitLine = new QCPItemLine(m_plot);
    m_limitText = new QCPItemText(m_plot);
    for (auto *position : {m_limitLine->start, m_limitLine->end})
        position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    m_limitText->setClipToAxisRect(false);
    m_limitText->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    connect(&look::theme(), &look::Theme::changed, this, &KindBars::recolor);
    recolor();
}

QWidget *KindBars::canvas() const { return m_plot; }

QSize KindBars::sizeHint() const { return {480, kAroundPixels + kRowPixels * std::max<int>(1, int(m_bars.size()))}; }
QSize KindBars::minimumSizeHint() const { return {260, sizeHint().height()}; }

void KindBars::setBars(std::vector<KindBar> bars, std::int64_t limit, const QString &limitText)
{
    m_bars = std::move(bars);
    m_limit = limit;
    m_limitWords = limitText;
    if (m_chosen >= int(m_bars.size()))
        m_chosen = -1;
    updateGeometry();
    refresh();
}

void KindBars::recolor()
{
    const auto &t = look::tokens();
    dress(m_plot);
    m_plot->yAxis->grid()->setVisible(false);
    m_plot->yAxis->setBasePen(Qt::NoPen);
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        const bool beyond = i == std::size(look::kStackOrder);
        m_kinds[i]->setPen(Qt::NoPen);
        m_kinds[i]->setBrush(beyond ? QBrush(t.muted, Qt::BDiagPattern) : QBrush(look::colorOf(look::kStackOrder[i])));
    }
    m_bands->setPen(QPen(t.text, 1.2));
    m_limitLine->setPen(QPen(t.error, 1.6));
    m_limitText->setColor(t.error);
    m_limitText->setFont(look::Theme::uiFont(11));
    refresh();
}

void KindBars::refresh()
{
    const auto &t = look::tokens();
    QVector<double> keys;
    QStringList labels;
    double highest = 0;
    for (std::size_t i = 0; i < m_bars.size(); ++i) {
        keys << double(i);
        labels << m_bars[i].label;
        highest = std::max(highest, total(m_bars[i]) + m_bars[i].band);
    }
    for (std::size_t kind = 0; kind < m_kinds.size(); ++kind) {
        QVector<double> amounts;
        for (const KindBar &bar : m_bars)
            amounts << double(kind < std::size(look::kStackOrder) ? bar.byKind[std::size_t(look::kStackOrder[kind])] : bar.extra) / kGiB;
        m_kinds[kind]->setData(keys, amounts, true);
    }
    QVector<double> totals, bands;
    for (const KindBar &bar : m_bars) {
        totals << total(bar) / kGiB;
        bands << (bar.band > 0 ? bar.band / kGiB : qQNaN());
    }
    m_totals->setData(keys, totals, true);
    m_bands->setData(bands);
    for (auto *item : m_remarks)
        m_plot->removeItem(item);
    m_remarks.clear();
    const double limit = double(m_limit) / kGiB;
    const bool drawn = isLimitDrawn(limit, highest / kGiB);
    const double top = std::max({highest / kGiB, drawn ? limit : 0, 1e-3});
    for (std::size_t i = 0; i < m_bars.size(); ++i) {
        auto *text = new QCPItemText(m_plot);
        const double end = totals[qsizetype(i)] + m_bars[i].band / kGiB;
        text->position->setCoords(end + top * 0.008, double(i));
        text->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        text->setText(m_bars[i].remark);
        text->setFont(look::Theme::uiFont(11, int(i) == m_chosen ? QFont::DemiBold : QFont::Normal));
        text->setColor(m_bars[i].fits ? t.text : t.error);
        text->setClipToAxisRect(false);
        if (int(i) == m_chosen) {
            text->setPen(QPen(hasFocus() ? t.accent : t.border));
            text->setPadding(QMargins(4, 1, 4, 1));
        }
        text->setBrush(QBrush(t.ground));
        m_remarks.push_back(text);
    }
    auto *axis = m_plot->xAxis;
    axis->setRange(0, top * 1.36);                     // room for the remark behind the longest bar
    const auto ticker = qSharedPointerCast<ByteTicker>(axis->ticker());
    ticker->setHighest(top);
    axis->setLabel(QLatin1String(ticker->unit()));
    m_plot->yAxis->setTicker(thinned(labels, kRowPixels * int(m_bars.size()), true));
    m_plot->yAxis->setRange(-0.6, std::max<double>(1, double(m_bars.size())) - 0.4);
    m_limitLine->setVisible(drawn);
    m_limitText->setVisible(m_limit > 0);
    m_limitLine->start->setCoords(limit, 0);
    m_limitLine->end->setCoords(limit, 1);
    m_limitText->position->setCoords(drawn ? limit : top * 1.36, 0);
    m_limitText->setPositionAlignment((!drawn || limit > top * 0.5 ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignBottom);
    m_limitText->setText(drawn ? m_limitWords : m_limitWords + QStringLiteral(" →"));
    m_plot->axisRect()->setMinimumMargins(QMargins(8, 18, 8, 8));
    replotSoon(m_plot);
}

int KindBars::yOf(int bar) const { return int(m_plot->yAxis->coordToPixel(bar)); }

void KindBars::setChosen(int bar)
{
    if (bar == m_chosen)
        return;
    m_chosen = bar;
    refresh();
}

void KindBars::choose(int bar)
{
    if (bar < 0 || bar >= int(m_bars.size()))
        return;
    setChosen(bar);
    Q_EMIT barChosen(bar);
}

bool KindBars::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_plot && event->type() == QEvent::MouseButtonPress) {
        setFocus(Qt::MouseFocusReason);
        choose(int(std::lround(m_plot->yAxis->pixelToCoord(static_cast<QMouseEvent *>(event)->position().y()))));
        return true;
    }
    if (watched == m_plot && event->type() == QEvent::Show)
        replotSoon(m_plot);
    if (watched == m_plot && event->type() == QEvent::Wheel) {
        event->ignore();                               // the scroll area's
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void KindBars::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Down)
        choose(std::min(int(m_bars.size()) - 1, m_chosen + 1));
    else if (event->key() == Qt::Key_Up)
        choose(std::max(0, m_chosen - 1));
    else
        QWidget::keyPressEvent(event);
}

void KindBars::focusInEvent(QFocusEvent *) { refresh(); }
void KindBars::focusOutEvent(QFocusEvent *) { refresh(); }

QString KindBars::exportPicture(const QString &file) { return plots::exportPicture(m_plot, file, accessibleName()); }

} // namespace stagewright::plots
