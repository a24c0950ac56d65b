// Ticks of the time axis: time since the run's start over the step that was under way.
#pragma once

#include <functional>

#include "ui/plots/custom_plot.h"

namespace stagewright::plots {

class ElapsedTicker : public QCPAxisTickerTime
{
public:
    std::function<QString(double seconds)> stepAt;     // "step 64", empty before the first step

protected:
    QString getTickLabel(double tick, const QLocale &locale, QChar formatChar, int precision) override;
    QVector<double> createTickVector(double tickStep, const QCPRange &range) override;
};

} // namespace stagewright::plots
