// Ticks of an axis whose coordinates are GiB, at round numbers of the unit that suits its range.
#pragma once

#include "ui/plots/custom_plot.h"

namespace stagewright::plots {

class ByteTicker : public QCPAxisTicker
{
public:
    // The unit for an axis that reaches up to `gib`: small runs would read 0.02, 0.04, 0.06 else.
    void setHighest(double gib) { m_perGib = gib < 1 ? 1024 : 1; }
    const char *unit() const { return m_perGib > 1 ? "MiB" : "GiB"; }

protected:
    double getTickStep(const QCPRange &range) override;
    QString getTickLabel(double tick, const QLocale &locale, QChar formatChar, int precision) override;

private:
    double m_perGib = 1;
};

} // namespace stagewright::plots
