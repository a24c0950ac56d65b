#include "ui/plots/plot_look.h"

#include <QFontMetrics>
#include <QVBoxLayout>

#include "ui/look/theme.h"

namespace stagewright::plots {

void embed(QCustomPlot *plot, QWidget *owner)
{
    auto *box = new QVBoxLayout(owner);
    box->setContentsMargins(0, 0, 0, 0);
    box->addWidget(plot);
    plot->setFocusPolicy(Qt::NoFocus);
    plot->installEventFilter(owner);
}

void dress(QCustomPlot *plot)
{
    const auto &t = look::tokens();
    plot->setBackground(QBrush(t.ground));
    for (auto *rect : plot->axisRects()) {
        for (auto *axis : rect->axes()) {
            axis->setBasePen(QPen(t.border));
            axis->setTickPen(Qt::NoPen);
            axis->setSubTicks(false);
            axis->setTickLengthIn(0);
            axis->setTickLabelColor(t.muted);
            axis->setTickLabelFont(look::Theme::uiFont(11));
            axis->setLabelColor(t.muted);
            axis->setLabelFont(look::Theme::uiFont(11));
            axis->grid()->setPen(QPen(t.border, 1));
            axis->grid()->setZeroLinePen(Qt::NoPen);
        }
    }
}

void replotSoon(QCustomPlot *plot)
{
    if (plot->isVisible())
        plot->replot(QCustomPlot::rpQueuedReplot);
}

QSharedPointer<QCPAxisTickerText> thinned(const QStringList &labels, int room, bool vertical)
{
    const QFontMetrics metrics(look::Theme::uiFont(11));
    int widest = 1;
    for (const QString &label : labels)
        widest = std::max(widest, vertical ? metrics.height() : metrics.horizontalAdvance(label) + 10);
    const int fits = std::max(1, room / widest), step = std::max(1, int(std::ceil(double(labels.size()) / fits)));
    QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    ticker->setSubTickCount(0);
    for (int i = 0; i < labels.size(); i += step)
        ticker->addTick(i, labels[i]);
    return ticker;
}

QList<QColor> curveColors()
{
    if (look::tokens().dark)
        return {QColor(0x56B4E9), QColor(0xE69F00), QColor(0x2FBF93), QColor(0xE8743B), QColor(0xCC79A7), QColor(0xA98FD0), QColor(0xB4BAC1)};
    return {QColor(0x0072B2), QColor(0xC98500), QColor(0x008C66), QColor(0xD55E00), QColor(0xB0588A), QColor(0x7A56A5), QColor(0x70757c)};
}

} // namespace stagewright::plots
