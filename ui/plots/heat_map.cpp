#include "ui/plots/heat_map.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "ui/look/theme.h"
#include "ui/look/words.h"
#include "ui/plots/picture_export.h"
#include "ui/plots/plot_look.h"

namespace stagewright::plots {

static QColor mixed(const QColor &a, const QColor &b, double part)
{
    return QColor::fromRgbF(float(a.redF() * (1 - part) + b.redF() * part), float(a.greenF() * (1 - part) + b.greenF() * part), float(a.blueF() * (1 - part) + b.blueF() * part));
}

// Draws the cells; knows nothing of the mouse.
class HeatCells : public QCPAbstractPlottable
{
public:
    HeatCells(QCPAxis *columns, QCPAxis *rows) : QCPAbstractPlottable(columns, rows) { setSelectable(QCP::stNone); }

    std::vector<HeatCell> cells;
    std::vector<int> front;
    int columns = 0, rows = 0, ring = -1, own = -1;
    bool focused = false;

    double selectTest(const QPointF &, bool, QVariant *) const override { return -1; }
    QCPRange getKeyRange(bool &found, QCP::SignDomain) const override { found = columns > 0; return {-0.5, columns - 0.5}; }
    QCPRange getValueRange(bool &found, QCP::SignDomain, const QCPRange &) const override { found = rows > 0; return {-0.5, rows - 0.5}; }
    QPointF middleOf(int cell) const { return {mKeyAxis->coordToPixel(cell % columns), mValueAxis->coordToPixel(cell / columns)}; }

    bool isSmall() const { return m_high < kGiB; }
    void setCells(std::vector<HeatCell> now)
    {
        cells = std::move(now);
        m_low = m_high = 0;
        for (const HeatCell &cell : cells) {
            if (cell.bytes <= 0)
                continue;
            m_low = m_low == 0 ? cell.bytes : std::min(m_low, cell.bytes);
            m_high = std::max(m_high, cell.bytes);
        }
    }

protected:
    void draw(QCPPainter *painter) override
    {
        if (columns <= 0 || rows <= 0 || cells.size() != std::size_t(columns) * std::size_t(rows))
            return;
        painter->setAntialiasing(false);
        for (std::size_t i = 0; i < cells.size(); ++i)
            drawCell(painter, int(i));
        painter->setAntialiasing(true);
        drawFront(painter);
        drawMarks(painter);
    }
    void drawLegendIcon(QCPPainter *, const QRectF &) const override {}

private:
    QRectF rectOf(int cell) const
    {
        const int column = cell % columns, row = cell / columns;
        const double x0 = std::round(mKeyAxis->coordToPixel(column - 0.5)), x1 = std::round(mKeyAxis->coordToPixel(column + 0.5));
        const double y0 = std::round(mValueAxis->coordToPixel(row + 0.5)), y1 = std::round(mValueAxis->coordToPixel(row - 0.5));
        const bool gaps = x1 - x0 > 5 && y1 - y0 > 5;
        return QRectF(x0, y0, x1 - x0 - gaps, y1 - y0 - gaps);
    }

    // Blue where there is much room left, orange where there is least; lightness alone tells them apart too.
    QColor colorOf(const HeatCell &cell) const
    {
        const auto &t = look::tokens();
        const double share = m_high > m_low ? (cell.bytes - m_low) / (m_high - m_low) : 0;
        const QColor low(t.dark ? 0x1F6FA3 : 0x4FA3D1), middle = t.dark ? QColor(0x3A4550) : QColor(0xD5DEE5), high(t.dark ? 0xA35A1F : 0xEDB183);
        return share < 0.5 ? mixed(low, middle, share * 2) : mixed(middle, high, share * 2 - 1);
    }

    void drawCell(QCPPainter *painter, int i)
    {
        const auto &t = look::tokens();
        const HeatCell &cell = cells[std::size_t(i)];
        const QRectF rect = rectOf(i);
        painter->setPen(Qt::NoPen);
        if (cell.bytes <= 0) {
            painter->fillRect(rect, t.stripOff);
            if (!cell.fits)
                painter->fillRect(rect, QBrush(t.muted, Qt::DiagCrossPattern));
            return;
        }
        painter->fillRect(rect, colorOf(cell));
        if (!cell.fits) {
            QColor hatch = t.text;
            hatch.setAlpha(120);
            painter->save();
            painter->setClipRect(rect);
            painter->setPen(QPen(hatch, 1));
            const double gap = std::clamp(std::min(rect.width(), rect.height()) / 2, 5.0, 9.0);
            for (double x = rect.left() - rect.height() - std::fmod(rect.left() - rect.top(), gap); x < rect.right(); x += gap)
                painter->drawLine(QLineF(x, rect.bottom(), x + rect.height(), rect.top()));
            painter->restore();
        }
        const QString words = isSmall() ? QString::number(cell.bytes / kGiB * 1024, 'f', 1) : look::gib(cell.bytes);
        const QFont font = look::Theme::uiFont(11);
        const QFontMetrics metrics(font);
        if (rect.width() > metrics.horizontalAdvance(words) + 8 && rect.height() > metrics.height() + 2) {
            const QRectF plate = QRectF(0, 0, metrics.horizontalAdvance(words) + 6, metrics.height());
            if (!cell.fits)
                painter->fillRect(plate.translated(rect.center() - plate.center()), colorOf(cell));
            painter->setFont(font);
            painter->setPen(t.text);
            painter->drawText(rect, Qt::AlignCenter, words);
        }
    }

    void drawFront(QCPPainter *painter)
    {
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(look::tokens().text, 1.6));
        for (const int cell : front)
            painter->drawRect(rectOf(cell).adjusted(1.5, 1.5, -1.5, -1.5));
    }

    void drawMarks(QCPPainter *painter)
    {
        const auto &t = look::tokens();
        if (own >= 0 && own < int(cells.size())) {
            painter->setPen(QPen(t.ground, 1.5));
            painter->setBrush(t.text);
            const QRectF rect = rectOf(own);           // below the figure where there is one
            painter->drawEllipse(middleOf(own) + QPointF(0, rect.height() > 46 ? 15 : 0), 4.5, 4.5);
        }
        if (ring < 0 || ring >= int(cells.size()))
            return;
        painter->setBrush(Qt::NoBrush);
        painter->setPen(QPen(t.ground, 5));
        painter->drawEllipse(middleOf(ring), 8, 8);
        painter->setPen(QPen(focused ? t.accent : t.text, 2.2));
        painter->drawEllipse(middleOf(ring), 8, 8);
    }

    double m_low = 0, m_high = 0;
};

HeatMap::HeatMap(QWidget *parent) : QWidget(parent), m_plot(new QCustomPlot(this))
{
    embed(m_plot, this);
    setFocusPolicy(Qt::StrongFocus);
    m_plot->setMouseTracking(true);
    m_cells = new HeatCells(m_plot->xAxis, m_plot->yAxis);
    connect(&look::theme(), &look::Theme::changed, this, &HeatMap::recolor);
    recolor();
}

QWidget *HeatMap::canvas() const { return m_plot; }

void HeatMap::setAxes(const QStringList &columns, const QStringList &rows, const QString &columnTitle, const QString &rowTitle)
{
    m_columns = columns;
    m_rows = rows;
    m_cells->columns = int(columns.size());
    m_cells->rows = int(rows.size());
    m_plot->xAxis->setLabel(columnTitle);
    m_plot->yAxis->setLabel(rowTitle);
    m_plot->xAxis->setRange(-0.5, std::max(1.0, double(columns.size())) - 0.5);
    m_plot->yAxis->setRange(-0.5, std::max(1.0, double(rows.size())) - 0.5);
    relabel();
}

void HeatMap::relabel()
{
    m_plot->xAxis->setTicker(thinned(m_columns, std::max(80, m_plot->width() - 90), false));
    m_plot->yAxis->setTicker(thinned(m_rows, std::max(60, m_plot->height() - 60), true));
    replotSoon(m_plot);
}

void HeatMap::recolor()
{
    dress(m_plot);
    for (auto *axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->grid()->setVisible(false);
        axis->setBasePen(Qt::NoPen);
    }
    replotSoon(m_plot);
}

void HeatMap::setCells(std::vector<HeatCell> cells)
{
    m_cells->setCells(std::move(cells));
    replotSoon(m_plot);
}

void HeatMap::setFront(std::vector<int> cells)
{
    m_cells->front = std::move(cells);
    replotSoon(m_plot);
}

void HeatMap::setRing(int cell)
{
    m_ring = m_cells->ring = cell;
    replotSoon(m_plot);
}

void HeatMap::setOwn(int cell)
{
    m_cells->own = cell;
    replotSoon(m_plot);
}

QPoint HeatMap::pixelOf(int cell) const { return m_cells->columns > 0 ? m_cells->middleOf(cell).toPoint() : QPoint(); }

int HeatMap::cellAt(const QPointF &pixel) const
{
    const int column = int(std::lround(m_plot->xAxis->pixelToCoord(pixel.x()))), row = int(std::lround(m_plot->yAxis->pixelToCoord(pixel.y())));
    const bool inside = column >= 0 && column < m_cells->columns && row >= 0 && row < m_cells->rows && m_plot->axisRect()->rect().contains(pixel.toPoint());
    return inside && m_cells->cells.size() == std::size_t(m_cells->columns) * std::size_t(m_cells->rows) ? row * m_cells->columns + column : -1;
}

void HeatMap::choose(int cell)
{
    setRing(cell);
    Q_EMIT chosen(cell);
}

bool HeatMap::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_plot)
        return QWidget::eventFilter(watched, event);
    if (event->type() == QEvent::Show)
        replotSoon(m_plot);
    if (event->type() == QEvent::MouseButtonPress) {
        setFocus(Qt::MouseFocusReason);
        if (const int cell = cellAt(static_cast<QMouseEvent *>(event)->position()); cell >= 0)
            choose(cell);
        return true;
    }
    if (event->type() == QEvent::MouseMove) {
        auto *mouse = static_cast<QMouseEvent *>(event);
        const int cell = cellAt(mouse->position());
        if (cell >= 0 && (mouse->buttons() & Qt::LeftButton) && cell != m_ring)
            choose(cell);                              // the ring is dragged
        QToolTip::showText(mouse->globalPosition().toPoint(), cell >= 0 ? m_cells->cells[std::size_t(cell)].words : QString(), m_plot);
        Q_EMIT hovered(cell);
    } else if (event->type() == QEvent::Leave) {
        Q_EMIT hovered(-1);
    } else if (event->type() == QEvent::Wheel) {
        event->ignore();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void HeatMap::keyPressEvent(QKeyEvent *event)
{
    const int columns = m_cells->columns, rows = m_cells->rows;
    if (columns <= 0 || rows <= 0)
        return QWidget::keyPressEvent(event);
    int column = m_ring < 0 ? 0 : m_ring % columns, row = m_ring < 0 ? 0 : m_ring / columns;
    switch (event->key()) {
    case Qt::Key_Left: --column; break;
    case Qt::Key_Right: ++column; break;
    case Qt::Key_Up: ++row; break;
    case Qt::Key_Down: --row; break;
    default: return QWidget::keyPressEvent(event);
    }
    choose(std::clamp(row, 0, rows - 1) * columns + std::clamp(column, 0, columns - 1));
}

void HeatMap::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    relabel();
}

void HeatMap::focusInEvent(QFocusEvent *) { m_cells->focused = true; replotSoon(m_plot); }
void HeatMap::focusOutEvent(QFocusEvent *) { m_cells->focused = false; replotSoon(m_plot); }

QString HeatMap::unit() const { return m_cells->isSmall() ? QStringLiteral("MiB") : QStringLiteral("GiB"); }

QString HeatMap::exportPicture(const QString &file) { return plots::exportPicture(m_plot, file, accessibleName()); }

} // namespace stagewright::plots
