// Device memory stacked by kind over time, drawn column by column: in each column of the picture the moment with the most memory counts,
// so a peak is never lost by zooming out.
#pragma once

#include "ui/plots/custom_plot.h"

#include "ui/plots/run_plot_data.h"

namespace stagewright::plots {

class StackedMemory : public QCPAbstractPlottable
{
    Q_OBJECT
public:
    StackedMemory(QCPAxis *keyAxis, QCPAxis *valueAxis, const RunPlotData *data);

    double highestIn(const QCPRange &range) const;     // GiB, at this moment's samples
    double selectTest(const QPointF &, bool, QVariant *) const override { return -1; }
    QCPRange getKeyRange(bool &found, QCP::SignDomain) const override;
    QCPRange getValueRange(bool &found, QCP::SignDomain, const QCPRange &range) const override;

protected:
    void draw(QCPPainter *painter) override;
    void drawLegendIcon(QCPPainter *, const QRectF &) const override {}

private:
    const RunPlotData *m_data;
};

} // namespace stagewright::plots
