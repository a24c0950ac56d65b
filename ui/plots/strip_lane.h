// A strip of coloured stretches with words in them where there is room: phases, buckets, saves.
#pragma once

#include "ui/plots/custom_plot.h"

#include "ui/plots/run_plot_data.h"

namespace stagewright::plots {

class StripLane : public QCPAbstractPlottable
{
    Q_OBJECT
public:
    enum Style { Filled, Framed };                     // Framed: quiet boxes with a word, equal neighbours joined where they are narrow
    StripLane(QCPAxis *keyAxis, QCPAxis *valueAxis, const std::deque<Stretch> *stretches, Style style);

    double selectTest(const QPointF &, bool, QVariant *) const override { return -1; }
    QCPRange getKeyRange(bool &found, QCP::SignDomain) const override;
    QCPRange getValueRange(bool &found, QCP::SignDomain, const QCPRange &) const override { found = true; return {0, 1}; }

protected:
    void draw(QCPPainter *painter) override;
    void drawLegendIcon(QCPPainter *, const QRectF &) const override {}

private:
    void drawFilled(QCPPainter *painter, std::size_t from, std::size_t to);
    void drawFramed(QCPPainter *painter, std::size_t from, std::size_t to);
    const std::deque<Stretch> *m_stretches;
    Style m_style;
};

} // namespace stagewright::plots
