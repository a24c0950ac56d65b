// What each update was predicted to take at its peak: a dashed level over the measured memory, with its band.
#pragma once

#include "ui/plots/custom_plot.h"

#include "ui/plots/run_plot_data.h"

namespace stagewright::plots {

// In each column of the picture the highest of its levels counts. Nothing where nothing was predicted.
class PredictionBand : public QCPAbstractPlottable
{
    Q_OBJECT
public:
    PredictionBand(QCPAxis *keyAxis, QCPAxis *valueAxis, const RunPlotData *data);

    double highestIn(const QCPRange &range) const;     // GiB, with the band
    double selectTest(const QPointF &, bool, QVariant *) const override { return -1; }
    QCPRange getKeyRange(bool &found, QCP::SignDomain) const override;
    QCPRange getValueRange(bool &found, QCP::SignDomain, const QCPRange &range) const override;

protected:
    void draw(QCPPainter *painter) override;
    void drawLegendIcon(QCPPainter *, const QRectF &) const override {}

private:
    struct Level { double from, to, bytes; };          // pixels
    std::vector<Level> levels() const;

    const RunPlotData *m_data;
};

} // namespace stagewright::plots
