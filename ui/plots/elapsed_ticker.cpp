#include "ui/plots/elapsed_ticker.h"

#include "ui/look/words.h"

namespace stagewright::plots {

QString ElapsedTicker::getTickLabel(double tick, const QLocale &, QChar, int)
{
    const QString time = look::elapsed(tick);
    const QString step = stepAt ? stepAt(tick) : QString();
    return step.isEmpty() ? time : time + u'\n' + step;
}

QVector<double> ElapsedTicker::createTickVector(double tickStep, const QCPRange &range)
{
    QVector<double> ticks = QCPAxisTickerTime::createTickVector(tickStep, range);
    ticks.erase(std::remove_if(ticks.begin(), ticks.end(), [](double tick) { return tick < 0; }), ticks.end());
    return ticks;
}

} // namespace stagewright::plots
