#include "ui/plots/byte_ticker.h"

namespace stagewright::plots {

double ByteTicker::getTickStep(const QCPRange &range)
{
    return QCPAxisTicker::getTickStep({range.lower * m_perGib, range.upper * m_perGib}) / m_perGib;
}

QString ByteTicker::getTickLabel(double tick, const QLocale &locale, QChar formatChar, int precision)
{
    return QCPAxisTicker::getTickLabel(tick * m_perGib, locale, formatChar, precision);
}

} // namespace stagewright::plots
